"""Calls that create runs, waiting for runs, and the files of finished runs."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import time
from collections.abc import Callable, Mapping
from collections.abc import Generator  # async only
from contextlib import aclosing, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._cached import find_record
from .._errors import GessoError, NotFoundError, RunCanceledError, RunFailedError, TimeoutError
from .._generated.results import Output, Run
from .._operation import CallOptions, Operation, prepare
from .._results import Result
from ._connection import GET_RUN, LOG, Answer, AsyncConnection, new_key

if TYPE_CHECKING:
    import numpy
    import PIL.Image
    from typing_extensions import Self  # async only

OnProgress = Callable[[Run], object]
R = TypeVar("R", bound=Result)
F = TypeVar("F", bound="AsyncFinishedRun")
F_co = TypeVar("F_co", bound="AsyncFinishedRun", covariant=True)

WAIT_TIMEOUT = 600.0
#: How long a stream may be silent at first, before the client polls instead.
FIRST_EVENT_TIMEOUT = 5.0
#: A wait that ends sooner polls, because only a poll ends exactly then: a stream has a heartbeat every 15 s.
SHORT_WAIT = 15.0
LONG_POLL_SECONDS = 25
PROGRESS_POLL_SECONDS = 2
#: If an open run is returned faster than this, the server ignored `Prefer: wait`.
MIN_LONG_POLL = 0.5
#: More than for other calls, so that waiting survives a restart of the server.
POLL_RETRIES = 6
CANCEL_RUN = Operation("runs.cancel", "POST", "/api/v1/runs/{run_id}/cancel", path_fields=("run_id",))
RUN_EVENTS = Operation("runs.events", "GET", "/api/v1/runs/{run_id}/events", path_fields=("run_id",))
ENDED = ("completed", "failed", "canceled")
ABORTS = (KeyboardInterrupt, asyncio.CancelledError)


class AsyncFile:
    """A file of a run. Its bytes are fetched when they are asked for. As an input, it stands for its output."""

    def __init__(self, connection: AsyncConnection, output: Output, run_id: str, output_index: int) -> None:
        self._connection = connection
        self.url = output.url
        self.media_type = output.media_type
        self.run_id = run_id
        self.output_index = output_index

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.media_type} of run {self.run_id}>"

    async def bytes(self) -> builtins.bytes:
        return await self._connection.download(self.url)

    async def save_to(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file and returns its path. The folder must exist."""
        target = Path(path)
        target.write_bytes(await self.bytes())
        return target

    async def pil(self) -> PIL.Image.Image:
        """The image with Pillow: `pip install gesso-client[images]`."""
        from PIL import Image

        image = Image.open(BytesIO(await self.bytes()))
        image.load()
        return image

    async def numpy(self) -> numpy.ndarray[Any, Any]:
        """The image as an array of height × width × channels."""
        import numpy

        return numpy.asarray(await self.pil())


@dataclass(frozen=True, kw_only=True)
class AsyncFinishedRun(Run):
    """A completed run with its files."""

    def _files(self, kind: str = "") -> list[AsyncFile]:
        connection: AsyncConnection = self.__dict__["_connection"]
        files = [AsyncFile(connection, output, self.run_id, index) for index, output in enumerate(self.outputs)]
        return [file for file in files if file.media_type.startswith(kind)]

    def _first(self, kind: str) -> AsyncFile | None:
        return next(iter(self._files(kind)), None)

    def _part(self, name: str) -> Any:
        return (self.result or {}).get(name)

    @property
    def image(self) -> AsyncFile | None:
        return self._first("image/")

    @property
    def images(self) -> list[AsyncFile]:
        return self._files("image/")

    @property
    def video(self) -> AsyncFile | None:
        return self._first("video/")

    @property
    def audio(self) -> AsyncFile | None:
        """The first sound."""
        return self._first("audio/")

    @property
    def model3d(self) -> AsyncFile | None:
        """The first 3D scene."""
        return self._first("model/")

    @property
    def files(self) -> list[AsyncFile]:
        """All files, in the order of `outputs`."""
        return self._files()


class AsyncImageRun(AsyncFinishedRun):
    """A completed run that made an image."""

    @property
    def image(self) -> AsyncFile:
        return self._files("image/")[0]


