from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from planner.catalog import loader
from planner.catalog.loader import Catalog, load_catalog

_parse_once = cache(loader.read_yaml)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the catalog's data that a test may damage; unchanged YAML is parsed once."""
    monkeypatch.setattr(loader, "read_yaml", _parse_once)
    target = tmp_path / "data"
    with as_file(files("planner.catalog") / "data") as source:
        shutil.copytree(source, target)
    return target


@pytest.fixture
def edit(data: Path) -> Callable[[str, str, str], int]:
    """Replace the first occurrence of a text in a file; return the line of it."""

    def replace(name: str, old: str, new: str) -> int:
        path = data / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    return replace
