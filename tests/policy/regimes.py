"""The regimes of policy data, and the papers that they ask for."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from planner.declared.terms import Agreement
from planner.policy.bundle import policies_folder

FACTS = policies_folder() / "llm_capacity/facts"
PROFILES: dict[str, Any] = json.loads((FACTS / "regimes/data.json").read_text())["regimes"]
NAMES = sorted(PROFILES)


def paper(kind: str, provider: str | None = "azure", *countries: str, **more: Any) -> Agreement:
    """Return an agreement of the day of the question, unless ``more`` says another."""
    fields = {"date": dt.date(2026, 12, 1), "ref": "LEGAL-1", **more}
    return Agreement.model_validate(
        {"kind": kind, "provider": provider, "countries": countries, **fields}
    )
