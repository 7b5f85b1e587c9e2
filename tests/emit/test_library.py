"""What others import: components with their arguments, and no Pulumi until one is used."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pulumi
import pytest

import planner.emit


@pytest.mark.parametrize("name", planner.emit.__all__)
def test_everything_named_is_there_and_documented(name: str) -> None:
    found = getattr(planner.emit, name)
    assert found.__doc__
    if isinstance(found, type) and issubclass(found, pulumi.ComponentResource):
        arguments = getattr(planner.emit, f"{name}Args")
        assert dataclasses.is_dataclass(arguments)


def test_what_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = planner.emit.nothing


def test_reading_a_plan_takes_no_pulumi() -> None:
    program = "import sys, planner.emit, planner.emit.grouping; print('pulumi' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
