"""Every kind of image as an input, and the verification of webhooks."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

import gesso
from gesso import Gesso


def test_an_image_can_be_a_path_bytes_a_file_a_pil_image_an_array_a_run_or_a_url(
    client: Gesso, image: Image.Image, path: Path
) -> None:
    source = client.images.generate(prompt="a source", width=64, height=64).wait()
    mask = numpy.zeros((32, 48), bool)
    mask[:8] = True
    files: list[Any] = [path, path.read_bytes(), path.open("rb"), BytesIO(path.read_bytes()), image, numpy.asarray(image)]
    calls = [client.images.edit(prompt="a storm", image=each, mask=mask) for each in files]
    runs: list[Any] = [source, source.image, source.run_id, {"run_id": source.run_id, "output_index": 0}]
    calls += [client.images.edit(prompt="a storm", image=each) for each in runs]
    assert all(call.wait().image.pil() for call in calls)
    assert [call.wait().parent_run_id == source.run_id for call in calls] == [False] * 6 + [True] * 4


def test_operations_without_forms_upload_files_first(client: Gesso, image: Image.Image) -> None:
    source = client.images.generate(prompt="a source", width=64, height=64).wait()
    call = client.images.generate(prompt="a boat", reference_image_url=image, image_urls=[source, image])
    first, second = call.response.inputs["image_urls"]
    # The same file is uploaded once.
    assert first == source.image.url and second == call.response.inputs["reference_image_url"]
    tagged = client.images.reference(prompt="a @boat", images=[{"image_reference": image, "tag": "boat"}])
    assert tagged.wait().image


def test_a_field_for_files_takes_a_file_and_the_mask_variant_sets_its_flag(client: Gesso, image: Image.Image) -> None:
    assert client.images.describe(image=image).wait().description
    upload = client.images.upload_mask(file=Image.new("L", (32, 32)))
    assert upload.data and client.runs.get(upload.data.run_id).run_type == "mask-upload"


def test_a_text_is_never_read_as_a_path(client: Gesso, path: Path) -> None:
    for text in (str(path), "./red.png", "red.png"):
        with pytest.raises(gesso.ValidationError, match="pathlib.Path"):
            client.images.edit(prompt="a storm", image=text)
    with pytest.raises(gesso.ValidationError, match="pathlib.Path"):
        client.images.upload(file=str(path))  # type: ignore[arg-type]
    with pytest.raises(gesso.ValidationError, match="not dict"):
        client.images.upload(file={"a": 1})  # type: ignore[arg-type]


def test_floats_from_0_to_1_become_pixels(client: Gesso) -> None:
    ramp = numpy.linspace(0, 1, 256).reshape(1, 256).repeat(32, axis=0)
    upload = client.images.upload(file=ramp)
    assert upload.data
    stored = client.wait(upload.data.run_id).image
    assert stored and (stored.numpy()[0] == numpy.arange(256)).all()


BODY = '{"type":"webhook.test","timestamp":"2026-11-15T04:00:00Z","data":{"webhook_id":"w"}}'
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_webhooks_are_verified_with_one_of_several_secrets() -> None:
    headers = gesso.webhooks.generate_test_headers(BODY, SECRET)
    event = gesso.webhooks.unwrap(BODY, {name.title(): value for name, value in headers.items()}, ["other", SECRET])
    assert (event.type, event.event_id) == ("webhook.test", "msg_test")
    two = {**headers, "webhook-signature": f"v1,AAAA {headers['webhook-signature']}"}
    assert gesso.webhooks.unwrap(BODY.encode(), two, SECRET).type == "webhook.test"


def test_the_class_of_an_event_says_whether_it_is_about_a_run() -> None:
    headers = gesso.webhooks.generate_test_headers(BODY, SECRET)
    assert not isinstance(gesso.webhooks.unwrap(BODY, headers, SECRET), gesso.RunEvent)
    body = '{"type":"run.completed","timestamp":"2026-11-15T04:00:00Z","data":{"run_id":"r"}}'
    event: gesso.Event = gesso.webhooks.unwrap(body, gesso.webhooks.generate_test_headers(body, SECRET), SECRET)
    assert isinstance(event, gesso.RunEvent) and event.data.run_id == "r"


@pytest.mark.parametrize(
    ("body", "change", "secret", "code"),
    [
        (BODY + " ", {}, SECRET, "bad_signature"),
        (BODY, {}, "whsec_AAAA", "bad_signature"),
        (BODY, {}, "whsec_?", "bad_secret"),
        (BODY, {"webhook-id": ""}, SECRET, "missing_headers"),
        (BODY, {"webhook-timestamp": "soon"}, SECRET, "bad_timestamp"),
        (BODY, {"webhook-timestamp": "1"}, SECRET, "too_old"),
        (BODY, {"webhook-timestamp": "99999999999"}, SECRET, "too_new"),
    ],
)
def test_other_messages_are_refused(body: str, change: dict[str, str], secret: str, code: str) -> None:
    headers = {**gesso.webhooks.generate_test_headers(BODY, SECRET), **change}
    with pytest.raises(gesso.WebhookVerificationError) as refused:
        gesso.webhooks.unwrap(body, headers, secret)
    assert refused.value.code == code


def test_a_result_has_the_fields_of_a_newer_server_in_its_dict(client: Gesso) -> None:
    from gesso._generated.results import Run

    run = Run.from_dict({"run_id": "r", "status": "dreaming", "outputs": [{"url": "u", "media_type": "m"}], "new": 1})
    assert (run.run_id, run.outputs[0].url, run.cost, run.to_dict()["new"]) == ("r", "u", None, 1)
    assert json.loads(json.dumps(run.to_dict()))["status"] == "dreaming"
