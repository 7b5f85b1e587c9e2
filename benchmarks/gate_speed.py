"""How long the gate takes for every option of many workloads, with the real engine.

    python -m benchmarks.gate_speed

Two sizes: 50 workloads and 1,000 workloads of 100 options each, under four regimes, each
workload with evaluations of its own. The server is up before the clock starts. Given apart:
its start, the document, the engine's part of the gate, the reading of every finding, and the
same question with every option asked about on its own. Seconds are the best of three runs;
``cpu`` ones are of the processor, which other work on the machine does not slow as much.
Prints JSON; the exit code is 1 when a bar is missed.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from planner.catalog.rows import CONCERNS, Concern
from planner.declared.terms import Agreement
from planner.option import Option, SpillTarget
from planner.policy.answer import Answer
from planner.policy.document import Terms, options_document
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.sharing import share
from planner.workload import Workload

NOW = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)
BARS_SECONDS = {50: 0.5, 1000: 5.0}
UNSHARED_UP_TO = 50
RUNS = 3

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
MONTHS = (0, 1, 12, 36, 60)
TERMS = Terms(
    regimes=("AU_APRA_CPS_230", "AU_APRA_CPS_234", "EU_DORA", "EU_GDPR"),
    agreements=tuple(
        Agreement(kind=kind, provider="azure", workload=name, date=dt.date(2026, 6, 1), ref="r")
        for kind, name in (
            ("transfer_tool", None),
            ("location_clause", "workload-1"),
            ("control_evidence", "workload-2"),
        )
    ),
)


def workload(index: int) -> Workload:
    """Return a workload; every 48th has the same profile, and none the same evaluations."""
    classification, residency, tier, critical = PROFILES[index % len(PROFILES)]
    evaluation = {
        "suite": "task",
        "score": 0.7 + index % 30 / 100,
        "threshold": 0.8,
        "date": NOW.date() - dt.timedelta(days=index % 500),
        "ref": f"eval/{index}",
    }
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
            "models": tuple({"name": model, "evaluation": evaluation} for model in MODELS),
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
        itertools.product(PLACES, MODELS, MONTHS)
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


def around(option: Option) -> dict[Concern, Any]:
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


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the seconds that ``work`` takes, those of our own processor, and its result."""
    start, own = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - start, time.process_time() - own, result


def measure(engine: PolicyEngine, count: int) -> dict[str, Any]:
    """Return the figures for one number of workloads."""
    workloads = [workload(index) for index in range(count)]
    found = [option for row in workloads for option in options(row.name)]
    facts = {option.id: around(option) for option in found}
    document_seconds, _, document = timed(
        lambda: options_document(
            workloads,
            found,
            stack="bench",
            as_of=NOW.date(),
            evaluated_at=NOW,
            groups={"EU": ("DE", "FR", "SE")},
            beyond_inference=facts,
            terms=TERMS,
        )
    )
    best: dict[str, float] = {}
    for _ in range(RUNS):
        asked = Watched(engine)
        seconds, own, verdicts = timed(lambda: gate_options(asked, document, found))  # noqa: B023
        reading, _, findings = timed(lambda: sum(len(row.findings) for row in verdicts.values()))  # noqa: B023
        run = {
            "gate_seconds": seconds,
            "gate_cpu_seconds": own + asked.cpu,
            "engine_seconds": asked.seconds,
            "engine_cpu_seconds": asked.cpu,
            "planner_cpu_seconds": own,
            "findings_seconds": reading,
        }
        best = {name: min(value, best.get(name, value)) for name, value in run.items()}
    parts = share(document, engine.reads).document["parts"]
    row: dict[str, Any] = {
        "workloads": count,
        "options": len(found),
        "options_asked": {" ".join(part["rules"]): len(part["options"]) for part in parts},
        "findings": findings,
        "document_seconds": round(document_seconds, 3),
        **{name: round(value, 3) for name, value in best.items()},
        "bar_seconds": BARS_SECONDS[count],
        "ratio_to_bar": round(best["gate_seconds"] / BARS_SECONDS[count], 3),
    }
    if count <= UNSHARED_UP_TO:
        alone, _, same = timed(lambda: gate_options(Unshared(engine), document, found))
        row |= {
            "unshared_seconds": round(alone, 3),
            "times_faster": round(alone / best["gate_seconds"], 1),
            "same_verdicts_and_findings": same == verdicts,
        }
    return row


class Watched:
    """The same engine, which notes how long it takes to answer."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.reads = engine.reads
        self._engine = engine
        self.seconds = self.cpu = 0.0

    def ask(self, document: Mapping[str, Any]) -> Answer:
        """Return the engine's answer."""
        used = self._used()
        self.seconds, _, answer = timed(lambda: self._engine.ask(document))
        self.cpu = self._used() - used
        found: Answer = answer
        return found

    def _used(self) -> float:
        """Return the server's processor time so far; 0 where the system does not tell."""
        server = self._engine.server
        stat = Path(f"/proc/{server.pid if server else None}/stat")
        if not stat.exists():
            return 0.0
        # User and system time in ticks, counted after the name, which may hold blanks.
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Unshared:
    """The same engine, asked about every option on its own."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.ask = engine.ask


def main() -> int:
    """Measure both sizes and say whether the bars hold."""
    start = time.perf_counter()
    with PolicyEngine(timeout_seconds=600) as engine:
        started = time.perf_counter() - start
        rows = [measure(engine, count) for count in BARS_SECONDS]
    print(json.dumps({"server_start_seconds": round(started, 3), "gates": rows}, indent=2))
    fast = all(row["gate_seconds"] < row["bar_seconds"] for row in rows)
    return 0 if fast and all(row.get("same_verdicts_and_findings", True) for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
