"""Pages that stand in front of a site, close to the real ones, and pages that are like them."""

from __future__ import annotations

WORDS = (
    "Each worker takes one job from the queue, runs it to its end and reports what it found. "
    "A job that fails is tried again with growing waits, and after five attempts it is put aside "
    "for a person to look at. The order in which jobs were added is kept for each customer. "
)


def html(title: str, body: str, head: str = "") -> str:
    """Return a page with nothing around it."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}'
        f"</head><body>{body}</body></html>"
    )


def sphinx(title: str, body: str, head: str = "", bar: str = "") -> str:
    """Return a page in Sphinx's basic layout."""
    return html(
        f"{title} &#8212; Project 1.2 documentation",
        f'{bar}<div class="related"><a href="index.html">Project</a></div><div class="document">'
        '<div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">'
        f"<section><h1>{title}</h1>{body}</section></div></div></div>"
        '<div class="sphinxsidebar"><a href="a.html">A</a> <a href="b.html">B</a></div></div>',
        head,
    )


CLOUDFLARE = html(
    "Just a moment...",
    '<div class="main-wrapper" role="main"><div class="main-content"><noscript><div class="h2">'
    '<span id="challenge-error-text">Enable JavaScript and cookies to continue</span></div>'
    "</noscript></div></div><script>(function(){window._cf_chl_opt={cvId:'3',cZone:"
    "\"docs.example.com\",cType:'managed',cRay:'8f3a2b1c9d0e4f56',cH:'x'};var a=document."
    "createElement('script');a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray="
    "8f3a2b1c9d0e4f56';document.getElementsByTagName('head')[0].appendChild(a);}());</script>",
    '<meta name="robots" content="noindex,nofollow"><meta http-equiv="refresh" content="390">',
)
CLOUDFLARE_BLOCK = html(
    "Attention Required! | Cloudflare",
    '<div id="cf-wrapper"><div class="cf-alert cf-alert-error" id="cookie-alert">Please enable '
    'cookies.</div><div id="cf-error-details" class="cf-error-details-wrapper"><h1>Sorry, you '
    "have been blocked</h1><h2>You are unable to access example.com</h2><h2>Why have I been "
    "blocked?</h2><p>This website is using a security service to protect itself from online "
    "attacks. The action you just performed triggered the security solution.</p><p>Cloudflare "
    "Ray ID: <strong>8f3a2b1c9d0e4f56</strong></p></div></div>",
)
ANUBIS = html(
    "Making sure you&#39;re not a bot!",
    '<main><h1 id="title" class="centered-div">Making sure you&#39;re not a bot!</h1><div><img '
    'src="/.within.website/x/cmd/anubis/static/img/pensive.webp"><p id="status">Loading...</p>'
    "<script async type=module src=/.within.website/x/cmd/anubis/static/js/main.mjs></script>"
    "<details><summary>Why am I seeing this?</summary><p>You are seeing this because the "
    "administrator of this website has set up Anubis to protect the server against the scourge "
    "of AI companies aggressively scraping websites. This can and does cause downtime for the "
    "websites, which makes their resources inaccessible for everyone.</p><p>Anubis is a "
    "compromise. Anubis uses a Proof-of-Work scheme in the vein of Hashcash, a proposed scheme "
    "for reducing email spam. The idea is that at individual scales the additional load is "
    "ignorable, but at mass scraper levels it adds up and makes scraping much more expensive.</p>"
    "<p>Please note that Anubis requires the use of modern JavaScript features that plugins like "
    "JShelter will disable. Please disable such plugins for this domain.</p></details></div>"
    "</main>",
    '<script id="anubis_version" type="application/json">"v1.21.3"</script>'
    '<script id="anubis_challenge" type="application/json">{"rules":{"difficulty":4}}</script>',
)
AWS = html(
    "",
    '<div id="challenge-container"></div><script type="text/javascript">window.awsWafCookieDomain'
    'List = [];window.gokuProps = {"key":"AQIDAHjcYu","iv":"EkQ","context":"u8b"};</script>'
    '<script src="https://de5282c3ca0c.edge.sdk.awswaf.com/de5282c3ca0c/challenge.js"></script>'
    "<noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that "
    "you're not a robot.</noscript><p>One moment</p>",
)
DATADOME = html(
    "docs.example.com",
    '<p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">var '
    "dd={'rt':'c','cid':'AHrlqAAA','hsh':'05B30BD9','t':'bv','host':'geo.captcha-delivery.com'}"
    '</script><script src="https://ct.captcha-delivery.com/c.js"></script>',
)
IMPERVA = (
    '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body '
    'style="margin:0px;height:100%"><iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI='
    '31&xinfo=9-1234&incident_id=0-1" frameborder=0>Request unsuccessful. Incapsula incident ID: '
    "508000190123-45678</iframe><p>Request unsuccessful.</p></body></html>"
)
HUMAN = html(
    "Access to this page has been denied",
    "<section><h1>Before we continue...</h1><p>Press & Hold to confirm you are a human (and not "
    'a bot).</p><div id="px-captcha"></div><p>Reference ID 8f3a2b1c-9d0e-4f56</p></section>'
    '<script>window._pxAppId = "PXabc123"; window._pxUuid = "8f3a";</script>',
)
VERCEL = html(
    "Vercel Security Checkpoint",
    '<div id="root"><main><p id="header-text">We\'re verifying your browser</p><p '
    'id="footer-text">Website owner? Click here to fix</p></main></div><script type="module" '
    'src="/.well-known/vercel/security/static/challenge.v2.min.js"></script>',
)
FASTLY = html(
    "Client Challenge",
    "<div><p>JavaScript is disabled in your browser.</p><p>A required part of this site "
    "couldn't load. This may be due to a browser extension, network issues, or browser "
    'settings.</p></div><script src="/_fs-ch-1T1wmsGaOgGaSxcX/script.js?reload=true"></script>',
)
TURNSTILE = html(
    "Verifying you are human",
    "<h1>Verifying you are human</h1><p>One moment while we verify your network connection.</p>"
    '<div class="cf-turnstile" data-sitekey="0x4AAA" data-callback="captchaCallback"></div>',
    '<script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>',
)

