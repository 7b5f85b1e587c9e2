"""How long the gate takes for every option of many workloads, with the real engine.

    python -m benchmarks.gate_speed

Two sizes: 50 workloads and 1,000 workloads of 100 options each. The server is up before the
clock starts; its start is given apart, and so are the document and the same question with
every option asked about on its own. Prints JSON; the exit code is 1 when a bar is missed.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import time
from collections.abc import Callable
from typing import Any

from planner.catalog.rows import CONCERNS
from planner.options import Option, SpillTarget
from planner.policy.document import options_document
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.sharing import share
from planner.workload import Workload

NOW = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)
OPTIONS_EACH = 100
BARS_SECONDS = {50: 0.5, 1000: 5.0}
UNSHARED_UP_TO = 50

PROFILES = tuple(
    itertools.product(
        ("internal", "confidential", "restricted"),
        (("AU",), ("AU", "NZ"), ("EU",), ("US",)),
        ("interactive", "batch"),
        (True, False),
    )
)
"""Classification, residency, tier, critical: what a large bank's workloads differ in."""

PLACES: tuple[tuple[str, str, str, tuple[str, ...] | None], ...] = (
    ("australiaeast", "Standard", "country", ("AU",)),
    ("australiaeast", "GlobalStandard", "global", None),
    ("ap-southeast-2", "regional", "region", ("AU",)),
    ("swedencentral", "DataZoneStandard", "zone", ("FR", "DE", "SE", "NO", "CH")),
    ("eastus2", "DataZoneStandard", "zone", ("US",)),
)
MODELS = ("gpt-4.1-mini", "gpt-5.4-mini", "Qwen/Qwen3-32B", "unlisted/model")
TERMS = (0, 1, 12, 36, 60)


def workload(index: int) -> Workload:
    """Return a workload; every 48th has the same profile."""
    classification, residency, tier, critical = PROFILES[index % len(PROFILES)]
    return Workload.model_validate(
        {
            "name": f"workload-{index}",
            "owner": "team",
            "tier": tier,
            "critical": critical,
            "classification": classification,
            "residency": {"jurisdictions": residency},
            "data_asset": "asset",
            "signed_off_by": "data owner",
            "models": tuple({"name": model} for model in MODELS),
            "traffic": {
                "tokens_per_minute": {
                    "p10": 1.0, "p50": 2.0, "p90": 3.0, "p99": 4.0, "peak": 5.0,
                },
                "output_fraction": 0.2,
                "prompt_tokens": {"mean": 800.0, "p50": 700.0, "p95": 1500.0},
                "output_tokens": {"mean": 200.0, "p50": 150.0, "p95": 400.0},
                "max_tokens": 512,
            },
        }
    )  # fmt: skip


def options(name: str) -> list[Option]:
    """Return the workload's hundred options: places, models, terms; half of them spill."""
    found = []
    for number, ((region, sort, scope, countries), model, term) in enumerate(
        itertools.product(PLACES, MODELS, TERMS)
    ):
        place = {
            "provider": "azure",
            "account": "main",
            "region": region,
            "deployment_type": sort,
            "scope": scope,
            "jurisdictions": countries,
            "operator_class": "managed_service",
        }
        found.append(
            Option.model_validate(
                {
                    **place,
                    "id": f"{name}/{number}",
                    "workload": name,
                    "kind": "provisioned",
                    "model": model,
                    "hardware": None,
                    "term_months": term,
                    "spill": SpillTarget.model_validate(place) if number % 2 else None,
                    "pinned": False,
                }
            )
        )
    return found


def around(option: Option) -> dict[str, Any]:
    """Return the places beyond inference: telemetry unknown, the rest in the country."""
    roles = ["option", "spill target"] if option.spill else ["option"]
    return {
        concern: [
            {
                "role": role,
                "place": "unknown" if concern == "telemetry" else "geography",
                "countries": None if concern == "telemetry" else option.jurisdictions or ("US",),
                "as_of": NOW.date(),
            }
            for role in roles
        ]
        for concern in CONCERNS
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that ``work`` takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure(engine: PolicyEngine, count: int) -> dict[str, Any]:
    """Return the figures for one number of workloads."""
    workloads = [workload(index) for index in range(count)]
    found = [option for row in workloads for option in options(row.name)]
    facts = {option.id: around(option) for option in found}
    document_seconds, document = timed(
        lambda: options_document(
            workloads,
            found,
            stack="bench",
            as_of=NOW.date(),
            evaluated_at=NOW,
            groups={"EU": ("DE", "FR", "SE")},
            beyond_inference=facts,
        )
    )
    seconds, verdicts = timed(lambda: gate_options(engine, document, found))
    asked = len(share(document, engine.reads).document["options"])
    row: dict[str, Any] = {
        "workloads": count,
        "options": len(found),
        "options_asked": asked,
        "findings": sum(len(verdict.findings) for verdict in verdicts.values()),
        "document_seconds": round(document_seconds, 3),
        "gate_seconds": round(seconds, 3),
        "bar_seconds": BARS_SECONDS[count],
        "ratio_to_bar": round(seconds / BARS_SECONDS[count], 3),
    }
    if count <= UNSHARED_UP_TO:
        alone, same = timed(lambda: gate_options(Unshared(engine), document, found))
        row |= {
            "unshared_seconds": round(alone, 3),
            "times_faster": round(alone / seconds, 1),
            "same_verdicts_and_findings": same == verdicts,
        }
    return row


class Unshared:
    """The same engine, asked about every option on its own."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.ask = engine.ask


def main() -> int:
    """Measure both sizes and say whether the bars hold."""
    start = time.perf_counter()
    with PolicyEngine(timeout_seconds=120) as engine:
        started = time.perf_counter() - start
        rows = [measure(engine, count) for count in BARS_SECONDS]
    print(json.dumps({"server_start_seconds": round(started, 3), "gates": rows}, indent=2))
    fast = all(row["gate_seconds"] < row["bar_seconds"] for row in rows)
    return 0 if fast and all(row.get("same_verdicts_and_findings", True) for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
