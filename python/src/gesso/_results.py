"""What the API returns, as frozen dataclasses. A field that a newer server adds is in `to_dict()`."""

from __future__ import annotations

import dataclasses
import keyword
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import Self




class Result:
    """Superclass of all results."""

    #: How to read the fields that hold other results: by their class, in a list for lists, in a dict for mappings.
    _parts: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The result for the JSON of a response. Fields that are missing are None."""
        names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        values = {name: _read(cls._parts.get(name), data.get(wire_name(name))) for name in names}
        result = cls(**values)
        object.__setattr__(result, "_data", data)
        return result

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the response."""
        return dict(self.__dict__.get("_data", {}))


def wire_name(name: str) -> str:
    """Names of the API are unchanged, except that `from` and other keywords of Python get an underscore: `from_`."""
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _read(part: Any, value: Any) -> Any:
    if isinstance(part, list) and isinstance(value, list):
        return [_read(part[0], each) for each in value]
    if isinstance(part, dict) and isinstance(value, dict):
        return {key: _read(part["*"], each) for key, each in value.items()}
    if isinstance(part, type) and isinstance(value, dict) and issubclass(part, Result):
        return part.from_dict(value)
    return value
