"""Many calls at once, in threads that end with the call. Written by hand, unlike the other files of this folder."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from .._async._gather import first_error_or_all
from ._runs import WAIT_TIMEOUT, F, RunCall


class Gather:
    def gather(
        self, *calls: Callable[[], RunCall[Any, F]], limit: int = 4, timeout: float = WAIT_TIMEOUT,
        cancel_on_abort: bool = False,
    ) -> list[F]:
        """
        Makes the calls, of which at most `limit` are open, and returns their runs in order. A call is a function, such
        as `lambda: client.images.generate(prompt="a fox")`. If a call fails, the others still end, because they are
        paid for; then the first error is raised. Ctrl-C makes no further calls and takes effect when the open ones have
        ended.
        """

        def run(call: Callable[[], RunCall[Any, F]]) -> F | BaseException:
            try:
                return call().wait(timeout=timeout, cancel_on_abort=cancel_on_abort)
            except Exception as error:
                return error

        with ThreadPoolExecutor(limit, thread_name_prefix="gesso") as pool:
            waits = [pool.submit(copy_context().run, run, call) for call in calls]
            try:
                results = [wait.result() for wait in waits]
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return first_error_or_all(results)
