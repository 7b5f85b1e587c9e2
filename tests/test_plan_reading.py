"""An older plan is read as it was meant; a newer, unknown or edited one is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from planner.canonical import digest
from planner.errors import InputError
from planner.plan import SCHEMA_VERSION, Plan, capacity_document
from planner.plan_reading import UPGRADES, plan_document, read_plan, read_written
from planner.plan_schema import plan_schema
from tests.report.builders import decision, make_finding, make_plan, outcome, waived_finding

V1 = Path(__file__).parent / "data" / "plan_v1_dev.json"
"""A plan of version 1 as it was first written, on 2026-11-29. It is never written again."""

TEXT = V1.read_text()
DOCUMENT: dict[str, Any] = json.loads(TEXT)


def written(document: dict[str, Any]) -> str:
    """The text of a plan's document, with the evidence digest that belongs to it."""
    own = {k: v for k, v in document.items() if k not in ("capacity_digest", "evidence_digest")}
    return json.dumps({**own, "capacity_digest": "0" * 64, "evidence_digest": digest(own)})


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read_plan(text, "old/plan.json")
    (problem,) = caught.value.problems
    assert problem.where == "old/plan.json"
    assert problem.fix
    return f"{problem.code.id if problem.code else ''} {problem.what}"


def test_a_plan_of_version_1_is_read() -> None:
    plan = read_plan(TEXT)
    assert DOCUMENT["schema_version"] == 1
    # Figures of the file itself: the dev stack of 2026-11-29.
    assert (plan.stack, plan.as_of, plan.verdict) == ("dev", "2026-11-29", "warn")
    assert plan.totals.total_usd_per_month == 72.1871849176
    chosen = {item.workload: item.chosen.option.id for item in plan.decisions if item.chosen}
    assert chosen == {
        "doc-summaries": "doc-summaries/payg/dev-openai/gpt-4.1-mini/DataZoneStandard",
        "product-chat": "product-chat/payg/dev-openai/gpt-5-mini/GlobalStandard",
    }
    assert [len(item.others) for item in plan.decisions] == [12, 21]
    assert len(plan.resources.deployments) == 2


def test_what_is_read_is_what_was_written() -> None:
    plan = make_plan(
        [decision(chosen=outcome([waived_finding()]), others=[outcome(lost="cost", id="b")])],
        [make_finding(observed={"a": [1, 2.5, None]})],
    )
    assert read_plan(plan.to_json()) == plan


def test_a_field_that_was_added_later_is_its_default() -> None:
    older = copy.deepcopy(DOCUMENT)
    del older["overrides"]
    for row in older["decisions"]:
        del row["countries"]
    plan = read_plan(written(older))
    assert plan.overrides == ()
    assert {item.countries for item in plan.decisions} == {()}


def test_what_an_approval_names_stays_when_a_field_is_added() -> None:
    """The digest of the document as written: without the field that came later."""
    older = copy.deepcopy(DOCUMENT)
    for row in older["resources"]["deployments"]:
        del row["gateway_spill_to"]
    found = read_written(written(older))
    assert found.capacity_digest == digest(capacity_document(older))
    assert found.plan.capacity_digest == DOCUMENT["capacity_digest"] != found.capacity_digest
    assert read_written(TEXT).capacity_digest == DOCUMENT["capacity_digest"]


def test_a_newer_plan_is_refused() -> None:
    told = refused(written({**DOCUMENT, "schema_version": SCHEMA_VERSION + 1}))
    what = f"is a plan of schema version {SCHEMA_VERSION + 1}; this release reads up to"
    assert told == f"E605 {what} {SCHEMA_VERSION}"


def test_a_field_nobody_knows_is_refused() -> None:
    newer = copy.deepcopy(DOCUMENT)
    newer["decisions"][0]["mix"]["share_of_images"] = 0.1
    told = refused(written(newer))
    assert (
        told
        == "E605 has the field decisions.0.mix.share_of_images, which this release does not know"
    )


def test_a_plan_that_was_edited_is_refused() -> None:
    edited = copy.deepcopy(DOCUMENT)
    edited["verdict"] = "allow"
    assert refused(json.dumps(edited)).startswith("E604 was changed since it was written")


def test_a_capacity_digest_is_computed_and_never_believed() -> None:
    plan = read_plan(json.dumps({**DOCUMENT, "capacity_digest": "f" * 64}))
    assert plan.capacity_digest == DOCUMENT["capacity_digest"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", '{"schema_version": 1}', TEXT[:-40], "\x00", "[" * 100_000,
        '{"schema_version": "1", "evidence_digest": ""}',
        '{"schema_version": true, "evidence_digest": ""}',
        '{"schema_version": NaN, "evidence_digest": ""}',
        written({**DOCUMENT, "schema_version": 0}),
        written({**DOCUMENT, "totals": {}}),
        written({**DOCUMENT, "stack": 3}),
    ],
    ids=lambda text: str(text)[:30],
)  # fmt: skip
def test_what_is_no_plan_is_refused(text: str) -> None:
    assert refused(text).startswith("E604 ")


def test_every_step_from_version_1_exists() -> None:
    assert sorted(UPGRADES) == list(range(1, SCHEMA_VERSION))


def test_an_old_plan_goes_up_step_by_step() -> None:
    """The rule at work: a rename in version 2, a removal in version 3."""
    upgrades = {
        1: lambda document: {
            **{key: value for key, value in document.items() if key != "warnings"},
            "cautions": document["warnings"],
        },
        2: lambda document: {k: v for k, v in document.items() if k != "overrides"},
    }
    found = plan_document(TEXT, version=3, upgrades=upgrades)
    assert found["schema_version"] == 3
    assert found["cautions"] == DOCUMENT["warnings"]
    assert not {"warnings", "overrides"} & set(found)
    assert found["decisions"] == DOCUMENT["decisions"]


def test_the_schema_describes_plans_and_nothing_else() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(plan_schema())
    validator.validate(DOCUMENT)
    validator.validate(json.loads(make_plan([decision(chosen=outcome())]).to_json()))
    assert [error.message for error in validator.iter_errors({**DOCUMENT, "more": 1})]
    assert [error.message for error in validator.iter_errors({**DOCUMENT, "verdict": "maybe"})]


def test_500_workloads_are_read() -> None:
    rows = DOCUMENT["decisions"]
    many = [{**rows[i % len(rows)], "workload": f"w{i}"} for i in range(500)]
    text = written({**DOCUMENT, "decisions": many})
    plan = read_plan(text)
    assert isinstance(plan, Plan)
    assert len(plan.decisions) == 500
