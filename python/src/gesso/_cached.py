"""Remembers the runs of a function in a folder: the same call returns the same run and is not paid for again."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from ._operation import PreparedInput
from ._sources import FilePart

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class _Scope:
    folder: Path
    function: str
    counts: Counter[str]


_scope: ContextVar[_Scope | None] = ContextVar("gesso_cached", default=None)


def cached(*, folder: str | os.PathLike[str] = ".gesso") -> Callable[[F], F]:
    """
    The calls inside the function that create runs return the runs of earlier calls with the same input, also in
    another process. A run that failed is created anew. Delete the folder to forget all runs.
    """

    def decorate(function: F) -> F:
        @contextmanager
        def scope() -> Iterator[None]:
            token = _scope.set(_Scope(Path(folder), function.__qualname__, Counter()))
            try:
                yield
            finally:
                _scope.reset(token)

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            with scope():
                return await function(*args, **kwargs)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with scope():
                return function(*args, **kwargs)

        return cast(F, call_async if inspect.iscoroutinefunction(function) else call)

    return decorate


class CallRecord:
    """The idempotency key of one call, written before the request is sent, and the run once it is known."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            known: dict[str, Any] = json.loads(path.read_bytes())
        except (OSError, ValueError):
            known = {}
        self.response: dict[str, Any] | None = known.get("response")
        self.idempotency_key: str = known.get("idempotency_key") or f"gesso-{uuid.uuid4()}"
        if not known:
            self.save(None)

    def save(self, response: dict[str, Any] | None) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"idempotency_key": self.idempotency_key, "response": response})
        unfinished = self._path.with_suffix(f".{uuid.uuid4().hex}")
        unfinished.write_text(text)
        os.replace(unfinished, self._path)

    def renew(self) -> None:
        self.idempotency_key, self.response = f"gesso-{uuid.uuid4()}", None
        self.save(None)


def find_record(operation: str, input: PreparedInput) -> CallRecord | None:
    """The record of this call; None outside of functions with `@cached`."""
    scope = _scope.get()
    if scope is None:
        return None
    content = [scope.function, operation, input.path, input.values]
    text = json.dumps(content, sort_keys=True, default=lambda value: value.sha256 if isinstance(value, FilePart) else repr(value))
    # The same call twice within one call of the function is two runs.
    scope.counts[text] += 1
    fingerprint = hashlib.sha256(f"{scope.counts[text]} {text}".encode()).hexdigest()
    return CallRecord(scope.folder / f"{fingerprint[:32]}.json")
