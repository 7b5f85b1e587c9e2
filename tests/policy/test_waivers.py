"""Waivers: what counts, when, and for what; and what never does."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options, gate_plan
from planner.policy.waivers import Waiver, WaiverBook, expiring, liveness, load_waivers

FIELDS: dict[str, Any] = {
    "id": "WVR-2026-014",
    "rule": "MOD-001",
    "subject": "chat",
    "scope": {"stack": "prod", "model": "gpt-5.9"},
    "approver": "head of AI risk",
    "ticket": "RISK-1203",
    "reason": "Approval is on the agenda of the committee.",
    "granted": "2026-11-20",
    "expires": "2026-12-31",
}


def waiver(**changes: Any) -> Waiver:
    return Waiver.model_validate({**FIELDS, **changes})


def book(**changes: Any) -> WaiverBook:
    return WaiverBook(waivers=(waiver(**changes),))


def write(folder: Path, name: str, **changes: Any) -> None:
    rows = {key: value for key, value in {**FIELDS, **changes}.items() if value is not ...}
    lines = [f"{key}: {value}" for key, value in rows.items() if key != "scope"]
    scope = "".join(f"\n  {key}: {value}" for key, value in rows.get("scope", {}).items())
    lines += [f"scope:{scope}"] if scope else []
    (folder / name).write_text("\n".join(lines) + "\n")


def judged(engine: PolicyEngine, make: SimpleNamespace, waivers: WaiverBook, **option: Any) -> Any:
    options = [make.option(**{"model": "gpt-5.9", **option})]
    return gate_options(engine, make.question(options), options, waivers)[options[0].id]


def test_a_live_waiver_makes_a_denial_a_warning_and_keeps_it(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    assert judged(engine, make, WaiverBook()).verdict == "deny"
    verdict = judged(engine, make, book())
    assert verdict.verdict == "warn"
    (found,) = verdict.findings
    assert (found.verdict, found.raw_verdict) == ("warn", "deny")
    assert found.waiver is not None
    assert found.waiver.id == "WVR-2026-014"
    assert found.waiver.expires == "2026-12-31T00:00:00+00:00"
    assert found.waiver.scope == {"stack": "prod", "model": "gpt-5.9"}


@pytest.mark.parametrize(
    "changes",
    [
        {"expires": "2026-12-01"},
        {"expires": "2026-12-01T12:00:00Z"},
        {"granted": "2026-12-02", "expires": "2027-01-31"},
        {"subject": "other"},
        {"rule": "TPP-001"},
        {"scope": {"stack": "dev", "model": "gpt-5.9"}},
        {"scope": {"stack": "prod", "model": "gpt-5.8"}},
        {"scope": {"stack": "prod", "model": "gpt-5.9", "region": "eastus"}},
    ],
    ids=str,
)
def test_a_waiver_for_something_else_changes_nothing(
    engine: PolicyEngine, make: SimpleNamespace, changes: dict[str, Any]
) -> None:
    assert judged(engine, make, book(**changes)) == judged(engine, make, WaiverBook())


def test_a_waiver_changes_its_own_finding_only(engine: PolicyEngine, make: SimpleNamespace) -> None:
    own = {"deployment_type": "GlobalStandard", "scope": "global", "jurisdictions": None}
    verdict = judged(engine, make, book(), **own)
    assert verdict.verdict == "deny"
    assert {found.rule_id: found.verdict for found in verdict.findings} == {
        "RES-001": "deny",
        "MOD-001": "warn",
    }


def test_what_is_unavailable_cannot_be_waived(engine: PolicyEngine, make: SimpleNamespace) -> None:
    scope = {"stack": "prod", "kind": "payg"}
    document = make.question([make.option()])
    document["options"][0]["model"] = None
    verdict = gate_options(engine, document, [make.option()], book(scope=scope))["chat/payg"]
    assert verdict.verdict == "unavailable"


def test_residency_cannot_be_waived_even_by_hand(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    forged = waiver().model_copy(update={"rule": "RES-001", "scope": {"stack": "prod"}})
    own = WaiverBook.model_construct(waivers=(forged,))
    verdict = judged(engine, make, own, model="gpt-4.1-mini", jurisdictions=("US",))
    assert verdict.verdict == "deny"


def test_plan_findings_are_waived_by_workload_and_by_stack(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    document = make.plan(make.decision(exit_plan=None), total_usd_per_month=6000.0)
    assert [found.rule_id for found in gate_plan(engine, document)] == ["BUD-001", "EXI-001"]
    both = WaiverBook(
        waivers=(
            waiver(rule="EXI-001", scope={"stack": "prod", "provider": "azure"}),
            waiver(id="WVR-2", rule="BUD-001", subject="stack", scope={"stack": "prod"}),
        )
    )
    findings = gate_plan(engine, document, both)
    assert [(found.rule_id, found.verdict) for found in findings] == [
        ("BUD-001", "warn"),
        ("EXI-001", "warn"),
    ]


@pytest.mark.parametrize(
    ("at", "state"),
    [
        ("2026-11-19T23:59:59+00:00", "not yet granted"),
        ("2026-11-20T00:00:00+00:00", "live"),
        ("2026-12-30T23:59:59+00:00", "live"),
        ("2026-12-31T00:00:00+00:00", "expired"),
        ("2026-12-31T09:00:00+10:00", "live"),
    ],
)
def test_liveness(at: str, state: str) -> None:
    assert liveness(waiver(), dt.datetime.fromisoformat(at)) == state


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"expires": "whenever"}, "expires"),
        ({"expires": "2027-02-30"}, "expires"),
        ({"expires": "2026-12-31T12:00:00"}, "needs its zone"),
        ({"expires": 20261231}, "write a date"),
        ({"expires": ...}, "expires: Field required"),
        ({"approver": ...}, "approver: Field required"),
        ({"ticket": "''"}, "ticket"),
        ({"reason": "because"}, "reason"),
        ({"extra": 1}, "extra"),
        ({"id": "x"}, "id"),
        ({"rule": "'*'"}, "rule"),
        ({"rule": "RES-001"}, "residency cannot be waived"),
        ({"subject": "'*'"}, "too broad"),
        ({"subject": "all"}, "too broad"),
        ({"scope": {"stack": "prod"}}, "too broad"),
        ({"scope": {"model": "m"}}, "too broad"),
        ({"scope": {"stack": "'*'", "model": "m"}}, "too broad"),
        ({"scope": {"stack": "prod", "model": "'gpt-*'"}}, "too broad"),
        ({"scope": {"stack": "prod", "moodel": "m"}}, "scope names moodel"),
        ({"scope": {}}, "scope: Field required"),
        ({"granted": "2026-12-31"}, "expire after it is granted"),
        ({"expires": "2028-01-01"}, "within 366 days"),
    ],
    ids=str,
)
def test_files_that_do_not_count_are_reported(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    write(tmp_path, "bad.yaml", **changes)
    write(tmp_path, "good.yml", id="WVR-1")
    found = load_waivers(tmp_path)
    assert [row.id for row in found.waivers] == ["WVR-1"]
    assert [row.file for row in found.rejected] == ["bad.yaml"]
    assert told in found.rejected[0].reason


@pytest.mark.parametrize(
    "text", ["", "- a\n", "{", "id: 1\nid: 2\n", "a: &x 1\nb: !!python/object:os.system {}\n"]
)
def test_files_that_are_no_waiver(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    found = load_waivers(tmp_path)
    assert found.waivers == ()
    assert len(found.rejected) == 1


def test_an_id_given_twice_counts_for_neither(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        write(tmp_path, name)
    found = load_waivers(tmp_path)
    assert found.waivers == ()
    assert {row.file for row in found.rejected} == {"a.yaml", "b.yaml", "c.yaml"}


def test_no_folder_no_waivers(tmp_path: Path) -> None:
    assert load_waivers(tmp_path / "none") == WaiverBook()


def test_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("text")
    assert load_waivers(tmp_path) == WaiverBook()


def test_expiring_within_thirty_days() -> None:
    at = dt.datetime(2026, 12, 1, tzinfo=dt.UTC)
    assert [row.id for row in expiring(book(), at)] == ["WVR-2026-014"]
    assert expiring(book(), dt.datetime(2026, 11, 21, tzinfo=dt.UTC)) == ()
    assert expiring(book(), dt.datetime(2027, 1, 1, tzinfo=dt.UTC)) == ()
