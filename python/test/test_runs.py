"""Runs from a call to their files, with the synchronous and the asynchronous client."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from pathlib import Path

import pytest

import gesso
from gesso import AsyncGesso, Gesso

SMALL = {"width": 64, "height": 64}


def test_a_call_returns_when_the_run_is_accepted_and_wait_returns_its_result(client: Gesso, tmp_path: Path) -> None:
    call = client.images.generate(prompt="a lighthouse", seed=7, width=64, height=64)
    assert call.response.status in ("queued", "processing") and call.response.run_id == call.run_id
    steps: list[float] = []
    run = call.wait(on_progress=lambda each: steps.append(each.progress))
    assert (run.run_id, run.status, steps[-1]) == (call.run_id, "completed", 1)
    assert run.image.save_to(tmp_path / "lighthouse.png").stat().st_size == len(run.image.bytes())
    assert run.image.pil().size == (64, 64) and run.image.numpy().shape == (64, 64, 3)
    assert run.cost is not None and run.cost.amount == 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.status = "failed"  # type: ignore[misc]


def test_the_asynchronous_client_does_the_same() -> None:
    async def program() -> None:
        async with AsyncGesso() as client:
            call = await client.images.generate(prompt="a lighthouse", width=64, height=64)
            run = await call.wait()
            assert (run.run_id, run.status) == (call.run_id, "completed")
            assert (await run.image.pil()).size == (64, 64)
            described = await client.images.describe(image_url=run).wait()
            assert described.description and described.parent_run_id == run.run_id
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(program())


def test_a_call_that_waits_for_its_result_by_default_returns_at_once_too(client: Gesso) -> None:
    call = client.edit.mask_image(original_image_url=_run(client), mask_image_url=_run(client))
    assert call.response.status in ("queued", "processing")
    assert call.wait().image.pil().size == (64, 64)


def test_gather_keeps_the_order_and_leaves_no_thread(client: Gesso) -> None:
    before = threading.active_count()
    prompts = [f"boat {index}" for index in range(5)]
    calls = (lambda prompt=prompt: client.images.generate(prompt=prompt, width=64, height=64) for prompt in prompts)
    runs = client.gather(*calls, limit=3)
    assert [run.inputs["prompt"] for run in runs] == prompts
    assert threading.active_count() == before


def test_gather_raises_the_first_error_after_all_have_ended() -> None:
    async def program() -> None:
        async with AsyncGesso() as client:
            good = client.images.generate(prompt="a boat", width=64, height=64)
            bad = client.images.generate(prompt="a boat [sandbox:fail]", width=64, height=64)
            with pytest.raises(gesso.RunFailedError) as raised:
                await client.gather(bad, good, limit=2)
            assert raised.value.run_id == bad.run_id and raised.value.run
            assert (await client.runs.get(good.run_id)).status == "completed"
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(program())


@pytest.mark.parametrize("cancels", [True, False])
def test_the_cancellation_of_the_task_cancels_the_run_unless_told_otherwise(cancels: bool) -> None:
    async def program() -> None:
        async with AsyncGesso() as client:
            call = client.images.generate(prompt="slow [sandbox:never]", width=64, height=64)
            task = asyncio.ensure_future(call.wait(cancel_on_abort=cancels, on_progress=lambda run: task.cancel()))
            with pytest.raises(asyncio.CancelledError):
                await task
            if not cancels:
                assert (await client.runs.get(call.run_id)).finished_at is None
                await call.cancel()
            with pytest.raises(gesso.RunCanceledError):
                await client.wait(call.run_id)

    asyncio.run(program())


def test_ctrl_c_cancels_the_run(client: Gesso) -> None:
    def press(run: object) -> None:
        raise KeyboardInterrupt

    call = client.images.generate(prompt="slow [sandbox:never]", width=64, height=64)
    with pytest.raises(KeyboardInterrupt):
        call.wait(on_progress=press)
    with pytest.raises(gesso.RunCanceledError):
        client.wait(call.run_id)


def test_a_wait_ends_at_its_timeout_and_the_run_continues(client: Gesso) -> None:
    call = client.images.generate(prompt="slow [sandbox:never]", width=64, height=64)
    with pytest.raises(TimeoutError) as raised:
        call.wait(timeout=0.5)
    assert isinstance(raised.value, gesso.TimeoutError) and raised.value.run_id == call.run_id
    assert client.runs.get(call.run_id).finished_at is None
    call.cancel()


def test_an_exceeded_rate_limit_says_how_long_to_wait(client: Gesso) -> None:
    key = client.keys.create(name="small", scopes=["images:write"], limits={"runs_per_minute": 1}).key
    with Gesso(api_key=key, max_retries=0) as limited:
        limited.images.generate(prompt="a small boat", width=64, height=64)
        with pytest.raises(gesso.RateLimitError) as raised:
            limited.images.generate(prompt="a second boat", width=64, height=64)
    # The server adds up to a quarter at random, so that clients do not retry at the same time.
    assert raised.value.retry_after and 0 < raised.value.retry_after <= 75
    assert gesso.RateLimitError("", headers={"retry-after": "soon"}).retry_after is None


def test_events_and_lists(client: Gesso) -> None:
    run = client.wait(_run(client))
    events = list(client.runs.events(run.run_id))
    assert [event.type for event in events][-1] == "run.completed"
    assert [event.id for event in client.runs.events(run.run_id, after=events[0].id)] == [each.id for each in events[1:]]
    page = client.runs.list(limit=2)
    assert len(page.data) == 2 and page.next_cursor
    ids = [each.run_id for each in page]
    assert len(ids) > 2 and len(set(ids)) == len(ids)


def test_cached_calls_return_the_same_run_in_another_process(client: Gesso, tmp_path: Path) -> None:
    def draw(prompt: str) -> list[str]:
        return [client.images.generate(prompt=prompt, width=64, height=64).wait().run_id for _ in range(2)]

    first = gesso.cached(folder=tmp_path)(draw)("a fox")
    # Another decorator has no memory of its own: what it knows is in the folder.
    assert gesso.cached(folder=tmp_path)(draw)("a fox") == first
    assert first[0] != first[1]
    assert set(gesso.cached(folder=tmp_path)(draw)("an owl")).isdisjoint(first)
    assert set(draw("a fox")).isdisjoint(first)


def test_errors_have_the_class_of_their_code_and_say_what_to_do(client: Gesso) -> None:
    with pytest.raises(gesso.ValidationError) as invalid:
        client.images.generate(prompt="", width=3)
    error = invalid.value
    assert {each["path"] for each in error.field_errors} == {"/prompt", "/width"}
    assert error.code == "validation_error" and error.request_id and error.idempotency_key
    assert error.doc_url and error.doc_url.endswith("/errors/validation_error")
    with pytest.raises(gesso.NotFoundError):
        client.runs.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
    with pytest.raises(gesso.AuthError):
        Gesso(api_key="gsk_unknown").me.get()
    with pytest.raises(gesso.ConflictError):
        for prompt in ("one", "two"):
            client.images.generate(prompt=prompt, idempotency_key="the-same-key", width=64, height=64)


def test_keywords_of_python_have_an_underscore(client: Gesso) -> None:
    assert client.usage.get(from_="2026-01-01").from_.startswith("2026-01-01")


def _run(client: Gesso) -> str:
    return client.images.generate(prompt="a source", width=64, height=64).wait().run_id
