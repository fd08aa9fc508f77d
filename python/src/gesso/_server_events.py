"""Parses event streams (SSE)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator


class EventParser:
    """Collects chunks of bytes and returns the messages that they complete, as pairs of ID and data."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    def feed(self, chunk: bytes) -> Iterator[tuple[str | None, str | None]]:
        *blocks, self._rest = re.split(r"\r?\n\r?\n", self._rest + self._decode(chunk))
        for block in blocks:
            fields: dict[str, list[str]] = {}
            for line in re.split(r"\r?\n", block):
                name, _, value = line.partition(":")
                fields.setdefault(name, []).append(value.removeprefix(" "))
            yield fields.get("id", [None])[-1], "\n".join(fields["data"]) if "data" in fields else None