GITLAB = html(
    "Sign in · GitLab",
    '<div class="container navless-container"><div class="content"><h1>GitLab Community Edition'
    '</h1><p>Open source software to collaborate on code</p><form class="gl-p-5" action='
    '"/users/sign_in" method="post"><label for="user_login">Username or primary email</label>'
    '<input type="text" name="user[login]"><label>Password</label><input type="password" '
    'name="user[password]"><a href="/users/password/new">Forgot your password?</a><button '
    'type="submit">Sign in</button></form></div></div><footer><a href="/explore">Explore</a>'
    '<a href="/help">Help</a></footer>',
)
KEYCLOAK = html(
    "Sign in to example",
    '<div class="login-pf-page"><div id="kc-header">EXAMPLE</div><div class="card-pf"><header><h1 '
    'id="kc-page-title">Sign in to your account</h1></header><div id="kc-content"><form '
    'id="kc-form-login" action="https://sso.example.com/realms/x/login-actions/authenticate">'
    '<input id="username" name="username"><input id="password" name="password" type="password">'
    '<input type="submit" value="Sign In"></form></div></div></div>',
)
GATE = html(
    "Login",
    '<div class="card"><div class="card-header"><h1>This site is password protected.</h1></div>'
    '<form action="/docs/a" method="post"><input type="password" name="password"><button>Log in'
    "</button></form></div>",
)
OKTA = html(
    "Example - Sign In",
    '<h1>Sign In</h1><div id="okta-login-container"></div><noscript>Javascript is required'
    "</noscript><p>Powered by Okta</p>",
)
CONFLUENCE = html(
    "Log in - Confluence",
    '<div id="page"><header><a href="/">Confluence</a></header><section id="content"><h1>Log in'
    '</h1><form name="loginform" method="POST" action="/dologin.action"><fieldset><input '
    'type="text" name="os_username"><input type="password" name="os_password"></fieldset></form>'
    "<p>Not a member? Contact your site administrators to request access.</p></section></div>",
)
IN_THEME = html(
    "Sign in | Project",
    '<nav class="navbar"><a href="/docs">Docs</a></nav><main><h1>Sign in</h1><p>These pages are '
    'for members.</p><form><input type="email"><input type="password"></form></main>',
    '<meta name="generator" content="Docusaurus v3.5.2">',
)

