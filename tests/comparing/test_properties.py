"""What must hold of any two plans: nothing differs from itself, and the way back is the reverse."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.comparing import PlanDiff, Snapshot, compare, snapshot_of
from planner.plan import Plan
from planner.plan_reading import read_plan
from planner.report.comparing import FORMATS
from tests.comparing.conftest import PEAK, PINNED, PRICE, Planned
from tests.test_plan_reading import TEXT

STACKS = ("dev", "bank-au", "saas-global")
DEV = read_plan(TEXT)


@pytest.fixture(scope="session")
def plans(planned: Planned) -> dict[str, Plan]:
    return {
        **{stack: planned(stack).plan for stack in STACKS},
        "changed": planned("bank-au", PEAK, PRICE).plan,
        "denied": planned("bank-au", PINNED).plan,
    }


PAIRS = [("bank-au", "changed"), ("bank-au", "denied"), ("changed", "denied"), ("dev", "bank-au")]


@pytest.mark.parametrize("stack", [*STACKS, "changed", "denied"])
def test_nothing_differs_from_itself(stack: str, plans: dict[str, Plan]) -> None:
    plan = plans[stack]
    assert compare(plan, plan).empty
    # The file's numbers have twelve digits, the plan in memory has them all.
    assert compare(read_plan(plan.to_json()), plan).empty
    assert compare(snapshot_of(plan).deployed(), plan).empty
    for form, told in FORMATS.items():
        text = told(compare(plan, plan))
        assert form == "json" or "othing differs" in text


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_way_back_is_the_reverse(a: str, b: str, plans: dict[str, Plan]) -> None:
    reversed_by(compare(plans[a], plans[b]), compare(plans[b], plans[a]))


def reversed_by(there: PlanDiff, back: PlanDiff) -> None:
    assert there.empty == back.empty
    for name in ("fixed", "usage", "engineering", "total", "committed", "sunk"):
        one, other = getattr(there.cost, name), getattr(back.cost, name)
        assert (one.old, one.new) == (other.new, other.old)
        assert one.delta == -other.delta
    assert [row.workload for row in there.cost.rows] == [row.workload for row in back.cost.rows]
    for one, other in zip(there.cost.rows, back.cost.rows, strict=True):
        assert (one.total.old, one.total.new) == (other.total.new, other.total.old)
    assert there.cost.unknown_old == back.cost.unknown_new
    for one, other in zip(there.capacity, back.capacity, strict=True):
        assert (one.old, one.new, one.old_status) == (other.new, other.old, other.new_status)
    opposite = {"added": "removed", "removed": "added"}
    places = [
        (row.kind, row.name, opposite[row.change], row.classes) for row in there.residency.places
    ]
    assert places == [
        (row.kind, row.name, row.change, row.classes) for row in back.residency.places
    ]
    turned = {"create": "destroy", "destroy": "create"}
    rows = {
        (turned.get(row.action, row.action), row.kind, row.name) for row in there.blast_radius.rows
    }
    assert rows == {(row.action, row.kind, row.name) for row in back.blast_radius.rows}
    assert there.findings.new == back.findings.gone
    assert there.findings.waivers_new == back.findings.waivers_gone
    moved = {(row.about, row.what, str(row.old), str(row.new)) for row in there.assumptions}
    assert moved == {(row.about, row.what, str(row.new), str(row.old)) for row in back.assumptions}
    flips = {(row.workload, row.old_option, row.new_option) for row in there.flipped}
    assert flips == {(row.workload, row.new_option, row.old_option) for row in back.flipped}


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_order_of_workloads_does_not_matter(a: str, b: str, plans: dict[str, Plan]) -> None:
    def turned(plan: Plan) -> Plan:
        rows = plan.resources
        return plan.model_copy(
            update={
                "decisions": plan.decisions[::-1],
                "findings": plan.findings[::-1],
                "resources": rows.model_copy(
                    update={
                        name: getattr(rows, name)[::-1]
                        for name in ("node_pools", "servers", "deployments", "purchases")
                    }
                ),
            }
        )

    there = compare(plans[a], plans[b])
    other = compare(turned(plans[a]), turned(plans[b]))
    skipped = {"old", "new"}  # digests of the plans, which have an order
    assert there.model_dump(exclude=skipped) == other.model_dump(exclude=skipped)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_workloads_and_engineering_sum_to_the_total(a: str, b: str, plans: dict[str, Plan]) -> None:
    sums_up(compare(plans[a], plans[b]))


def sums_up(diff: PlanDiff) -> None:
    cost = diff.cost
    for side, unknown in (("old", cost.unknown_old), ("new", cost.unknown_new)):
        known = [getattr(row.total, side) for row in cost.rows if row.workload not in unknown]
        whole = getattr(cost.engineering, side) + sum(known)
        assert getattr(cost.total, side) == pytest.approx(whole, rel=1e-9, abs=1e-6)
    if cost.total_known:
        deltas = [row.total.delta or 0.0 for row in cost.rows]
        assert cost.delta == pytest.approx(
            (cost.engineering.delta or 0.0) + sum(deltas), rel=1e-9, abs=1e-6
        )
    else:
        assert cost.delta is None


def varied(kept: frozenset[int], factor: float, undecided: frozenset[int]) -> Plan:
    """The dev plan with some of its workloads, at another cost, some of them undecided."""
    decisions = []
    for number, item in enumerate(DEV.decisions):
        if number not in kept:
            continue
        chosen = item.chosen
        assert chosen is not None
        assert chosen.cost is not None
        usage = (chosen.cost.variable_usd_per_month or 0.0) * factor
        cost = chosen.cost.model_copy(
            update={"variable_usd_per_month": usage, "total_usd_per_month": usage}
        )
        update: dict[str, object] = {"chosen": chosen.model_copy(update={"cost": cost})}
        if number in undecided:
            update = {"chosen": None, "status": "denied", "others": (chosen, *item.others)}
        decisions.append(item.model_copy(update=update))
    usage = sum(
        item.chosen.cost.variable_usd_per_month or 0.0
        for item in decisions
        if item.chosen and item.chosen.cost
    )
    totals = DEV.totals.model_copy(
        update={"variable_usd_per_month": usage, "total_usd_per_month": usage}
    )
    return DEV.model_copy(update={"decisions": tuple(decisions), "totals": totals})


SIDES = st.tuples(
    st.frozensets(st.integers(0, 1)),
    st.floats(0.0, 1e6, allow_nan=False),
    st.frozensets(st.integers(0, 1)),
)
"""What :func:`varied` takes: plans themselves are too long to be printed."""


@settings(max_examples=25, deadline=None)
@given(one=SIDES, other=SIDES)
def test_of_any_two_plans(
    one: tuple[frozenset[int], float, frozenset[int]],
    other: tuple[frozenset[int], float, frozenset[int]],
) -> None:
    old, new = varied(*one), varied(*other)
    there = compare(old, new)
    reversed_by(there, compare(new, old))
    sums_up(there)
    assert compare(new, new).empty
    for told in FORMATS.values():
        assert told(there) == told(compare(old, new))
    if not (there.empty or there.cost.total_known):
        assert "not known" in FORMATS["text"](there)


@pytest.mark.parametrize("stack", STACKS)
def test_a_deployed_stack_says_of_itself_what_is_compared(
    stack: str, plans: dict[str, Plan]
) -> None:
    compact = snapshot_of(plans[stack]).deployed()
    assert Snapshot.model_validate_json(compact.to_json()) == compact
    assert len(compact.to_json()) < 10_000 * len(plans[stack].decisions)


def test_another_process_with_another_hash_seed_tells_the_same(
    plans: dict[str, Plan], tmp_path: object
) -> None:
    files = []
    for name in ("bank-au", "denied"):
        path = f"{tmp_path}/{name}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write(plans[name].to_json())
        files.append(path)
    source = (
        "import sys; from planner.comparing import compare; "
        "from planner.plan_reading import read_plan; "
        "from planner.report.comparing import FORMATS; "
        "a, b = (read_plan(open(p, encoding='utf-8').read()) for p in sys.argv[1:]); "
        "sys.stdout.buffer.write(''.join(f(compare(a, b)) for f in FORMATS.values()).encode())"
    )
    mine = "".join(told(compare(plans["bank-au"], plans["denied"])) for told in FORMATS.values())
    for seed in ("1", "4242"):
        answer = subprocess.run(
            [sys.executable, "-c", source, *files],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": "Pacific/Apia", "LC_ALL": "C"},
            capture_output=True,
            check=True,
        )
        assert answer.stdout.decode() == mine
