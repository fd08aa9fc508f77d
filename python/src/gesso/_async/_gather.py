"""Many calls at once, in tasks. Beside it, `_sync/_gather.py` does the same with threads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from ._runs import WAIT_TIMEOUT, AsyncRunCall, F

T = TypeVar("T")


class AsyncGather:
    async def gather(
        self, *calls: AsyncRunCall[Any, F], limit: int = 4, timeout: float = WAIT_TIMEOUT, cancel_on_abort: bool = False
    ) -> list[F]:
        """
        Waits for many calls, of which at most `limit` are open, and returns their runs in order. If a call fails, the
        others still end, because they are paid for; then the first error is raised.
        """
        slots = asyncio.Semaphore(limit)

        async def run(call: AsyncRunCall[Any, F]) -> F:
            async with slots:
                return await call.wait(timeout=timeout, cancel_on_abort=cancel_on_abort)

        return first_error_or_all(await asyncio.gather(*map(run, calls), return_exceptions=True))


def first_error_or_all(results: Sequence[T | BaseException]) -> list[T]:
    for each in results:
        if isinstance(each, BaseException):
            raise each
    return [each for each in results if not isinstance(each, BaseException)]