GOOGLE = html(
    "Before you continue to Example",
    '<div class="box"><h1>Before you continue to Example</h1><p>We use cookies and data to '
    "deliver and maintain our services, track outages and protect against spam, fraud and abuse, "
    "and measure audience engagement and site statistics.</p><p>If you choose to Accept all, we "
    "will also use cookies and data to develop new services and show personalised content."
    '</p><form action="https://consent.example.com/save" method="POST"><input type="hidden" '
    'name="gl"><input type="submit" value="Reject all"></form><form '
    'action="https://consent.example.com/save" method="POST"><input type="submit" value="Accept '
    'all"></form></div>',
)
ONETRUST = html(
    "Example",
    '<div id="app"></div><div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" '
    'role="dialog"><h2>We value your privacy</h2><p>By clicking Accept All Cookies, you agree to '
    "the storing of cookies on your device to enhance site navigation, analyze site usage, and "
    'assist in our marketing efforts.</p><button id="onetrust-accept-btn-handler">Accept All '
    "Cookies</button><button>Reject All</button></div></div>",
)

BACK_SOON = html(
    "Site Maintenance",
    "<article><h1>We&rsquo;ll be back soon!</h1><div><p>Sorry for the inconvenience but "
    "we&rsquo;re performing some maintenance at the moment. If you need to you can always "
    '<a href="mailto:help@example.com">contact us</a>, otherwise we&rsquo;ll be back online '
    "shortly!</p><p>&mdash; The Team</p></div></article>",
)
UNAVAILABLE = html(
    "Service Temporarily Unavailable",
    "<h1>Service Temporarily Unavailable</h1><p>The documentation is currently being upgraded. "
    "Please try again in a few minutes. Request 8f3a2b1c at 08:26:01.</p>",
)
GERMAN = html(
    "Wartungsarbeiten",
    "<h1>Wartungsarbeiten</h1><p>Unsere Dokumentation ist derzeit nicht erreichbar. Wir sind in "
    "Kürze wieder für Sie da.</p>",
)

WALLS = {
    "bot challenge": [
        *(CLOUDFLARE, CLOUDFLARE_BLOCK, ANUBIS, AWS, DATADOME, IMPERVA, HUMAN, VERCEL, FASTLY),
        TURNSTILE,
    ],
    "login form": [GITLAB, KEYCLOAK, GATE, OKTA, CONFLUENCE, IN_THEME],
    "consent wall": [GOOGLE, ONETRUST],
    "maintenance page": [BACK_SOON, UNAVAILABLE, GERMAN],
}

