"""The client: all operations on one connection."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import httpx

from ._connection import AsyncConnection
from ._gather import AsyncGather
from ._groups import AsyncOperations
from ._runs import WAIT_TIMEOUT, AsyncFinishedRun, OnProgress, wait_for_run

if TYPE_CHECKING:
    from typing_extensions import Self


class AsyncGesso(AsyncGather, AsyncOperations):
    """
    A client of Gesso. `base_url` and `api_key` default to `GESSO_URL`, then `http://127.0.0.1:7788`, and
    `GESSO_API_KEY`. `timeout` is in seconds for one request. `http_client` replaces the HTTP client, for proxies and
    certificates of your own.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = 2,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        url = (base_url or os.environ.get("GESSO_URL") or "http://127.0.0.1:7788").rstrip("/")
        key = os.environ.get("GESSO_API_KEY") if api_key is None else api_key
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        self._http = http_client or httpx.AsyncClient(limits=limits)
        self._connection = AsyncConnection(self._http, url, key or None, headers or {}, timeout, max_retries)
        super().__init__(self._connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def wait(
        self, run_id: str, *, on_progress: OnProgress | None = None, timeout: float = WAIT_TIMEOUT
    ) -> AsyncFinishedRun:
        """Waits for a run that was created elsewhere. It continues if you stop waiting."""
        deadline = time.monotonic() + timeout
        return await wait_for_run(self._connection, run_id, AsyncFinishedRun, on_progress, deadline)
