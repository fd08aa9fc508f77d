"""What all tests share: a client of the running Gesso that GESSO_URL and GESSO_API_KEY name, and a small image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from gesso import Gesso


@pytest.fixture(scope="session")
def client() -> Iterator[Gesso]:
    with Gesso() as client:
        yield client


@pytest.fixture(scope="session")
def image() -> Image.Image:
    return Image.new("RGB", (48, 32), "#c33")


@pytest.fixture(scope="session")
def path(image: Image.Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("images") / "red.png"
    image.save(path)
    return path
