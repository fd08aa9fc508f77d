"""Verifies webhook messages (Standard Webhooks): the signature proves the sender, the timestamp prevents replay."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import WebhookVerificationError
from ._generated.events import Event, read_event


def unwrap(
    body: str | bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> Event:
    """Verifies the signature and returns the event. Pass the raw body: parsing and serializing changes the bytes."""
    by_name = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (by_name.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id or not timestamp or not signatures:
        raise _refused("missing_headers", "webhook-id, webhook-timestamp or webhook-signature is missing")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise _refused("bad_timestamp", "webhook-timestamp is not a Unix timestamp")
    age = (time.time() if now is None else now) - int(timestamp)
    if age > tolerance_seconds:
        raise _refused("too_old", "The message is too old")
    if age < -tolerance_seconds:
        raise _refused("too_new", "The timestamp of the message is in the future")
    raw = body.encode() if isinstance(body, str) else body
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [_sign(id, timestamp, raw, each) for each in secrets]
    given = [each.encode() for each in signatures.split(" ")]
    # Every pair is compared, each in constant time.
    if not any([hmac.compare_digest(own, other) for own in expected for other in given]):
        raise _refused("bad_signature", "No signature matches the body and the secret")
    message: dict[str, Any] = json.loads(raw)
    return read_event({"event_id": id, **message}, id)


def generate_test_headers(
    body: str | bytes, secret: str, *, id: str = "msg_test", timestamp: int | None = None
) -> dict[str, str]:
    """Signed headers for tests of a receiver, in the format that Gesso sends."""
    at = str(int(time.time()) if timestamp is None else timestamp)
    signature = _sign(id, at, body.encode() if isinstance(body, str) else body, secret)
    return {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature.decode()}


def _sign(id: str, timestamp: str, body: bytes, secret: str) -> bytes:
    """After `whsec_` the secret is base64; a secret without the prefix is used as it is."""
    try:
        key = base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else secret.encode()
    except binascii.Error:
        key = b""
    if not key:
        raise _refused("bad_secret", "The secret is not base64")
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return b"v1," + base64.b64encode(digest)


def _refused(code: str, message: str) -> WebhookVerificationError:
    return WebhookVerificationError(message, code=code)


class WebhookVerifier:
    """`client.webhooks.unwrap`: the functions of `gesso.webhooks` beside the operations."""

    unwrap = staticmethod(unwrap)
    generate_test_headers = staticmethod(generate_test_headers)
