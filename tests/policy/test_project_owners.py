"""A project's own owner list: who holds a role, never which role may waive what."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.api import read_waivers
from planner.errors import InputError
from planner.evidence.packing import packed, sha256_of, unpacked
from planner.evidence.replay import replay
from planner.policy.bundle import VerificationKey, read_bundle
from planner.policy.project_owners import owners_of
from planner.policy.waiver_files import load_waivers
from planner.policy.waiver_owners import waivable_rules
from planner.report.waivers import waivers_document, waivers_text
from tests.policy.runs import OVER_BUDGET, WAIVED, archive_of, planned, project, records
from tests.policy.test_waivers_owners import bundle_with
from tests.policy.waiving import APPROVERS, BUDGET, DAYS, NOW, RISK, signed, told

LIST: dict[str, Any] = {
    "budget-owner": {"roles": ["budget_owner"], "public_key": BUDGET.public_pem},
    "risk": {"roles": ["ai_risk", "security"], "git_login": "risk-owner"},
}


def listed(folder: Path, approvers: Any = LIST) -> Path:
    """Write the list as a project holds it; JSON is YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "owners.yaml"
    path.write_text(json.dumps({"approvers": approvers}, indent=1))
    return path


@pytest.fixture
def on_defaults(tmp_path: Path) -> Path:
    """A project over its budget that has waivers and no policies: the installed ones apply."""
    root = project(tmp_path / "p", platform=OVER_BUDGET)
    shutil.rmtree(root / "policies")
    listed(root / "policies" / "waivers")
    signed(root / "policies" / "waivers", key=BUDGET, **WAIVED)
    return root


def test_a_waiver_counts_in_a_project_on_the_installed_policies_and_replays(
    on_defaults: Path, opa: str
) -> None:
    (record,) = records(planned(on_defaults))
    assert record["verdict"] == "warn"
    assert [row["id"] for row in record["waivers_used"]] == ["WVR-2026-020"]
    owners = on_defaults / "policies/waivers/owners.yaml"
    assert record["waiver_owners_digest"] == sha256_of(owners.read_bytes())
    kept = unpacked(archive_of(on_defaults / "out/s").read_bytes())
    assert kept["waivers/owners.yaml"] == owners.read_bytes()

    # The answer is that of the run, whoever is listed today.
    listed(on_defaults / "policies/waivers", {})
    found = replay(on_defaults / "out/s", opa=opa)
    assert (found.stands, found.verdict) == (True, "warn")
    again = records(planned(on_defaults))[-1]
    assert (again["verdict"], again["waivers_used"]) == ("deny", [])

    owners.unlink()
    without = records(planned(on_defaults))[-1]
    assert (without["verdict"], without["waiver_owners_digest"]) == ("deny", None)


def test_another_list_in_the_archive_is_forged(on_defaults: Path, opa: str) -> None:
    folder = planned(on_defaults)
    path = archive_of(folder)
    files = unpacked(path.read_bytes())
    files["waivers/owners.yaml"] = b"approvers: {}\n"
    path.write_bytes(packed(files))
    found = replay(folder, opa=opa)
    assert (found.stands, found.verdict) == (False, None)


def test_the_list_is_told_with_the_waivers(on_defaults: Path) -> None:
    book = read_waivers(on_defaults, at=NOW)
    assert [waiver.id for waiver in book.waivers] == ["WVR-2026-020"]
    assert book.rejected == ()
    assert waivers_text(book, NOW).endswith(
        "Who may approve, by policies/waivers/owners.yaml:\n"
        "  budget-owner: budget_owner; by signature\n"
        "  risk: ai_risk, security; by review\n"
    )
    assert waivers_document(book, NOW)["owners"] == {
        "place": "policies/waivers/owners.yaml",
        "digest": book.owners_digest,
        "holders": [
            {"id": "budget-owner", "roles": ("budget_owner",), "ways": ("signature",)},
            {"id": "risk", "roles": ("ai_risk", "security"), "ways": ("review",)},
        ],
    }