class AsyncVideoRun(AsyncFinishedRun):
    """A completed run that made a video."""

    @property
    def video(self) -> AsyncFile:
        return self._files("video/")[0]


class AsyncRunCall(Generic[R, F_co]):
    """A call that creates a run. The server has accepted it once it has a `response`; `wait()` returns the result."""

    def __init__(
        self, connection: AsyncConnection, operation: Operation, result: type[R], finished: type[F_co],
        given: Mapping[str, Any], options: CallOptions | None, idempotency_key: str | None,
    ) -> None:
        self._connection, self._operation, self._options = connection, operation, options or {}
        self._result, self._finished = result, finished
        self._input = prepare(operation, given)
        self._record = find_record(operation.name, self._input) if idempotency_key is None else None
        key = self._record.idempotency_key if self._record else new_key()
        #: A call with the same key returns the same run, also after a crash.
        self.idempotency_key = idempotency_key or key
        self._answer: Answer | None = None
        self._sent: asyncio.Future[None] | None = None  # async only
        # sync: self._send()

    # begin: async only
    def __await__(self) -> Generator[Any, None, Self]:
        """Sends the request, if it has not been sent."""
        return self._await().__await__()

    async def _await(self) -> Self:
        await self._sending()
        return self

    def _sending(self) -> asyncio.Future[None]:
        self._sent = self._sent or asyncio.ensure_future(self._send())
        return self._sent

    # end
    async def _send(self) -> None:
        if self._record and self._record.response and (answer := await self._find_recorded()):
            self._answer = answer
            return
        self._answer = await self._connection.request(
            self._operation, self._input, self._options, self.idempotency_key
        )
        if self._record:
            self._record.save(self._answer.json() | {"run_id": self.run_id})

    async def _find_recorded(self) -> Answer | None:
        """The run of an earlier call, unless it has failed or was deleted."""
        assert self._record and self._record.response
        with suppress(NotFoundError):
            run = await _get_run(self._connection, self._record.response["run_id"], 0, None)
            if run.get("status") not in ("failed", "canceled"):
                return Answer(200, {}, json.dumps({**self._record.response, **run}).encode())
        self._record.renew()
        self.idempotency_key = self._record.idempotency_key
        return None

    @property
    def response(self) -> R:
        """What the server returned when it accepted the call."""
        return self._result.from_dict(self._accepted().json())

    @property
    def run_id(self) -> str:
        answer = self._accepted()
        body = answer.json()
        inner: dict[str, Any] = body.get("data") or {}
        run_id = body.get("run_id") or body.get("runId") or inner.get("run_id") or answer.headers.get("x-run-id")
        if not run_id:
            raise GessoError("The response contains no run ID", idempotency_key=self.idempotency_key)
        return str(run_id)

    @property
    def request_id(self) -> str | None:
        return self._accepted().headers.get("x-request-id")

    def _accepted(self) -> Answer:
        if self._answer is None:
            raise GessoError("The call has not been sent yet: await it, or its wait()")
        return self._answer

    async def wait(
        self, *, on_progress: OnProgress | None = None, timeout: float = WAIT_TIMEOUT, cancel_on_abort: bool = True
    ) -> F_co:
        """
        Waits for the run to end and returns it, or raises RunFailedError, RunCanceledError or TimeoutError. After
        `timeout` seconds the run continues. Ctrl-C or the cancellation of the task cancels the run as well, unless
        `cancel_on_abort` is False.
        """
        deadline = time.monotonic() + timeout
        try:
            await asyncio.shield(self._sending())  # async only
            accepted = self._accepted().json()
            known = accepted if "outputs" in accepted and _is_ended(accepted) else None
            return await wait_for_run(self._connection, self.run_id, self._finished, on_progress, deadline, known)
        except GessoError as error:
            if self._answer is not None or error.run_id is None or isinstance(error, RunFailedError):
                error.idempotency_key = error.idempotency_key or self.idempotency_key
                raise
            # The request timed out or failed after it had created the run.
            return await wait_for_run(self._connection, error.run_id, self._finished, on_progress, deadline)
        except ABORTS:
            if cancel_on_abort:
                with suppress(GessoError):
                    await self.cancel()
            raise

    async def cancel(self) -> None:
        """Cancels the run. What a provider has already accepted is charged."""
        await asyncio.shield(self._sending())  # async only
        options: CallOptions = {"timeout": 10.0}
        await self._connection.request(CANCEL_RUN, prepare(CANCEL_RUN, {"run_id": self.run_id}), options)


