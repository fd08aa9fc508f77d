"""The Python client of Gesso: images and videos behind one HTTP API, with every job a durable run."""

from . import webhooks
from ._async._client import AsyncGesso
from ._async._runs import AsyncFile, AsyncFinishedRun, AsyncImageRun, AsyncRunCall, AsyncVideoRun
from ._cached import cached
from ._errors import AuthError, BudgetError, ConflictError, ConnectionError, GessoError, NotFoundError, PermissionError
from ._errors import RateLimitError, RunCanceledError, RunFailedError, ServerError, TimeoutError, ValidationError
from ._errors import WebhookVerificationError
from ._generated.events import Event, RunEvent
from ._operation import CallOptions
from ._sources import FileSource, ImageSource, RunOutputReference
from ._sync._client import Gesso
from ._sync._runs import File, FinishedRun, ImageRun, RunCall, VideoRun

__all__ = [
    "Gesso", "RunCall", "FinishedRun", "ImageRun", "VideoRun", "File",
    "AsyncGesso", "AsyncRunCall", "AsyncFinishedRun", "AsyncImageRun", "AsyncVideoRun", "AsyncFile",
    "CallOptions", "FileSource", "ImageSource", "RunOutputReference", "Event", "RunEvent", "cached", "webhooks",
    "AuthError", "BudgetError", "ConflictError", "ConnectionError", "GessoError", "NotFoundError", "PermissionError",
    "RateLimitError", "RunCanceledError", "RunFailedError", "ServerError", "TimeoutError", "ValidationError",
    "WebhookVerificationError",
]