BANNER = (
    '<div class="cookie-banner"><p>We use cookies to remember your settings and to measure how '
    "these pages are read. You can read more about cookies in our privacy policy at any time."
    "</p><button>Accept all</button></div>"
)
LOGIN_BAR = (
    '<nav class="navbar"><form action="/login"><input type="text" name="user"><input '
    'type="password" name="password"><button>Log in</button></form></nav>'
)
DOCUMENTATION = {
    "a login form as code": sphinx(
        "Login forms",
        "<p>A field that hides what is typed:</p><pre>&lt;form action=/login&gt;&lt;input "
        "type=password&gt;&lt;/form&gt;</pre>",
    ),
    "a live form as an example": sphinx(
        "Password fields", f'<p>{WORDS * 2}</p><form><input type="password"></form>'
    ),
    "a live form in a box": html(
        "Password fields",
        '<h1>Password fields</h1><p>This hides what is typed.</p><div class="example"><form>'
        '<input type="password"></form></div>',
    ),
    "a login form in the bar of every page": sphinx("Moved", "<p>See B.</p>", bar=LOGIN_BAR),
    "the same without a generator": html(
        "Moved", f"{LOGIN_BAR}<main><h1>Moved</h1><p>This page is now a part of B.</p></main>"
    ),
    "how to sign in": html(
        "Sign in", '<form action="/search"><input name="q"></form><h1>Sign in</h1><p>Choose '
        '<b>Sign in</b> and give the name that you registered with.</p>'
    ),
    "a link to the login": html(
        "Install", '<header><a href="/login">Sign in</a></header><h1>Install</h1><p>Run make.</p>'
    ),
    "the login in Sphinx": sphinx("Login", '<p>See <a href="/auth/login">the login</a>.</p>'),
    "detection by Cloudflare": html(
        "Stub", "<main><h1>Stub</h1><p>This page has moved to the second part of the guide.</p>"
        "</main><script>(function(){var d=document.createElement('script');d.innerHTML=\"window."
        "__CF$cv$params={r:'8f3a2b1c9d0e4f56',t:'MTc='};var a=document.createElement('script');"
        "a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';\"})();</script>",
    ),
    "newer detection by Cloudflare": html(
        "Stub", "<h1>Stub</h1><p>Moved.</p><script src='/cdn-cgi/challenge-platform/h/b/scripts/"
        "jsd/8f3a/main.js'></script><a href='/cdn-cgi/l/email-protection#8f3a'>mail</a>",
    ),
    "detection by Imperva": html(
        "Stub", '<h1>Stub</h1><p>Moved.</p><script src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8'
        'e3a6e6fffd425f7e032f3&ns=1"></script>',
    ),
    "detection by DataDome": html(
        "Stub", '<h1>Stub</h1><p>Moved.</p><script src="https://js.datadome.co/tags.js"></script>'
    ),
    "detection by HUMAN": html(
        "Stub", "<h1>Stub</h1><p>Moved.</p><script>window._pxAppId='PXabc';</script><script "
        'src="//client.px-cdn.net/PXabc/main.min.js"></script>',
    ),
    "the SDK of AWS WAF": html(
        "Stub", "<h1>Stub</h1><p>Moved.</p><script src='https://de52.edge.sdk.awswaf.com/de52/"
        "challenge.js' defer></script>",
    ),
    "about challenges": sphinx(
        "Cloudflare challenges",
        "<p>A challenge page sets <code>window._cf_chl_opt</code> and loads "
        "<code>/cdn-cgi/challenge-platform/h/b/orchestrate/</code>.</p><pre>&lt;script&gt;window."
        "_cf_chl_opt={}&lt;/script&gt;</pre>",
    ),
    "about Anubis": html("Anubis", "<h1>Anubis</h1><p>Making sure you're not a bot!</p>"),
    "how to verify": html(
        "Verify your installation", "<h1>Verify your installation</h1><p>Run make test.</p>"
        '<form><div class="g-recaptcha"></div><input name="comment"></form>',
    ),
    "a feedback form with a captcha": sphinx(
        "Security checks", '<p>Short.</p><form><div class="g-recaptcha"></div></form>'
    ),
    "security checks, with a feedback form": sphinx(
        "Security check", '<p>Runs each night.</p><form><div class="g-recaptcha"></div></form>'
    ),
    "more on security checks": html(
        "Security check", f'<h1>Security check</h1><p>{WORDS * 2}</p><div class="h-captcha"></div>'
    ),
    "a login form in the header of every page": html(
        "Moved", '<header><form><input type="password"></form></header><h1>Moved</h1><p>To B.</p>'
    ),
    "a Sphinx page of a word with a banner": sphinx("", f"<h2>Moved</h2>{BANNER}").replace(
        "<h1></h1>", ""
    ),
    "a status page with links": html(
        "Maintenance", "<ul>" + "".join(f'<li><a href="/{day}">{day}</a></li>' for day in
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")) + "</ul><h1>"
        "Maintenance</h1><p>We currently work on the queues; sorry.</p>",
    ),
    "a stub with a banner": html("Moved", f"<h1>Moved</h1><p>See the second part.</p>{BANNER}"),
    "a short page on cookies with a banner": html(
        "Cookies", "<main><h1>Cookies</h1><p>The server sets one cookie, named session, and reads "
        f"it with each request. It expires after a day.</p></main>{BANNER}",
    ),
    "about consent in Sphinx": sphinx("Consent", "<p>We use cookies.</p>" + BANNER),
    "maintenance mode in Sphinx": sphinx(
        "Maintenance mode", "<p>We are sorry: the site is currently down. So it says, soon.</p>"
    ),
    "maintenance mode": html(
        "Maintenance mode", "<h1>Maintenance mode</h1><p>When the site is in maintenance mode, "
        "visitors see a page that says so. Call <code>down()</code> to enter it.</p>",
    ),
    "maintenance mode with what it shows": html(
        "Maintenance", "<h1>Maintenance</h1><p>The page says:</p><pre>We are sorry. We will be "
        "back shortly.</pre><p>We recommend to change that soon.</p>",
    ),
    "scheduled maintenance of a product": html(
        "Maintenance windows", f"<h1>Maintenance windows</h1><p>{WORDS * 2} Sorry.</p>"
    ),
    "the page for what is not found": html(
        "404 pages", "<h1>404 pages</h1><p>Put a file 404.html into the folder.</p>"
    ),
    "a stub": html("Moved", "<h1>Moved</h1>"),
    "nothing": "",
}  # fmt: skip
"""Documentation about such things, and documentation behind services that do such things."""
