"""A receiver that fails: what is delivered, what waits, what is a dead letter."""

from __future__ import annotations

import base64
import re
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from freshcrawl.alerts import outbox as outbox_module
from freshcrawl.alerts.delivering import MAX_WAIT_SECS, Delivered, Delivery
from freshcrawl.alerts.outbox import Outbox
from freshcrawl.alerts.telling import Alerts
from freshcrawl.alerts.webhook import Webhook, webhook_of
from freshcrawl.config import Config
from freshcrawl.core.events import in_batches
from freshcrawl.posting import THREAD, retry_after
from freshcrawl.state import open_in_memory
from freshcrawl.stores.memory import MemoryRecordStore
from tests.support.receiver import SECRET, Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator

DOC = Path(__file__).resolve().parents[1] / "docs/alerts.md"
HOUR = 3_600.0
SHORT_SECS = 0.4


class Patience(threading.Event):
    """Does not wait, and notes for how long it was to."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        self.waits.append(timeout)
        return False


@dataclass
class Sender:
    """An outbox of three batches of one event each, and deliveries of it."""

    webhook: Webhook
    now: float = 1_000_000.0
    outbox: Outbox = field(default_factory=lambda: Outbox(MemoryRecordStore()))
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        self.put("a", "b", "c")

    def put(self, *names: str) -> None:
        """Put a batch of one event in for each name."""
        events = [{"id": name, "type": "page.new"} for name in names]
        batches = in_batches("docs", events, 1, run_id="r", generation=1, at=self.now)
        self.outbox.add(batches, self.now)

    def deliver(self, *, seconds: float = 3_600, tries: float = 3, **more: bool) -> Delivered:
        """Deliver, without a wait between attempts."""
        delivery = Delivery(self.outbox, self.webhook, lambda: self.now, self.patience)
        return delivery.deliver(seconds, tries=tries, **more)

    @property
    def dead(self) -> list[str]:
        """Problems of the dead letters."""
        return [letter.problem for letter in self.outbox.dead()]


def sender(receiver: Receiver, **settings: Any) -> Sender:
    return Sender(webhook_to(receiver.url, **settings))


def webhook_to(url: str, **settings: Any) -> Webhook:
    webhook = webhook_of(Config(webhook_url=url, webhook_secret=SECRET, **settings))
    assert webhook is not None
    return webhook


def names(receiver: Receiver) -> list[str]:
    """Return the events that were taken, in order, with repeats."""
    return [event["id"] for got in receiver.taken for event in got.body["events"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Return a receiver, of which is checked at the end what holds for all."""
    with Receiver() as receiver:
        yield receiver
        receiver.check()


def test_all_is_well(receiver: Receiver) -> None:
    own = sender(receiver)
    assert own.deliver() == Delivered(sent=3)
    assert names(receiver) == ["a", "b", "c"]
    assert own.outbox.letters() == []
    assert [name for name, _ in own.outbox._records.items("letter:")] == []
    assert {got.headers["content-type"] for got in receiver.got} == {"application/json"}


def test_connection_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    own = Sender(webhook_to(f"http://127.0.0.1:{port}/"))
    assert own.deliver() == Delivered(waiting=3, problem="connection refused")
    assert own.patience.waits == [1.0, 2.0]
    [first, *others] = own.outbox.waiting()
    assert (first.attempts, first.next_at) == (3, own.now + 4)
    assert {letter.attempts for letter in others} == {0}


@pytest.mark.parametrize("way", ["silent", "dripping"])
def test_no_answer_or_one_that_never_comes_to_its_point(receiver: Receiver, way: str) -> None:
    receiver.always = getattr(receiver, way)
    own = sender(receiver, webhook_timeout_secs=SHORT_SECS)
    began = time.monotonic()
    assert own.deliver(tries=2) == Delivered(waiting=3, problem="no answer within 0.4 s")
    assert time.monotonic() - began < 10, "a POST took much longer than it may"
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(5)
            assert not thread.is_alive(), "a thread is left waiting"
    receiver.always = None
    own.webhook = webhook_to(receiver.url)
    assert own.deliver(forced=True) == Delivered(sent=3)
    assert names(receiver) == ["a", "b", "c"]


def test_connection_is_reset_within_the_answer(receiver: Receiver) -> None:
    receiver.script = [receiver.reset]
    own = sender(receiver)
    assert own.deliver().sent == 3
    assert names(receiver) == ["a", "b", "c"]
    assert receiver.posts == 4


