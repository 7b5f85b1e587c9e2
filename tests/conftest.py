"""A throw-away project: stack files from plain data, policies of the clone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.installed import Installed, install
from tests.projects import PLATFORM

Project = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """`project(*workloads, platform=...)`: write a stack named `s`, return its root."""

    def make(*workloads: dict[str, Any], platform: dict[str, Any] | None = None) -> Path:
        folder = tmp_path / "stacks" / "s"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "platform.yaml").write_text(json.dumps(platform or PLATFORM))
        for number, workload in enumerate(workloads):
            # JSON is YAML: what the loader reads is what the test wrote.
            name = workload.get("name", number)
            (folder / f"w-{name}.yaml").write_text(json.dumps(workload, indent=1))
        return tmp_path

    return make


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of this clone in an environment of its own, built once."""
    return install(tmp_path_factory.mktemp("installed"))