def test_it_opens_no_rule_and_lengthens_no_waiver(tmp_path: Path) -> None:
    """Every role there is, and yet: residency stays closed, a role's rule and life its own."""
    bundle = read_bundle()
    rules = waivable_rules(bundle)
    roles = sorted({role for rule in rules.values() for role in rule.waivable_by})
    listed(tmp_path, {"head-of-ai-risk": {"roles": roles, "public_key": RISK.public_pem}})
    owners = owners_of(tmp_path, bundle)
    for rule, days, reason in (
        ("RES-001", "2026-12-01", "RES-001 cannot be waived by anybody"),
        ("MOD-001", "2027-06-01", "a rule of severity high is waived for 90 days at most"),
    ):
        signed(tmp_path, rule=rule, expires=days)
        assert reason in told(load_waivers(tmp_path, rules=rules, owners=owners, at=NOW))
    listed(tmp_path, {"head-of-ai-risk": {"roles": ["security"], "public_key": RISK.public_pem}})
    signed(tmp_path)
    found = load_waivers(tmp_path, rules=rules, owners=owners_of(tmp_path, bundle), at=NOW)
    assert "MOD-001 may be waived by ai_risk" in told(found)


BAD: list[tuple[Any, str, str]] = [
    ({"a": {"roles": ["budget_owners"], "git_login": "x"}}, "E532", "Did you mean budget_owner?"),
    ({"a": {"roles": ["BUD-001"], "git_login": "x"}}, "E532", "no rule may be waived by 'BUD-001'"),
    ({"a": {"roles": [], "git_login": "x"}}, "E109", "approvers.a.roles"),
    ({"a": {"roles": ["ai_risk"]}}, "", "nothing could be approved"),
    ({"a": {"roles": ["ai_risk"], "git_login": "x", "rules": ["RES-001"]}}, "E106", "'rules'"),
    ({"a": {"roles": ["ai_risk"], "public_key": "no key"}}, "E533", "not a public key in PEM"),
    (LIST | {"b": LIST["risk"]}, "E533", "two approvers share a git_login"),
    (LIST | {"RISK": {"roles": ["ai_risk"], "git_login": "c"}}, "E533", "share a id"),
    ([], "", "approvers"),
]


@pytest.mark.parametrize(("approvers", "code", "what"), BAD, ids=[row[2] for row in BAD])
def test_a_list_that_cannot_be_used_stops_the_run(
    tmp_path: Path, approvers: Any, code: str, what: str
) -> None:
    listed(tmp_path, approvers)
    with pytest.raises(InputError) as error:
        owners_of(tmp_path, read_bundle())
    assert what in str(error.value)
    assert "policies/waivers/owners.yaml:" in str(error.value)
    assert not code or {problem.code.id for problem in error.value.problems} == {code}


def test_what_only_the_policies_say_is_an_unknown_key(tmp_path: Path) -> None:
    path = listed(tmp_path)
    path.write_text(json.dumps({"approvers": LIST, "max_days": DAYS}))
    with pytest.raises(InputError, match="unknown key 'max_days'"):
        owners_of(tmp_path, read_bundle())


def test_policies_that_have_approvers_or_a_signature_take_no_second_list(tmp_path: Path) -> None:
    listed(tmp_path)
    signed_ones = replace(read_bundle(), key=VerificationKey("k", "pem", "EdDSA"))
    theirs = bundle_with(facts={"max_days": DAYS, "approvers": APPROVERS})
    for bundle, why in ((signed_ones, "are signed"), (theirs, "name approvers themselves")):
        with pytest.raises(InputError, match=why) as error:
            owners_of(tmp_path, bundle)
        assert error.value.problems[0].code.id == "E534"
    (tmp_path / "owners.yaml").unlink()
    assert set(owners_of(tmp_path, theirs).approvers) == set(APPROVERS)


def test_a_file_of_comments_and_a_link_to_nowhere_name_nobody(tmp_path: Path) -> None:
    path = tmp_path / "owners.yaml"
    path.write_text("# approvers:\n")
    assert owners_of(tmp_path, read_bundle()).approvers == {}
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"owners\.yaml"):
        owners_of(tmp_path, read_bundle())
