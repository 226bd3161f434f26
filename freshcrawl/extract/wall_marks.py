"""What pages that stand in front of a site are made of: bot challenges, consent, login.

Only what documentation about these things does not hold itself: scripts, frames,
element ids; documentation shows them as text. Marks that services also put on the
pages behind (tag managers, detection scripts, banners) are left out, or need more.
"""

from __future__ import annotations

import re

SCRIPTS = {
    # Cloudflare's detection on ordinary pages is .../challenge-platform/h/b/scripts/jsd/...
    "_cf_chl_opt": "Cloudflare",
    "/cdn-cgi/challenge-platform/h/b/orchestrate/": "Cloudflare",
    "/cdn-cgi/challenge-platform/h/g/orchestrate/": "Cloudflare",
    "/.within.website/x/cmd/anubis/": "Anubis",
    "gokuprops": "AWS WAF",
    "captcha-delivery.com": "DataDome",
    "reeseskipexpirationcheck": "Imperva",
    "captcha.px-cdn.net": "HUMAN",
    "captcha.px-cloud.net": "HUMAN",
    "sucuri_cloudproxy_js": "Sucuri",
    "/.well-known/ddos-guard/": "DDoS-Guard",
    "/.well-known/vercel/security/": "Vercel",
    "/_fs-ch-": "Fastly",
    "window.kpsdk": "Kasada",
}
"""Parts of a script's address or text, or of a frame's address, in lower case."""
FRAMES = {"_incapsula_resource": "Imperva", "captcha-delivery.com": "DataDome"}
CHALLENGE_IDS = {
    "cf-error-details": "Cloudflare",
    "challenge-error-text": "Cloudflare",
    "anubis_version": "Anubis",
    "anubis_challenge": "Anubis",
    "px-captcha": "HUMAN",
    "sec-if-cpt-container": "Akamai",
    "sec-cpt-if": "Akamai",
}
CAPTCHAS = ("g-recaptcha", "h-captcha", "cf-turnstile", "awswaf.com", "challenges.cloudflare.com")
"""Also on ordinary forms: they count only where the title asks for a check."""
CHECK_TITLE = re.compile(
    r"just a moment|attention required|are you (?:a )?(?:human|robot)|not a (?:ro)?bot"
    r"|verif\w+ (?:that )?(?:you are human|you are not|humans?\b|your (?:browser|connection))"
    r"|security (?:check|verification)(?!s)"
    r"|human verification|access (?:to this page has been )?denied|checking your browser"
    r"|client challenge|one more step|ddos.guard",
    re.IGNORECASE,
)

LOGIN_TITLE = re.compile(
    r"(?:please )?(?:sign|log)[ -]?in\b|anmelde|einloggen|connexion\b|se connecter"
    r"|iniciar sesi|accedi\b|вход|войти|ログイン|サインイン|登录|登入|로그인"
    r"|(?:authentication|password|login) required|single sign-on|this site is password protected",
    re.IGNORECASE,
)
LOGIN_ACTION = re.compile(
    r"(?:^|[/_.-])(?:log[_-]?in|sign[_-]?in|sso|saml2?|oauth2?|auth|authenticate|sessions?)"
    r"(?:$|[/?_.-])",
    re.IGNORECASE,
)
LOGIN_IDS = frozenset({
    "okta-sign-in", "okta-login-container", "okta-signin-container", "kc-form-login", "kc-login",
    "auth0-lock-container", "lightbox", "loginForm", "login-form", "loginform", "login_form",
})  # fmt: skip
BESIDE = frozenset({"header", "nav", "aside", "footer", "dialog", "template", "noscript"})
BESIDE_CLASSES = frozenset({
    "modal", "dropdown", "dropdown-menu", "navbar", "sidebar", "offcanvas", "popup", "popover",
    "drawer", "admonition", "example", "demo", "bd-example",
})  # fmt: skip

CONSENT_IDS = frozenset({
    "onetrust-consent-sdk", "onetrust-banner-sdk", "CybotCookiebotDialog", "usercentrics-root",
    "usercentrics-cmp-ui", "didomi-host", "didomi-popup", "qc-cmp2-container", "qc-cmp2-ui",
    "cmpbox", "cmpwrapper", "truste-consent-track", "iubenda-cs-banner", "axeptio_overlay",
    "BorlabsCookieBox", "tarteaucitronRoot", "cc-main", "cookie-law-info-bar", "klaro",
    "cookiescript_injected", "consent-page", "cookie-consent", "cookie-banner", "cookie-wall",
})  # fmt: skip
CONSENT_CLASSES = frozenset({
    "fc-consent-root", "qc-cmp2-container", "cc-window", "cookie-wall", "consent-form",
    "cookie-consent", "cookie-banner", "cmp-container",
})  # fmt: skip
CONSENT_ACTION = re.compile(r"consent|cookie-?(?:settings|preferences|policy|wall)", re.IGNORECASE)
CONSENT_BUTTON = re.compile(
    r"(?:ok,? )?(?:yes,? )?(?:i )?(?:accept|agree|allow|reject|decline|refuse|deny)"
    r"(?: (?:and (?:continue|close)|to all|all|cookies|all cookies))?"
    r"|(?:alle )?(?:cookies )?(?:akzeptieren|ablehnen|zustimmen)|(?:tout )?(?:accepter|refuser)"
    r"|(?:aceptar|rechazar)(?: todo| todas)?|(?:accetta|rifiuta)(?: tutto)?|got it!?",
    re.IGNORECASE,
)
CONSENT_WORDS = re.compile(r"cookie|consent|einwilligung|consentement|privacy|datenschutz", re.I)

CLOSED_TITLE = re.compile(
    r"maintenance|be (?:right )?back|back (?:soon|shortly)|temporarily|service unavailable"
    r"|(?:site|service|server|page) (?:is )?(?:currently )?(?:down|offline|unavailable)|downtime"
    r"|wartung|mantenimiento|manutenzione|メンテナンス|维护|維護",
    re.IGNORECASE,
)
CLOSED_WORDS = re.compile(
    r"\b(we|we['\u2019](?:re|ll)|our"
    r"|currently|temporarily|shortly|soon|apologi[sz]e|sorry|try again"
    r"|inconvenience|patience|check back|be back|back online|moment|derzeit|in kürze"
    r"|actuellement|bientôt|momento|しばらく|稍后|稍後)(?!\w)",
    re.IGNORECASE,
)