def test_answer_that_is_lost_after_it_was_taken(receiver: Receiver) -> None:
    def taken_and_lost(handler: Any) -> None:
        receiver.taken.append(receiver.got[-1])
        receiver.reset(handler)

    receiver.script = [204, taken_and_lost]
    assert sender(receiver).deliver().sent == 3
    assert names(receiver) == ["a", "b", "b", "c"]  # by the same id: receiver.check


def test_500_then_200(receiver: Receiver) -> None:
    receiver.script = [500, 503, 200]
    own = sender(receiver)
    assert own.deliver() == Delivered(sent=3, problem="answered 503")
    assert own.patience.waits == [1.0, 2.0]
    assert names(receiver) == ["a", "b", "c"]


def test_429_with_retry_after(receiver: Receiver) -> None:
    receiver.script = [(429, {"Retry-After": "7"})]
    own = sender(receiver)
    assert own.deliver().sent == 3
    assert own.patience.waits == [7.0]


def test_retry_after_is_bounded(receiver: Receiver) -> None:
    receiver.script = [(429, {"Retry-After": "1000000"})]
    own = sender(receiver)
    assert own.deliver(seconds=HOUR / 2) == Delivered(waiting=3, problem="answered 429")
    assert own.outbox.waiting()[0].next_at == own.now + MAX_WAIT_SECS
    assert own.deliver().sent == 0, "tried before its time"
    own.now += MAX_WAIT_SECS
    assert own.deliver().sent == 3


def test_retry_after_as_a_date_or_nonsense() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < retry_after(later) <= 100
    earlier = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    texts = [None, "", "soon", "-1", "1.5", earlier, "9" * 400]
    assert [retry_after(text) for text in texts] == [0, 0, 0, 0, 0, 0, 10**9]


def test_redirect_is_not_followed(receiver: Receiver) -> None:
    with Receiver() as elsewhere:
        receiver.always = (301, {"Location": elsewhere.url})
        done = sender(receiver).deliver()
        assert elsewhere.posts == elsewhere.moved == 0
    assert done.problem == "answered 301, a redirect, which is not followed"
    assert (done.sent, done.died, done.waiting) == (0, 0, 3)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_a_person_has_to_mend_waits(receiver: Receiver, status: int) -> None:
    receiver.always = status
    own = sender(receiver)
    assert own.deliver(tries=9) == Delivered(waiting=3, problem=f"answered {status}")
    receiver.always = None
    assert own.deliver(forced=True) == Delivered(sent=3)


def test_400_for_ever(receiver: Receiver) -> None:
    receiver.script = [204, 400, 400, 413]
    own = sender(receiver)
    assert own.deliver(tries=9) == Delivered(sent=2, died=1, problem="answered 413")
    assert names(receiver) == ["a", "c"], "a dead letter keeps back what comes after it"
    [letter] = own.outbox.dead()
    assert own.outbox.revive("msg_unknown", own.now) == 0
    assert own.outbox.revive(letter.id, own.now) == 1
    receiver.script = [400, 400, 204]
    assert own.deliver().sent == 1, "it does not have all its attempts again"
    assert names(receiver) == ["a", "c", "b"]


def test_410(receiver: Receiver) -> None:
    receiver.always = 410
    own = sender(receiver)
    assert own.deliver(tries=9) == Delivered(
        died=1, waiting=2, problem="answered 410", removed=True
    )
    assert receiver.posts == 1
    receiver.always = None
    own.outbox.revive("all", own.now)
    assert own.deliver(forced=True).sent == 3


def test_410_to_what_an_earlier_run_left_is_the_last_post_of_the_run(receiver: Receiver) -> None:
    state = open_in_memory("docs")
    own = sender(receiver, webhook_run_secs=5)
    own.outbox = Outbox(state.records)
    own.put("a", "b", "c")
    alerts = Alerts(state, own.webhook, lambda: own.now, lambda key: None)
    receiver.always = 410
    alerts.deliver_rest()
    alerts.deliver()
    assert receiver.posts == 1
    assert len(own.outbox.waiting()) == 2
    receiver.always = None
    Alerts(state, own.webhook, lambda: own.now, lambda key: None).deliver()
    assert names(receiver) == ["b", "c"]


def test_clock_that_was_ahead_keeps_nothing_back(receiver: Receiver) -> None:
    own = sender(receiver)
    own.outbox.drop("all")
    own.now += 365 * 24 * HOUR
    own.put("d")
    receiver.always = 503
    assert own.deliver(tries=1).waiting == 1
    own.now -= 365 * 24 * HOUR
    own.put("e")
    receiver.always = None
    assert own.deliver().sent == 2
    assert names(receiver) == ["d", "e"]


