"""Decides whether and when a request is retried. Retries are safe: every creating request has an idempotency key."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from ._errors import ConnectionError, GessoError

_INITIAL_BACKOFF = 0.5
_MAX_BACKOFF = 8.0
_MAX_RETRY_AFTER = 60.0


def backoff_seconds(retry: int, jitter: Callable[[], float] = random.random) -> float:
    """Exponential backoff from 0.5 s to 8 s with up to 25 % jitter, so that callers do not retry in step."""
    return min(_INITIAL_BACKOFF * 2.0 ** min(retry, 10), _MAX_BACKOFF) * (1 - jitter() * 0.25)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The wait that the server requests, in seconds; None if it is missing or longer than 60 s."""
    exact, plain = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    asked: float | None = None
    if _is_number(exact):
        asked = float(exact) / 1000
    elif _is_number(plain):
        asked = float(plain)
    elif plain:
        try:
            asked = parsedate_to_datetime(plain).timestamp() - time.time()
        except ValueError:
            pass
    return asked if asked is not None and 0 <= asked <= _MAX_RETRY_AFTER else None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*\d+(\.\d*)?\s*", text) is not None


def is_retryable(error: GessoError) -> bool:
    if error.status is None:
        return isinstance(error, ConnectionError)
    asked = error.headers.get("x-should-retry")
    if asked in ("true", "false"):
        return asked == "true"
    if error.code in ("idempotency_in_progress", "sync_timeout"):
        return True
    # The run exists and has ended: a retry with the same idempotency key would return the same result.
    if error.run_id is not None and error.status != 429:
        return False
    return error.status in (408, 429) or error.status >= 500
