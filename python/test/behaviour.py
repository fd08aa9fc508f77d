"""Makes the calls of the behaviour table with both clients and prints the outcomes. See behaviour.test.ts."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gesso import AsyncGesso, CallOptions, Gesso, GessoError

TABLE = json.loads(os.environ["BEHAVIOUR"])
KEY, RUN_ID = TABLE["key"], TABLE["run_id"]
logging.disable(logging.CRITICAL)


def read_options(row: dict[str, Any]) -> tuple[str | None, CallOptions]:
    given = row.get("options", {})
    options: CallOptions = {}
    if "max_retries" in given:
        options["max_retries"] = given["max_retries"]
    if "timeout_seconds" in given:
        options["timeout"] = given["timeout_seconds"]
    return given.get("idempotency_key"), options


def read_wait(row: dict[str, Any], states: list[str], abort: Any) -> dict[str, Any]:
    given = row.get("wait", {})

    def on_progress(run: Any) -> None:
        states.append(run.status)
        if "abort" in given:
            abort()

    return {
        **({"timeout": given["timeout_seconds"]} if "timeout_seconds" in given else {}),
        **({"on_progress": on_progress} if "progress" in given or "abort" in given else {}),
        "cancel_on_abort": given.get("cancel_on_abort", True),
    }


def describe(run: Any) -> dict[str, Any]:
    return {"run_id": run.run_id, "status": run.status}


def describe_error(error: GessoError) -> dict[str, Any]:
    facts = {"code": error.code, "status": error.status, "request_id": error.request_id, "error_run_id": error.run_id}
    return {"error": type(error).__name__, **{name: value for name, value in facts.items() if value is not None}}


def press_ctrl_c() -> None:
    raise KeyboardInterrupt


def call(row: dict[str, Any], url: str) -> dict[str, Any]:
    key, options = read_options(row)
    with Gesso(url, KEY) as client:
        def create() -> Any:
            return client.images.generate(prompt="a boat", idempotency_key=key, options=options)

        try:
            if row["call"] == "create":
                return {"run_id": create().run_id}
            if row["call"] == "get":
                return describe(client.runs.get(RUN_ID))
            if row["call"] == "update":
                return describe(client.runs.update(RUN_ID, starred=True))
            if row["call"] == "list":
                return {"ids": [run.run_id for run in client.runs.list()]}
            if row["call"] == "image":
                return {"bytes": create().wait().image.bytes().decode()}
            if row["call"] == "events":
                return {"types": [event.type for event in client.runs.events(RUN_ID)]}
            states: list[str] = []
            run = create().wait(**read_wait(row, states, press_ctrl_c))
            return {**describe(run), **({"progress": states} if "progress" in row.get("wait", {}) else {})}
        except KeyboardInterrupt:
            return {"error": "aborted"}
        except GessoError as error:
            return describe_error(error)


async def call_async(row: dict[str, Any], url: str) -> dict[str, Any]:
    key, options = read_options(row)
    async with AsyncGesso(url, KEY) as client:
        def create() -> Any:
            return client.images.generate(prompt="a boat", idempotency_key=key, options=options)

        try:
            if row["call"] == "create":
                return {"run_id": (await create()).run_id}
            if row["call"] == "get":
                return describe(await client.runs.get(RUN_ID))
            if row["call"] == "update":
                return describe(await client.runs.update(RUN_ID, starred=True))
            if row["call"] == "list":
                return {"ids": [run.run_id async for run in client.runs.list()]}
            if row["call"] == "image":
                return {"bytes": (await (await create().wait()).image.bytes()).decode()}
            if row["call"] == "events":
                return {"types": [event.type async for event in client.runs.events(RUN_ID)]}
            states: list[str] = []
            task: asyncio.Future[Any]
            wait = read_wait(row, states, lambda: task.cancel())
            task = asyncio.ensure_future(create().wait(**wait))
            return {**describe(await task), **({"progress": states} if "progress" in row.get("wait", {}) else {})}
        except asyncio.CancelledError:
            return {"error": "aborted"}
        except GessoError as error:
            return describe_error(error)


async def call_all() -> list[dict[str, Any]]:
    return await asyncio.gather(*map(call_async, TABLE["rows"], TABLE["urls"]["python-async"]))


with ThreadPoolExecutor(64) as pool:
    waits = [pool.submit(call, row, url) for row, url in zip(TABLE["rows"], TABLE["urls"]["python"])]
    in_tasks = asyncio.run(call_all())
    print(json.dumps({"python": [wait.result() for wait in waits], "python-async": in_tasks}))