def test_age_of_what_was_put_in_by_a_clock_that_was_ahead(receiver: Receiver) -> None:
    own = sender(receiver)
    own.outbox.drop("all")
    own.now += 365 * 24 * HOUR
    own.put("d")
    own.now -= 365 * 24 * HOUR
    receiver.always = 503
    assert own.deliver(tries=1).died == 0
    own.now += 73 * HOUR
    assert own.deliver(tries=1).died == 1


def test_answer_without_an_end(receiver: Receiver) -> None:
    receiver.always = receiver.endless
    assert sender(receiver).deliver() == Delivered(sent=3)
    assert names(receiver) == ["a", "b", "c"]


def test_connections_are_closed_between_batches(receiver: Receiver) -> None:
    receiver.always = (200, {"Connection": "close"})
    assert sender(receiver).deliver() == Delivered(sent=3)


def test_certificate_that_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with Receiver(tls=context) as receiver:
        own = sender(receiver)
        done = own.deliver(tries=1)
        assert (done.sent, done.waiting, receiver.posts) == (0, 3, 0)
        assert done.problem == "certificate: self-signed certificate"
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert own.deliver(forced=True) == Delivered(sent=3)
        receiver.check()


def certificate(folder: Path) -> Path:
    """Write a self-signed certificate of 127.0.0.1 with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    began = datetime.now(UTC) - timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    addresses = [x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        builder.not_valid_before(began)
        .not_valid_after(began + timedelta(days=3))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "receiver.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


# -- age, bounds, order --------------------------------------------------------


def test_what_waits_too_long_is_a_dead_letter(receiver: Receiver) -> None:
    receiver.always = 500
    own = sender(receiver, webhook_max_age_hours=72)
    own.deliver()
    own.now += 71 * HOUR
    assert own.deliver().died == 0
    own.now += 2 * HOUR
    own.put("d")
    assert own.deliver(tries=1).died == 3
    assert [letter.events for letter in own.outbox.waiting()] == [1]  # d is young


def test_a_run_is_not_kept_for_longer_than_its_bound(receiver: Receiver) -> None:
    receiver.always = 500
    own = sender(receiver)
    assert own.deliver(seconds=5, tries=float("inf")).waiting == 3
    assert own.patience.waits == [1.0, 2.0, 4.0]  # 8 seconds would not fit
    assert own.deliver(seconds=0, forced=True).waiting == 3


def test_who_is_asked_to_stop_sends_nothing_more(receiver: Receiver) -> None:
    own = sender(receiver)
    receiver.on_taken = own.patience.set
    assert own.deliver() == Delivered(sent=1, waiting=2)


def test_dead_letters_are_kept_by_number_and_age(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outbox_module, "DEAD_KEPT", 2)
    receiver.always = 400
    own = sender(receiver, webhook_attempts=1)
    own.deliver()
    assert len(own.dead) == 2
    assert "1 old dead letters were dropped" in caplog.text
    own.now += outbox_module.DEAD_KEPT_SECS + 1
    own.deliver()
    assert own.outbox.letters() == []


def test_the_example_of_the_documents_accepts_what_is_sent(receiver: Receiver) -> None:
    [code] = re.findall(r"```python\n(.*?)```", DOC.read_text("utf-8"), re.DOTALL)
    space: dict[str, Any] = {}
    exec(code, space)
    own = sender(receiver)
    own.deliver()
    headers, body = receiver.got[0].headers, receiver.got[0].raw
    assert space["is_ours"](SECRET, headers, body)
    assert not space["is_ours"](SECRET, headers, body + b" ")
    assert not space["is_ours"](SECRET, {**headers, "webhook-timestamp": "1700000000"}, body)
    other = "whsec_" + base64.b64encode(b"another key of more than 24 bytes").decode()
    assert not space["is_ours"](other, headers, body)


def test_two_secrets_sign_both(receiver: Receiver) -> None:
    new = "whsec_" + base64.b64encode(b"another key of more than 24 bytes").decode()
    config = Config(webhook_url=receiver.url, webhook_secret=f"{new} {SECRET}")
    webhook = webhook_of(config)
    assert webhook is not None
    assert Sender(webhook).deliver() == Delivered(sent=3)
    assert len(receiver.got[0].headers["webhook-signature"].split()) == 2
