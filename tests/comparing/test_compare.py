"""What differs, against figures worked out by hand or read from the two plans' JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.comparing import PlanDiff, compare, nothing, snapshot_of
from planner.comparing.news import is_news, passed, threshold_of
from planner.comparing.size import size_of
from planner.errors import InputError
from planner.plan import Plan
from planner.report.comparing import FORMATS
from tests.comparing.conftest import PEAK, PINNED, PRICE, Edit, Planned
from tests.report.builders import (
    decision,
    make_finding,
    make_plan,
    model_finding,
    outcome,
    waived_finding,
)

MORE: Edit = (
    "case-notes.yaml",
    r"p50: 112146, p90: 170636, p99: 193929, peak: 200209",
    "p50: 512146, p90: 570636, p99: 593929, peak: 600209",
)
"""Case-notes with three times the peak: more replicas of the same layout."""


def row(rows: Any, name: str) -> Any:
    return next(item for item in rows if item.workload == name)


def document(plan: Plan) -> dict[str, Any]:
    return dict(json.loads(plan.to_json()))


@pytest.fixture(scope="session")
def base(planned: Planned) -> Plan:
    return planned("bank-au").plan


def test_a_higher_peak_and_a_new_price(planned: Planned, base: Plan) -> None:
    diff = compare(base, planned("bank-au", PEAK, PRICE).plan)
    # 25 units, 1,460 then 1,600 USD a month each.
    assist = row(diff.cost.rows, "adviser-assist")
    assert (assist.fixed.old, assist.fixed.new, assist.fixed.delta) == (36_500, 40_000, 3_500)
    assert assist.fixed.share == pytest.approx(3_500 / 36_500)
    assert diff.cost.fixed.delta == pytest.approx(3_500)
    assert diff.cost.engineering.delta == 0
    assert diff.cost.delta == pytest.approx(3_500 + (assist.usage.delta or 0))
    size = row(diff.capacity, "adviser-assist").new
    assert size.units == 25
    # 520,545 tokens a minute at peak; the floor carries 254,474.655008 of them.
    assert size.demanded_tokens_per_s == pytest.approx(520_545 / 60)
    assert size.served_tokens_per_s == pytest.approx(254_474.655008 / 60)
    assert size.headroom == pytest.approx(254_474.655008 / 520_545 - 1)
    moved = {(item.about, item.what): item for item in diff.assumptions}
    assert moved["adviser-assist", "tokens per minute peak"].share == pytest.approx(0.3, abs=1e-5)
    assert "offer 7" in str(moved["adviser-assist", "price row"].new)
    assert "2026-08-11" in str(moved["adviser-assist", "price row"].old)
    assert "usd_per_unit_month" in str(moved["stack", "user-given rates"].new)
    assert [item.about for item in diff.assumptions][-1] == "stack"
    # With another demand the mean price of a token is a result; with the same it is the price.
    assert ("adviser-assist", "USD per million tokens") not in moved
    same = compare(base, planned("bank-au", PRICE).plan)
    assert ("adviser-assist", "USD per million tokens") in {
        (item.about, item.what) for item in same.assumptions
    }
    assert not diff.flipped
    (resized,) = diff.blast_radius.rows
    assert (resized.action, resized.kind) == ("resize", "deployment")
    assert resized.name == "azure/bank-openai-aue/adviser-assist-spill"
    names = {d["name"]: d["capacity"] for d in document(base)["resources"]["deployments"]}
    assert resized.what.startswith(f"capacity {names['adviser-assist-spill']} to ")


def test_more_replicas(planned: Planned, base: Plan) -> None:
    diff = compare(base, planned("bank-au", MORE).plan)
    sizes = row(diff.capacity, "case-notes")
    old, new = sizes.old, sizes.new
    # One replica serves 299,808.149318 tokens a minute; a node holds one, and one is spare.
    assert (old.replicas, old.spare_replicas, old.nodes, old.layout) == (1, 1, 2, "TP2")
    assert old.headroom == pytest.approx(299_808.149318 / 200_209 - 1)
    assert old.headroom_node_lost == pytest.approx(old.headroom)
    assert new.headroom == pytest.approx(new.replicas * 299_808.149318 / 600_209 - 1)
    # 99,897,181,208 bytes x 0.92, less a KV pool of 17,639,261,124.
    assert old.memory_before_kv == pytest.approx(1 - 17_639_261_124 / (99_897_181_208 * 0.92))
    assert old.gpu == "H100-NVL-94GB"
    kinds = {(item.action, item.kind) for item in diff.blast_radius.rows}
    assert kinds == {("resize", "server"), ("resize", "node pool")}


def test_several_replicas_on_a_node_are_lost_together(base: Plan) -> None:
    notes = row(base.decisions, "case-notes")
    hosted = notes.chosen.self_hosted.model_copy(
        update={"replicas": 3, "spare_replicas": 1, "gpus_per_node": 8, "nodes": 1}
    )
    size = size_of(notes.chosen.model_copy(update={"self_hosted": hosted}), notes.mix)
    # Four replicas of two GPUs fit one node of eight: with it, all are gone.
    assert size.headroom_node_lost == -1


def test_an_undecided_workload_is_no_saving(planned: Planned, base: Plan) -> None:
    diff = compare(base, planned("bank-au", PINNED).plan)
    assert diff.cost.unknown_new == ("adviser-assist",)
    assert diff.cost.delta is None
    assist = row(diff.cost.rows, "adviser-assist")
    assert (assist.total.new, assist.total.delta) == (None, None)
    told = FORMATS["text"](diff)
    assert "(not known)" in told
    assert "no known cost now for 1 workload (adviser-assist): not in the total" in told
    assert "-$36" not in told
    (flip,) = diff.flipped
    assert (flip.old_status, flip.new_status, flip.lost) == ("decided", "denied", "not_pinned")
    # Not that the old option is not the one that is pinned: what stops the new one.
    assert flip.why == "the pinned option is denied by RES-001"
    assert [found.finding.rule_id for found in diff.findings.new] == ["RES-001"]
    assert {item.action for item in diff.blast_radius.rows} == {"destroy"}
    assert "25 units are given back for good" in diff.blast_radius.warnings[0]
    document = json.loads(FORMATS["json"](diff))
    assert document["cost"]["delta"] is None
    assert document["cost"]["unknown_new"] == ["adviser-assist"]
    # The other way, what was not known is no increase that anybody could tell either.
    back = compare(planned("bank-au", PINNED).plan, base)
    assert back.cost.unknown_old == ("adviser-assist",)
    assert back.cost.delta is None


def without(plan: Plan, name: str) -> Plan:
    """A plan without a workload, at its share of the totals."""
    gone = row(plan.decisions, name).chosen.cost
    totals = plan.totals.model_copy(
        update={
            "fixed_usd_per_month": plan.totals.fixed_usd_per_month - gone.fixed_usd_per_month,
            "variable_usd_per_month": plan.totals.variable_usd_per_month
            - gone.variable_usd_per_month,
            "total_usd_per_month": plan.totals.total_usd_per_month - gone.total_usd_per_month,
        }
    )
    kept = tuple(item for item in plan.decisions if item.workload != name)
    return plan.model_copy(update={"decisions": kept, "totals": totals})


def test_a_workload_that_comes_and_one_that_goes(base: Plan) -> None:
    faq = row(base.decisions, "branch-faq").chosen.cost.total_usd_per_month
    gone = compare(base, without(base, "branch-faq"))
    assert row(gone.capacity, "branch-faq").presence == "removed"
    assert row(gone.cost.rows, "branch-faq").total.new == 0
    assert gone.cost.delta == pytest.approx(-faq)
    assert "branch-faq (gone)" in FORMATS["text"](gone)
    come = compare(without(base, "branch-faq"), base)
    assert row(come.capacity, "branch-faq").presence == "added"
    assert row(come.cost.rows, "branch-faq").total.old == 0
    assert come.cost.delta == pytest.approx(faq)
    assert "branch-faq (new)" in FORMATS["text"](come)


def test_a_stack_that_was_not_there_is_all_new(base: Plan) -> None:
    diff = compare(nothing("bank-au"), base)
    total = document(base)["totals"]["total_usd_per_month"]
    assert diff.cost.delta == pytest.approx(total)
    assert {item.action for item in diff.blast_radius.rows} == {"create"}
    assert {item.presence for item in diff.capacity} == {"added"}
    places = {(item.kind, item.name, item.change) for item in diff.residency.places}
    assert ("jurisdiction", "AU", "added") in places
    assert "nothing there -> ALLOW" in FORMATS["text"](diff)
    assert is_news(diff)


def test_another_region_is_a_change_of_residency(base: Plan) -> None:
    faq = row(base.decisions, "branch-faq")
    option = faq.chosen.option.model_copy(
        update={"region": "eastus2", "jurisdictions": ("US", "US-OUTSIDE"), "id": "branch-faq/us"}
    )
    moved = faq.model_copy(update={"chosen": faq.chosen.model_copy(update={"option": option})})
    unknown = faq.model_copy(
        update={
            "chosen": faq.chosen.model_copy(
                update={"option": option.model_copy(update={"jurisdictions": None})}
            )
        }
    )

    def with_faq(item: Any) -> Plan:
        rows = tuple(item if d.workload == "branch-faq" else d for d in base.decisions)
        return base.model_copy(update={"decisions": rows})

    diff = compare(base, with_faq(moved))
    added = [(item.kind, item.name) for item in diff.residency.places if item.change == "added"]
    assert added == [
        ("region", "azure eastus2"), ("jurisdiction", "US"), ("jurisdiction", "US-OUTSIDE"),
    ]  # fmt: skip
    # Others stay in Australia: the stack leaves no place, the workload does.
    assert not [item for item in diff.residency.places if item.change == "removed"]
    left = {
        (item.name, item.workloads) for item in diff.residency.moved if item.change == "removed"
    }
    assert left == {("azure australiaeast", ("branch-faq",)), ("AU", ("branch-faq",))}
    assert diff.residency.classes == (faq.classification,)
    names = [item.name for item in compare(base, with_faq(unknown)).residency.places]
    assert names == ["azure eastus2", "unknown"]


def test_what_is_declared_looser_is_told(base: Plan) -> None:
    first, *rest = base.decisions
    looser = first.model_copy(update={"classification": "public", "residency": ("AU", "NZ")})
    diff = compare(base, base.model_copy(update={"decisions": (looser, *rest)}))
    told = {(item.field, item.old, item.new) for item in diff.residency.protection}
    assert told == {("classification", "confidential", "public"), ("residency", "AU", "AU, NZ")}
    assert is_news(diff)


def test_a_flip_tells_what_became_of_the_old_option() -> None:
    old = make_plan([decision(chosen=outcome(id="chat/a"))])
    lost = outcome(id="chat/a", lost="cost").model_copy(update={"why": "costs $5 more"})
    new = make_plan([decision(chosen=outcome(id="chat/b"), others=[lost])])
    (flip,) = compare(old, new).flipped
    assert (flip.lost, flip.why) == ("cost", "costs $5 more")
    gone = make_plan(
        [decision(chosen=outcome(id="chat/b"), others=[outcome(id="chat/c", lost="tie")])]
    )
    (flip,) = compare(old, gone).flipped
    assert flip.lost is None
    assert flip.why.startswith("it is no longer among the options")


def test_findings_and_waivers_come_and_go() -> None:
    plain = make_plan([decision(chosen=outcome())])
    waived = make_plan([decision(chosen=outcome([waived_finding()]))])
    diff = compare(plain, waived)
    assert [item.waiver.id for item in diff.findings.waivers_new] == ["WVR-2026-014"]
    assert diff.findings.waivers_new[0].waives == ("MOD-001 for chat",)
    assert [item.finding.rule_id for item in diff.findings.new] == ["MOD-001"]
    assert compare(waived, plain).findings.gone == diff.findings.new
    # The rule denies once more where the waiver has ended: that is another finding.
    ended = make_plan([decision(others=[outcome([model_finding()], lost="denied", pinned=True)])])
    found = compare(waived, ended).findings
    assert [item.finding.verdict for item in found.new] == ["deny"]
    assert [item.finding.verdict for item in found.gone] == ["warn"]


def test_the_same_rule_on_another_option_is_no_news() -> None:
    one = make_plan([decision(others=[outcome([make_finding()], lost="denied")])])
    two = make_plan([decision(others=[outcome([make_finding(subject="chat/b")], lost="denied")])])
    assert compare(one, two).same_findings


def costing(total: float, *, undecided: int = 0) -> Plan:
    plan = make_plan([decision(chosen=None if undecided else outcome())])
    money = {"fixed_usd_per_month": total, "total_usd_per_month": total}
    return plan.model_copy(update={"totals": plan.totals.model_copy(update=money)})


def changed_by(old: float, new: float) -> PlanDiff:
    """A difference of the total alone, every cost known."""
    diff = compare(costing(old), costing(new))
    cost = diff.cost.model_copy(update={"unknown_old": (), "unknown_new": ()})
    return diff.model_copy(update={"cost": cost})


@pytest.mark.parametrize(
    ("old", "new", "option", "text", "stops"),
    [
        (1000, 1100, "increase", "100", False),
        (1000, 1100.01, "increase", "100", True),
        (1000, 1100, "increase", "10%", False),
        (1000, 1101, "increase", "10 %", True),
        (1000, 1, "increase", "0", False),
        (1000, 1000.001, "increase", "0", False),
        (0, 5, "increase", "900%", True),
        (0, 5, "increase", "$5", False),
        (1000, 899, "decrease", "10%", True),
        (1000, 901, "decrease", "10%", False),
        (1000, 2000, "decrease", "0", False),
        (5000, 6500, "increase", "USD 1,400.50", True),
    ],
)
def test_thresholds(old: float, new: float, option: Any, text: str, stops: bool) -> None:
    error = passed(changed_by(old, new), threshold_of("--x", text, option))
    assert (error is not None) is stops
    assert error is None or (error.exit_code == 7 and "E608" in str(error))


def test_a_cost_that_is_not_known_is_beyond_any_threshold() -> None:
    diff = compare(costing(1000), costing(1000, undecided=1))
    for option in ("increase", "decrease"):
        error = passed(diff, threshold_of("--x", "1000000", option))  # type: ignore[arg-type]
        assert error is not None
        assert "no known cost for chat" in str(error)


@pytest.mark.parametrize("text", ["", "ten", "-5", "5%%", "1e3", "NaN", "5 EUR", "%", "inf"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="E607"):
        threshold_of("--fail-on-increase", text, "increase")


@pytest.mark.parametrize(
    ("old", "new", "floor", "news"),
    [
        (100, 100.9, 1.0, False),
        (100, 101.1, 1.0, True),
        (100, 98.9, 1.0, True),
        (100, 150, 50, False),
    ],
)
def test_a_change_of_cost_within_the_floor_is_no_news(
    old: float, new: float, floor: float, news: bool
) -> None:
    assert is_news(changed_by(old, new), floor) is news


def test_the_compact_form_knows_all_but_why_options_lost(base: Plan) -> None:
    compact = snapshot_of(base).deployed()
    assert not any(state.lost for state in compact.states)
    assert compact.resources.steps == ()
    assert compact.resources.deployments == snapshot_of(base).resources.deployments
