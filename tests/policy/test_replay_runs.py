"""Runs of every kind replay to their own verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.evidence.replay import replay
from planner.policy.signing import build_bundle
from planner.report.replay import replay_text
from tests.policy.bundling import key_pair
from tests.policy.runs import archive_of, planned, project, records
from tests.projects import CHAT, PLATFORM, changed

ABROAD = changed(CHAT, pin={"deployment_type": "GlobalStandard"})
NOWHERE = changed(CHAT, pin={"deployment_type": "DataZoneProvisionedManaged"})
"""Nobody names the countries of that zone."""
BATCH = changed(CHAT, name="digest", tier="batch", classification="public")


@pytest.mark.parametrize(
    ("workloads", "platform", "verdicts"),
    [
        ([CHAT], PLATFORM, {"allow", "warn"}),
        ([ABROAD], PLATFORM, {"deny"}),
        ([CHAT, BATCH], changed(PLATFORM, budget_usd_per_month=1.0), {"deny"}),
        ([NOWHERE], PLATFORM, {"unavailable"}),
        ([changed(CHAT, pin={"kind": "self_hosted"})], PLATFORM, {"allow", "warn"}),
    ],
)
def test_a_run_replays_to_its_verdict(
    tmp_path: Path, workloads: list[Any], platform: Any, verdicts: set[str], opa: str
) -> None:
    out = planned(project(tmp_path, *workloads, platform=platform))
    (record,) = records(out)
    assert record["verdict"] in verdicts
    found = replay(archive_of(out), opa=opa)
    assert (found.verdict, found.stands) == (record["verdict"], True), replay_text(found)


def test_a_trace_replays_as_well(tmp_path: Path, opa: str) -> None:
    out = planned(project(tmp_path, changed(CHAT, models=[{"name": "gpt-4o"}])), trace=True)
    (record,) = records(out)
    assert len(record["findings"]) == sum(record["counts"]["verdicts"].values())
    assert record["findings_told"] == "all"
    assert replay(archive_of(out), opa=opa).stands


def test_an_update_replays_as_an_update(tmp_path: Path, opa: str) -> None:
    out = planned(project(tmp_path), operation="update")
    assert records(out)[0]["operation"] == "update"
    assert replay(archive_of(out), opa=opa).stands


def test_a_run_on_a_signed_bundle_replays(tmp_path: Path, opa: str) -> None:
    pair = key_pair(tmp_path / "keys")
    root = project(
        tmp_path / "p",
        platform=changed(PLATFORM, policy={"bundle": "b.tar.gz", "verification_key": "public.pem"}),
    )
    build_bundle(root / "policies", root / "b.tar.gz", pair.private, opa=opa)
    (root / "public.pem").write_bytes(pair.public.read_bytes())
    out = planned(root)
    (record,) = records(out)
    assert record["policy"]["signed"] is True
    found = replay(archive_of(out), opa=opa)
    assert found.stands, replay_text(found)


def test_a_record_names_the_plan_it_was_compared_with(tmp_path: Path, opa: str) -> None:
    root = project(tmp_path)
    plan = (planned(root) / "plan.json").read_text()
    (root / "approved.json").write_text(plan)
    out = planned(root, baseline="approved.json")
    first, second = records(out)
    assert first["baseline_digest"] is None
    assert second["baseline_digest"] == first["capacity_digest"]
    assert second["previous"] == first["decision_id"]
    assert replay(out, opa=opa).stands


def test_a_run_on_a_central_server_is_asked_again_with_the_planners_policies(
    tmp_path: Path, central_opa: Callable[..., str], opa: str
) -> None:
    root = project(tmp_path)
    out = planned(root, policy_url=central_opa("--bundle", str(root / "policies")))
    (record,) = records(out)
    assert record["policy"]["engine"] == "opa, central"
    assert record["policy"]["data_digest"] is None
    found = replay(archive_of(out), opa=opa)
    assert found.stands, replay_text(found)
    assert "decided by a central server" in replay_text(found)
    assert "policy not checked" in replay_text(found)