async def wait_for_run(
    connection: AsyncConnection,
    run_id: str,
    finished: type[F],
    on_progress: OnProgress | None,
    deadline: float,
    known: Mapping[str, Any] | None = None,
) -> F:
    """Waits by the events of the run; without them by long polling, and if the server refuses that, every second."""
    run = known
    try:
        has_warned = run is not None or not await _wait_by_events(connection, run_id, on_progress, deadline)
        while run is None or not _is_ended(run):
            asked_at = time.monotonic()
            seconds = min(PROGRESS_POLL_SECONDS if on_progress else LONG_POLL_SECONDS, max(0, int(deadline - asked_at)))
            run = await _get_run(connection, run_id, seconds, deadline)
            if on_progress:
                on_progress(Run.from_dict(run))
            now = time.monotonic()
            if now > deadline and not _is_ended(run):
                raise TimeoutError("the wait has ended")
            if not _is_ended(run) and now - asked_at < MIN_LONG_POLL:
                if not has_warned:
                    LOG.warning("The server ignores Prefer: wait; polling every second")
                has_warned = True
                await asyncio.sleep(max(0.0, min(1.0, deadline - now)))
    except TimeoutError as error:
        if time.monotonic() < deadline:
            raise
        raise TimeoutError(f"Run {run_id} did not end in time; it continues", run_id=run_id) from error
    return _finish(connection, run, finished)


async def _wait_by_events(
    connection: AsyncConnection, run_id: str, on_progress: OnProgress | None, deadline: float
) -> bool:
    """True when the run has ended or the rest of the wait is short; False if there is no stream of events."""
    run: dict[str, Any] | None = None
    if deadline - time.monotonic() < SHORT_WAIT:
        return True
    try:
        async with aclosing(connection.events(RUN_EVENTS, {"run_id": run_id}, {}, FIRST_EVENT_TIMEOUT)) as events:
            async for _, event in events:
                data = event.get("data", {})
                if on_progress and not _is_ended(data):
                    run = run or await _get_run(connection, run_id, 0, deadline)
                    on_progress(Run.from_dict({**run, **data}))
                if deadline - time.monotonic() < SHORT_WAIT:
                    break
        return True
    except GessoError as error:
        LOG.warning("event stream unavailable (%s); polling instead", error)
        return False


async def _get_run(
    connection: AsyncConnection, run_id: str, seconds: int, deadline: float | None
) -> dict[str, Any]:
    left = 30.0 if deadline is None else max(0.1, deadline - time.monotonic())
    options: CallOptions = {
        "headers": {"prefer": f"wait={seconds}"},
        "timeout": min(seconds + 30.0, left + 1.0),
        "max_retries": max(POLL_RETRIES, connection.max_retries),
    }
    return (await connection.request(GET_RUN, prepare(GET_RUN, {"run_id": run_id}), options)).json()


def _is_ended(run: Mapping[str, Any]) -> bool:
    """A state of a newer server is open until the run says when it finished."""
    return run.get("status") in ENDED or bool(run.get("finished_at"))


def _finish(connection: AsyncConnection, run: Mapping[str, Any], finished: type[F]) -> F:
    error, run_id = run.get("error") or {}, run["run_id"]
    if run["status"] == "completed" or not (run["status"] in ENDED or error):
        result = finished.from_dict(run)
        object.__setattr__(result, "_connection", connection)
        return result
    is_canceled = run["status"] == "canceled"
    message = f"The run {run_id} " + ("was canceled" if is_canceled else f"failed: {error.get('message', run['status'])}")
    raised = (RunCanceledError if is_canceled else RunFailedError)(
        message, run_id=run_id, code=error.get("code"), details=error.get("details"), server_url=connection.base_url
    )
    raised.run = dict(run)
    raise raised
