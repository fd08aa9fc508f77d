"""Sends requests: prepares the input, retries with backoff and one idempotency key, and follows streams of events."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from .._errors import ConnectionError, GessoError, TimeoutError, error_from_response
from .._operation import CallOptions, Operation, PreparedInput, form_entries, prepare
from .._results import Result
from .._retry import backoff_seconds, is_retryable, retry_after_seconds
from .._server_events import EventParser
from .._sources import FilePart, RunImage

LOG = logging.getLogger("gesso")
RESPONSE_TIMEOUT = 60.0
#: A synchronous call is answered within 55 s; the rest is for slow connections.
SYNC_RESULT_TIMEOUT = 150.0
#: The server sends a heartbeat every 15 s.
IDLE_TIMEOUT = 45.0
#: Consecutive reconnects of a stream; zero until the first event, so that an unreachable server fails at once.
MAX_RECONNECTS = 20
GET_RUN = Operation("runs.get", "GET", "/api/v1/runs/{run_id}", path_fields=("run_id",))
UPLOAD = Operation("images.upload", "POST", "/api/v1/upload", bodies=("form",), images={"file": "file"})
RUN_END_EVENTS = ("run.completed", "run.failed", "run.canceled")
T = TypeVar("T", bound=Result)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> dict[str, Any]:
        try:
            value = json.loads(self.content) if self.content else {}
        except ValueError as cause:
            raise GessoError(f"The body of the {self.status} response is not JSON", status=self.status) from cause
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Outgoing:
    method: str
    url: str
    #: Not in tracebacks, because they contain the key.
    headers: Mapping[str, str] = field(repr=False)
    timeout: float
    max_retries: int
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    idempotency_key: str | None = None
    #: A file at a signed URL, which may be on another host.
    is_download: bool = False


class AsyncConnection:
    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        api_key: str | None,
        headers: Mapping[str, str],
        timeout: float | None,
        max_retries: int,
    ) -> None:
        self.http, self.base_url, self.timeout, self.max_retries = http, base_url, timeout, max_retries
        self._headers = {**({"authorization": f"Bearer {api_key}"} if api_key else {}), **headers}

    async def call(
        self, operation: Operation, result: type[T], given: Mapping[str, Any], options: CallOptions | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        """Calls an operation that creates no run."""
        key = idempotency_key or new_key() if operation.takes_key else None
        answer = await self.request(operation, prepare(operation, given), options or {}, key)
        return result.from_dict(answer.json())

    async def request(
        self, operation: Operation, input: PreparedInput, options: CallOptions, key: str | None = None,
    ) -> Answer:
        values = {name: await self._resolve(value, input.is_form, key) for name, value in input.values.items()}
        body: dict[str, Any] = {}
        if operation.bodies:
            body = {"files": form_entries(operation, values)} if input.is_form else {"json": values}
        return await self._send(self._outgoing(operation, input.path, options, key, body))

    def _outgoing(
        self, operation: Operation, path: str, options: CallOptions, key: str | None, body: Mapping[str, Any],
    ) -> Outgoing:
        waits = body.get("json", {}).get("sync") or ("sync", (None, b"true")) in body.get("files", [])
        return Outgoing(
            method=operation.method,
            url=self.base_url + path,
            headers={
                "accept": "application/json",
                **self._headers,
                **({"prefer": "handling=strict"} if options.get("strict") else {}),
                **({"idempotency-key": key} if key else {}),
                **options.get("headers", {}),
            },
            timeout=options.get("timeout") or self.timeout or (SYNC_RESULT_TIMEOUT if waits else RESPONSE_TIMEOUT),
            # PATCH requests have no idempotency key, so a lost response could apply the change twice.
            max_retries=0 if operation.method == "PATCH" else options.get("max_retries", self.max_retries),
            body=body,
            idempotency_key=key,
        )

    async def download(self, url: str) -> bytes:
        """The file at a signed URL. The signature grants access, so no credential is sent."""
        request = Outgoing("GET", url, {}, SYNC_RESULT_TIMEOUT, self.max_retries, is_download=True)
        return (await self._send(request)).content

    async def _resolve(self, value: Any, is_form: bool, key: str | None) -> Any:
        """Uploads files that no form carries, and replaces runs by the URLs of their images."""
        if isinstance(value, list):
            return [await self._resolve(each, is_form, key) for each in value]
        if isinstance(value, dict):
            # A form has files in fields of their own only.
            return {name: await self._resolve(each, False, key) for name, each in value.items()}
        if isinstance(value, FilePart) and not is_form:
            # The same key for the same request: an upload that is repeated with it has the same URL.
            own = "upload-" + hashlib.sha256(f"{key} {value.sha256}".encode()).hexdigest()
            answer = await self.request(UPLOAD, PreparedInput(UPLOAD.path, {"file": value}, True), {}, own)
            return answer.json()["data"]["image_url"]
        if isinstance(value, RunImage):
            run = (await self.request(GET_RUN, prepare(GET_RUN, {"run_id": value.run_id}), {})).json()
            return run["image_url"] if value.output_index is None else run["outputs"][value.output_index]["url"]
        return value

    async def _send(self, request: Outgoing) -> Answer:
        retry = 0
        while True:
            try:
                return await self._attempt(request)
            except GessoError as error:
                if retry >= request.max_retries or not is_retryable(error):
                    raise
                seconds = _pause(error, retry)
                retry += 1
                LOG.info("%s; retrying in %.1f s (%d of %d)", error, seconds, retry, request.max_retries)
            await asyncio.sleep(seconds)

    async def _attempt(self, request: Outgoing) -> Answer:
        started = time.monotonic()
        content = bytearray()
        try:
            response = await self._open(request)
            async with aclosing(response):
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if time.monotonic() - started > request.timeout:
                        raise httpx.ReadTimeout("the response is too slow", request=response.request)
        except httpx.TransportError as thrown:
            raise self._connection_error(thrown, request) from thrown
        finally:
            LOG.debug("%s %s took %.0f ms", request.method, request.url.split("?")[0], (time.monotonic() - started) * 1e3)
        if response.status_code >= 300:
            raise self._response_error(response.status_code, response.headers, bytes(content), request)
        return Answer(response.status_code, response.headers, bytes(content))

    async def _open(self, request: Outgoing, idle_timeout: float | None = None) -> httpx.Response:
        """A redirect is followed for files only, and those are requested without a credential."""
        timeout = httpx.Timeout(request.timeout, pool=None)
        built = self.http.build_request(
            request.method, request.url, headers=request.headers, timeout=timeout, **request.body
        )
        response = await self.http.send(built, stream=True, follow_redirects=request.is_download)
        if idle_timeout is not None:
            # The connection reads the timeout again when it begins to read the body.
            built.extensions["timeout"]["read"] = idle_timeout
        return response

    def _connection_error(self, thrown: httpx.TransportError, request: Outgoing) -> GessoError:
        kind = TimeoutError if isinstance(thrown, httpx.TimeoutException) else ConnectionError
        url = request.url.split("?")[0]
        message = f"No response from {url}: {thrown or type(thrown).__name__}"
        context = f" (idempotency_key: {request.idempotency_key})" if request.idempotency_key else ""
        return kind(message + context, idempotency_key=request.idempotency_key, server_url=request.url)

    def _response_error(self, status: int, headers: Mapping[str, str], content: bytes, request: Outgoing) -> GessoError:
        if status < 400:
            location = headers.get("location", "")
            return GessoError(f"{status} The server redirects to {location}. Set base_url to it.", status=status)
        return error_from_response(
            status, headers, content, idempotency_key=request.idempotency_key, server_url=self.base_url
        )

    async def events(
        self, operation: Operation, given: Mapping[str, Any], options: CallOptions, first_event_timeout: float = 0,
    ) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
        """
        Yields the ID and the JSON of each event once. A lost stream is reopened after the last one. With
        `first_event_timeout`, for callers that can poll, a stream that stays silent is an error.
        """
        is_of_run, last, most, losses = bool(operation.path_fields), given.get("after"), 0, 0
        given = {name: value for name, value in given.items() if name != "after"}
        while True:
            idle = IDLE_TIMEOUT if most or not first_event_timeout else first_event_timeout
            was_short = idle == first_event_timeout
            error: GessoError = ConnectionError("The event stream closed before the first event")
            request = self._outgoing(operation, prepare(operation, given).path, options, None, {})
            headers = {**request.headers, "accept": "text/event-stream", **({"last-event-id": last} if last else {})}
            try:
                parser = EventParser()
                response = await self._open(
                    Outgoing("GET", request.url, headers, first_event_timeout or 30.0, 0), idle_timeout=idle
                )
                async with aclosing(response):
                    if response.status_code == 204:
                        return
                    if response.status_code != 200:
                        content = await response.aread()
                        raise self._response_error(response.status_code, response.headers, content, request)
                    async for chunk in response.aiter_bytes():
                        for id, data in parser.feed(chunk):
                            most, losses, last = MAX_RECONNECTS, 0, id or last
                            if data is None:
                                continue
                            event: dict[str, Any] = json.loads(data)
                            yield last or "", event
                            if is_of_run and event.get("type") in RUN_END_EVENTS:
                                return
            except httpx.TransportError as thrown:
                error = self._connection_error(thrown, request)
                if was_short and most and isinstance(thrown, httpx.ReadTimeout):
                    # The stream works: from now on, it may be as silent as between two heartbeats.
                    continue
            except GessoError as thrown:
                # The log was restored to an earlier time. All events of one run can be read again; of a tenant, only
                # the reader knows what it must read again.
                if is_of_run and last and thrown.code == "event_position_lost":
                    last = None
                    continue
                if not is_retryable(thrown):
                    raise
                error = thrown
            if losses >= (most or (0 if first_event_timeout else self.max_retries)):
                raise error
            await asyncio.sleep(_pause(error, losses))
            losses += 1


def _pause(error: GessoError, retry: int) -> float:
    asked = retry_after_seconds(error.headers)
    return backoff_seconds(retry) if asked is None else asked


def new_key() -> str:
    return f"gesso-{uuid.uuid4()}"
