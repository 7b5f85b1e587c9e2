"""The import rules of the design hold; `make check` runs the same contracts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_import_contracts_are_kept() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout
    assert "0 broken" in answer.stdout


def test_importing_the_planner_needs_neither_pulumi_nor_a_cloud_sdk() -> None:
    code = "import sys, planner.cli; print(sorted(m for m in sys.modules if 'pulumi' in m))"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
