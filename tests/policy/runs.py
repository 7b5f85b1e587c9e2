"""Projects with policies of their own, planned, for the tests of what a run leaves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from planner.api import plan_stack
from planner.policy.bundle import policies_folder
from tests.policy.waiving import APPROVERS, BUDGET, DAYS, signed
from tests.projects import CHAT, PLATFORM, changed

AT = "2026-12-01T12:00:00Z"
WAIVED = {
    "id": "WVR-2026-020",
    "rule": "BUD-001",
    "subject": "stack",
    "scope": {"stack": "s"},
    "approver": "budget-owner",
}
OVER_BUDGET = changed(PLATFORM, budget_usd_per_month=1.0)


def project(root: Path, *workloads: dict[str, Any], platform: dict[str, Any] | None = None) -> Path:
    """Write a stack named ``s`` with a copy of the policies, and return its root."""
    folder = root / "stacks" / "s"
    folder.mkdir(parents=True)
    (folder / "platform.yaml").write_text(json.dumps(platform or PLATFORM))
    for workload in workloads or (CHAT,):
        (folder / f"{workload['name']}.yaml").write_text(json.dumps(workload, indent=1))
    shutil.copytree(policies_folder(), root / "policies", ignore=shutil.ignore_patterns("waivers"))
    (root / "policies" / "waivers").mkdir()
    owners = root / "policies/llm_capacity/facts/waiver_owners/data.json"
    owners.write_text(json.dumps({"max_days": DAYS, "approvers": APPROVERS}))
    return root


def waived(root: Path) -> Path:
    """Write a project that is over its budget, with a signed waiver for it."""
    made = project(root, platform=OVER_BUDGET)
    signed(made / "policies" / "waivers", key=BUDGET, **WAIVED)
    return made


def planned(root: Path, **changes: Any) -> Path:
    """Plan the stack and return the folder of what the run left."""
    plan_stack(root, "s", **{"at": AT, **changes})
    return root / "out" / "s"


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "policy-record.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def archive_of(folder: Path, number: int = -1) -> Path:
    """Return the archive of a record of the folder."""
    id = records(folder)[number]["decision_id"].removeprefix("sha256:")
    return folder / "archive" / f"{id}.tar.gz"
