"""Planned stacks to compare, each planned once a session."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.running import StackRun, run_stack
from tests.policy.conftest import opa
from tests.projects import copy_program

AT = "2026-11-29"

Edit = tuple[str, str, str]
"""A file of the stack's folder, and a text in it to replace."""

Planned = Callable[..., StackRun]

# Hooks and configuration of whoever runs the tests must not decide.
GIT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "test"),
            ("EMAIL", "test@example.com"),
            ("DATE", "2026-11-29T00:00:00Z"),
        )
    },
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], env=GIT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def edited(folder: Path, stack: str, *edits: Edit) -> Path:
    """Change files of a stack; an empty old text appends."""
    for name, old, new in edits:
        path = folder / "stacks" / stack / name
        text = path.read_text() if path.exists() else ""
        changed = re.sub(old, lambda _, new=new: new, text) if old else text + new
        assert changed != text, (name, old)
        path.write_text(changed)
    return folder


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, opa: str) -> Path:
    """The program and its input, as committed on branch `main` of a repository of its own."""
    folder = copy_program(tmp_path_factory.mktemp("base") / "program")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / ".gitignore").write_text("/out/\n")
    commit(folder, "as declared")
    return folder


@pytest.fixture
def clone(program: Path, tmp_path: Path) -> Path:
    """A copy of the repository that a test may change."""
    folder = tmp_path / "clone"
    shutil.copytree(program, folder)
    return folder


@pytest.fixture(scope="session")
def planned(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """`planned(stack, *edits)`: the run of a stack, with texts of its files replaced."""
    runs: dict[tuple[object, ...], StackRun] = {}

    def plan(stack: str, *edits: Edit) -> StackRun:
        key = (stack, *edits)
        if key not in runs:
            folder = tmp_path_factory.mktemp("edited") / "program"
            shutil.copytree(program, folder)
            runs[key] = run_stack(edited(folder, stack, *edits), stack, at=AT, write=False)
        return runs[key]

    return plan


PEAK: Edit = (
    "adviser-assist.yaml",
    r"p90: 341272, p99: 387858, peak: 400419",
    "p90: 443654, p99: 504216, peak: 520545",
)
"""Adviser-assist with the upper end of its demand 30% higher: 1.3 x 341,272 and so on."""

PRICE: Edit = (
    "platform.yaml",
    "",
    "rates:\n"
    "  - {kind: provisioned, provider: azure, deployment_type: ProvisionedManaged, "
    "region: australiaeast, term_months: 0, usd_per_unit_month: 1600, date: 2026-11-01, "
    "ref: offer 7}\n",
)
"""A unit for USD 1,600 a month in place of the catalog's 1,460."""

PINNED: Edit = ("adviser-assist.yaml", "", "pin: {deployment_type: GlobalStandard}\n")
"""A pin that residency denies: prompts may go anywhere."""

__all__ = ["AT", "PEAK", "PINNED", "PRICE", "Planned", "commit", "edited", "git", "opa"]
