"""The policy pack of this project; see docs/policy-pack.md."""

from __future__ import annotations

from pathlib import Path

from planner.pack.analyzer import serve

serve(Path(__file__).resolve().parent)
