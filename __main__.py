"""The Pulumi program of this project; what it does is in planner/program.py."""

from __future__ import annotations

from pathlib import Path

from planner.program import run

run(Path(__file__).parent)
