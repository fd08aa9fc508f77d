"""Errors of the client. Each carries the code, the details and the IDs of the request and the run."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Mapping
from typing import Any


class GessoError(Exception):
    """Superclass of all errors that this package raises."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        run_id: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        server_url: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        #: HTTP status; None if there was no response.
        self.status = status
        #: Error code, for example `validation_error`.
        self.code = code
        self.details = dict(details or {})
        #: `X-Request-Id` of the response.
        self.request_id = request_id
        #: ID of the run that the call created, if known.
        self.run_id: str | None = run_id or self.details.get("run_id")
        #: A retry with the same idempotency key returns the same run.
        self.idempotency_key = idempotency_key
        self.headers = dict(headers or {})
        origin = re.match(r"https?://[^/]+", server_url)
        #: The server's page about the error code: when it happens and what to do.
        self.doc_url = f"{origin[0]}/errors/{code}" if code and origin else None

    def __str__(self) -> str:
        return self.message


class ValidationError(GessoError):
    """400, 413, 415, 422: the request is invalid; a retry does not help. Also raised before sending."""

    @property
    def field_errors(self) -> list[dict[str, str]]:
        """All validation errors: `path` (a JSON pointer such as `/width`), `code` and `message`."""
        errors = self.details.get("errors")
        return errors if isinstance(errors, list) else []


class AuthError(GessoError):
    """401: the credential is missing or invalid."""


class PermissionError(GessoError, builtins.PermissionError):
    """403: the credential lacks the required permission."""


class BudgetError(GessoError):
    """402: the request would exceed a budget or the credit."""


class NotFoundError(GessoError):
    """404, 410: the resource does not exist or has been deleted."""


class ConflictError(GessoError):
    """409: the state of the resource does not allow the request, or the idempotency key belongs to another request."""


class RateLimitError(GessoError):
    """429: a rate limit or a concurrency limit is exceeded."""

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait before a retry, from the `Retry-After` header. None if it names no seconds."""
        value = self.headers.get("retry-after", "")
        return float(value) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) else None


class ServerError(GessoError):
    """500 and above: the server failed."""


class ConnectionError(GessoError, builtins.ConnectionError):
    """There was no response. The server may have processed the request: a retry with `idempotency_key` is safe."""


class TimeoutError(ConnectionError, builtins.TimeoutError):
    """The response or the end of the run did not arrive before the timeout. The run continues."""


class RunFailedError(GessoError):
    """The run ended without a result. `run` is the run as a dict; None if the response contained only the error."""

    run: dict[str, Any] | None = None


class RunCanceledError(RunFailedError):
    """The run was canceled."""


class WebhookVerificationError(GessoError):
    """The message failed verification; `code` says which check. Respond with 400 and ignore it."""


_FAILED_RUN_CODES = re.compile(r"provider_|(storage_failed|run_timeout|run_canceled|content_refused)$")
_BY_STATUS: dict[int, type[GessoError]] = {
    **dict.fromkeys((400, 413, 415, 422), ValidationError),
    **dict.fromkeys((404, 410), NotFoundError),
    **{401: AuthError, 402: BudgetError, 403: PermissionError, 409: ConflictError, 429: RateLimitError},
}


def error_from_response(
    status: int, headers: Mapping[str, str], content: bytes, *, idempotency_key: str | None, server_url: str
) -> GessoError:
    """The error of the matching class, with a message that says what to do."""
    try:
        body = json.loads(content)
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    inner = body.get("error")
    body = inner if isinstance(inner, dict) and inner.get("message") else body
    code, details = body.get("code"), body.get("details") or {}
    request_id = headers.get("x-request-id") or details.get("request_id")
    fields = [
        f"{error['path'][1:] or 'request'}: {error['message']}"
        for error in details.get("errors") or []
        if isinstance(error, dict) and "path" in error and "message" in error
    ]
    context = ", ".join(f"{name}: {value}" for name, value in (("code", code), ("request", request_id)) if value)
    words = [str(status), body.get("message") or "", *fields, f"({context})" if context else ""]
    return _class_for(status, code or "", details)(
        " ".join(filter(None, words)),
        status=status,
        code=code,
        details=details,
        request_id=request_id,
        run_id=headers.get("x-run-id"),
        idempotency_key=idempotency_key,
        headers=headers,
        server_url=server_url,
    )


def _class_for(status: int, code: str, details: Mapping[str, Any]) -> type[GessoError]:
    if details.get("run_id") and _FAILED_RUN_CODES.match(code):
        return RunCanceledError if code == "run_canceled" else RunFailedError
    if code == "sync_timeout" or status == 408:
        return TimeoutError
    if code.startswith("idempotency_") and code != "idempotency_key_invalid":
        return ConflictError
    return ServerError if status >= 500 else _BY_STATUS.get(status, GessoError)
