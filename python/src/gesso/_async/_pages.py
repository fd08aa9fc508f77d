"""Lists of entries, page by page, and streams of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from collections.abc import Generator  # async only
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._generated.events import read_event
from .._operation import CallOptions, Operation, prepare
from .._results import Result
from ._connection import AsyncConnection

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T", bound=Result)
E = TypeVar("E", bound=Result)


class AsyncPage(Generic[T]):
    """A page of entries: `data` and `next_cursor`. As an iterable, it yields the entries of all pages."""

    def __init__(
        self, connection: AsyncConnection, operation: Operation, entry: type[T],
        given: Mapping[str, Any], options: CallOptions | None,
    ) -> None:
        self._connection, self._operation, self._entry = connection, operation, entry
        self._given, self._options = given, options
        self._body: dict[str, Any] | None = None
        # sync: self._load()

    # begin: async only
    def __await__(self) -> Generator[Any, None, Self]:
        return self._load().__await__()

    # end
    async def _load(self) -> Self:
        if self._body is None:
            request = prepare(self._operation, self._given)
            self._body = (await self._connection.request(self._operation, request, self._options or {})).json()
        return self

    @property
    def data(self) -> list[T]:
        return [self._entry.from_dict(each) for each in (self._body or {}).get("data", [])]

    @property
    def next_cursor(self) -> str | None:
        cursor = (self._body or {}).get("next_cursor")
        return cursor if isinstance(cursor, str) else None

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self._load()
        while True:
            for each in page.data:
                yield each
            if not page.next_cursor:
                return
            given = {**self._given, "cursor": page.next_cursor}
            page = await AsyncPage(self._connection, self._operation, self._entry, given, self._options)._load()


class AsyncEventStream(Generic[E]):
    """
    Live events, each once: a lost connection continues after the last one. The stream of a run ends with the run;
    others end when you leave the loop.
    """

    def __init__(
        self, connection: AsyncConnection, operation: Operation, given: Mapping[str, Any], options: CallOptions | None
    ) -> None:
        self._connection, self._operation, self._given, self._options = connection, operation, given, options

    async def __aiter__(self) -> AsyncIterator[E]:
        stream = self._connection.events(self._operation, self._given, self._options or {})
        async with aclosing(stream) as events:
            async for id, event in events:
                yield read_event(event, id)  # type: ignore[misc]
