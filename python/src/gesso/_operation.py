"""An operation of the API as the generated code describes it, and the HTTP request that an input of it becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict
from urllib.parse import quote, urlencode

from ._results import wire_name
from ._sources import FilePart, holds_file, normalize


class CallOptions(TypedDict, total=False):
    """Options of one call; they override those of the client."""

    timeout: float
    """Seconds to wait for the response. Default: 60; 150 with `sync=True`"""
    max_retries: int
    """Retries after a temporary failure. Default: 2"""
    headers: Mapping[str, str]
    strict: bool
    """Rejects fields that the model does not support, instead of warning"""


@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str
    #: `json`, `form`, both or none.
    bodies: tuple[str, ...] = ()
    #: The fields with images, by name: `inline`, `url` or `file`, in a list for lists, in a dict for objects.
    images: Mapping[str, Any] = field(default_factory=dict)
    path_fields: tuple[str, ...] = ()
    #: Fixed values, and defaults of fields that only JSON bodies require.
    sets: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def takes_key(self) -> bool:
        return self.method == "POST" and bool(self.bodies)


@dataclass(frozen=True)
class PreparedInput:
    """`values` are ready to be sent, except for files, and for runs where the API takes only a URL."""

    path: str
    values: dict[str, Any]
    is_form: bool


def prepare(operation: Operation, given: Mapping[str, Any]) -> PreparedInput:
    named = {**operation.defaults, **{wire_name(name): value for name, value in given.items()}, **operation.sets}
    path = operation.path
    for name in operation.path_fields:
        path = path.replace(f"{{{name}}}", quote(str(named.pop(name)), safe=""))
    values = {name: normalize(value, operation.images.get(name), name) for name, value in named.items()}
    if operation.method in ("GET", "DELETE"):
        query = {name: _to_text(value) for name, value in values.items() if value is not None}
        return PreparedInput(path + (f"?{urlencode(query)}" if query else ""), {}, False)
    is_form = "form" in operation.bodies and ("json" not in operation.bodies or holds_file(values, operation.images))
    return PreparedInput(path, values, is_form)




def form_entries(operation: Operation, values: Mapping[str, Any]) -> list[tuple[str, tuple[str | None, bytes]]]:
    entries: list[tuple[str, tuple[str | None, bytes]]] = []
    for name, value in values.items():
        is_image_list = isinstance(value, list) and operation.images.get(name) in (["inline"], ["url"])
        for each in value if is_image_list else [value]:
            part = (each.name, each.content) if isinstance(each, FilePart) else (None, _to_text(each).encode())
            entries.append((name, part))
    return entries


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
