"""The Python client of Gesso: images and videos behind one HTTP API, with every job a durable run."""

from . import webhooks
from ._async._client import AsyncGesso
from ._async._runs import AsyncFile, AsyncFinishedRun, AsyncImageRun, AsyncRunCall, AsyncVideoRun
from ._cached import cached
from ._errors import (
    AuthError,
    BudgetError,
    ConflictError,
    ConnectionError,
    GessoError,
    NotFoundError,
    PermissionError,
    RateLimitError,
    RunCanceledError,
    RunFailedError,
    ServerError,
    TimeoutError,
    ValidationError,
    WebhookVerificationError,
)
from ._operation import CallOptions
from ._sources import FileSource, ImageSource, RunOutputReference
from ._sync._client import Gesso
from ._sync._runs import File, FinishedRun, ImageRun, RunCall, VideoRun

__all__ = [
    "AsyncFile",
    "AsyncFinishedRun",
    "AsyncGesso",
    "AsyncImageRun",
    "AsyncRunCall",
    "AsyncVideoRun",
    "AuthError",
    "BudgetError",
    "CallOptions",
    "ConflictError",
    "ConnectionError",
    "File",
    "FileSource",
    "FinishedRun",
    "Gesso",
    "GessoError",
    "ImageRun",
    "ImageSource",
    "NotFoundError",
    "PermissionError",
    "RateLimitError",
    "RunCall",
    "RunCanceledError",
    "RunFailedError",
    "RunOutputReference",
    "ServerError",
    "TimeoutError",
    "ValidationError",
    "VideoRun",
    "WebhookVerificationError",
    "cached",
    "webhooks",
]
