"""Images as inputs: URLs, base64 and run IDs as text; paths, bytes, file objects, PIL images and numpy arrays as files;
runs and their files. A text is never read as a path, because programs pass on texts of their visitors."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Union

from ._errors import ValidationError

if TYPE_CHECKING:
    from typing_extensions import Required


class ReadableFile(Protocol):
    def read(self) -> bytes: ...


class PilImage(Protocol):
    def getbands(self) -> tuple[str, ...]: ...


class Array(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class HasRunId(Protocol):
    """A run, the call that created it, or one of its files."""

    @property
    def run_id(self) -> str: ...


class RunOutputReference(TypedDict, total=False):
    """An output of a run, and the frame to use if it is a video: `first` or `last`."""

    run_id: Required[str]
    output_index: int
    frame: str


#: A file to upload.
FileSource = Union["os.PathLike[str]", bytes, bytearray, ReadableFile, PilImage, Array]
#: An image: a URL, base64 or a run ID as text; a file; a run, a file of a run, or a reference to one.
ImageSource = Union[str, FileSource, HasRunId, RunOutputReference]


@dataclass(frozen=True)
class FilePart:
    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class RunImage:
    """A run in a field that takes only a URL."""

    run_id: str
    output_index: int | None


_TEXT = re.compile(r"(?i)https?://|data:|[\da-f]{8}-[\da-f-]{27}$|[\w+/=\s-]*$")


def normalize(value: Any, kind: Any, field: str) -> Any:
    """The value as JSON, with a `FilePart` for each file and a `RunImage` for each run that must become a URL."""
    if isinstance(kind, list) and isinstance(value, (list, tuple)):
        return [normalize(each, kind[0], field) for each in value]
    if isinstance(kind, dict) and isinstance(value, Mapping):
        return {name: normalize(each, kind.get(name), f"{field}.{name}") for name, each in value.items()}
    if kind is None or value is None:
        return list(value) if isinstance(value, tuple) else value
    if isinstance(value, str):
        if kind == "file" or not _TEXT.match(value):
            raise _invalid(field, f"is a URL, base64 or a run ID. Pass pathlib.Path({value[:80]!r}) for a file.")
        return value
    reference = _run_reference(value)
    if reference is None or kind == "file":
        return read_file(value, field)
    if kind == "url":
        return RunImage(reference["run_id"], reference.get("output_index"))
    return reference["run_id"] if len(reference) == 1 else reference


def _run_reference(value: Any) -> dict[str, Any] | None:
    if isinstance(value, Mapping):
        return {name: each for name, each in value.items() if each is not None}
    run_id = getattr(value, "run_id", None)
    if not isinstance(run_id, str):
        return None
    index = getattr(value, "output_index", None)
    return {"run_id": run_id} if index is None else {"run_id": run_id, "output_index": index}


def read_file(value: Any, field: str) -> FilePart:
    if isinstance(value, os.PathLike):
        with open(value, "rb") as file:
            return FilePart(os.path.basename(os.fspath(value)), file.read())
    if isinstance(value, (bytes, bytearray, memoryview)):
        return FilePart("image", bytes(value))
    if hasattr(value, "getbands"):
        return FilePart("image.png", _to_png(value))
    if hasattr(value, "__array_interface__"):
        return FilePart("image.png", _to_png(_from_array(value)))
    content = value.read() if hasattr(value, "read") else None
    if not isinstance(content, bytes):
        kinds = "a path, bytes, a binary file, a PIL image, a numpy array or a run"
        raise _invalid(field, f"must be {kinds}, not {type(value).__name__}.")
    return FilePart(os.path.basename(str(getattr(value, "name", ""))) or "image", content)


def _to_png(image: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _from_array(array: Any) -> Any:
    """Booleans and numbers from 0 to 1 become 0 to 255, as masks and tensors have them."""
    from PIL import Image

    if array.dtype.kind in "bf":
        array = (array.astype("float64").clip(0, 1) * 255).round().astype("uint8")
    return Image.fromarray(array)


def holds_file(values: Mapping[str, Any], kinds: Mapping[str, Any]) -> bool:
    """Whether a form is needed: for a file in a field of its own, or in a list."""
    parts = [(name, part) for name, value in values.items() for part in (value if isinstance(value, list) else [value])]
    return any(isinstance(part, FilePart) and name in kinds for name, part in parts)


def _invalid(field: str, message: str) -> ValidationError:
    error = {"path": f"/{field}", "code": "invalid_type", "message": message}
    return ValidationError(f"{field} {message}", code="validation_error", details={"errors": [error]})
