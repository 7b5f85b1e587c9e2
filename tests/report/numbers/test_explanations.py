"""Explained numbers against the plan: every formula gives its value, every number has one."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.report import text
from planner.report.explain import explain
from planner.report.numbers import tree
from planner.report.numbers.explained import Explained
from planner.report.numbers.explanations import Explanations, explanations
from planner.running import StackRun, run_stack
from planner.units import GIB, format_availability, format_share, format_usd
from tests.projects import CHAT, CLUSTER, PLATFORM, changed
from tests.report.numbers.conftest import AT, STACKS
from tests.report.numbers.leaves import kind_of, leaves

Runs = dict[str, StackRun]


def explained(run: StackRun) -> Explanations:
    return explanations(run.plan, run.stack, run.catalog)


def borne_out(numbers: Explanations) -> None:
    """Assert that each formula gives its value and each condition holds; that links lead on."""
    for name, found in numbers.items():
        assert name == found.id
        assert found.formula or found.conditions or found.kind.startswith("flip/"), name
        if found.formula:
            assert found.worked_out == pytest.approx(found.value, rel=1e-6, abs=1e-9), name
            if isinstance(found.value, int):
                assert found.worked_out == found.value, name
        for condition in found.conditions:
            assert condition.holds, (name, condition.with_numbers)
        assert found.agrees, name
        for term in found.all_terms:
            assert term.symbol.isidentifier(), (name, term)
            if term.origin == "number":
                assert numbers[term.ref].value == term.value, (name, term)
            else:
                assert term.ref or term.source, (name, term)


@pytest.mark.parametrize("stack", STACKS)
def test_every_formula_gives_the_value(runs: Runs, stack: str) -> None:
    borne_out(explained(runs[stack]))


@pytest.mark.parametrize("stack", STACKS)
def test_every_number_of_the_plan_is_explained(runs: Runs, stack: str) -> None:
    run = runs[stack]
    numbers = explained(run)
    plan = json.loads(run.plan.to_json())
    for decision in plan["decisions"]:
        shown = {key: decision[key] for key in ("mix", "chosen", "flip")}
        shown["engineering_usd_per_month"] = decision["engineering_usd_per_month"]
        for path, value in leaves(shown):
            kind = kind_of(path, decision)
            if kind is None or (kind == "floor_tokens_per_minute" and value == 0):
                continue
            found = numbers.get(f"{decision['workload']}/{kind}")
            assert found is not None, (decision["workload"], path, value)
            assert found.value == pytest.approx(value, rel=1e-9), (decision["workload"], path)
    for path, value in leaves(plan["totals"]):
        assert numbers[f"total/{path}"].value == pytest.approx(value, rel=1e-9), path


@pytest.mark.parametrize("stack", STACKS)
def test_every_number_walks_down_to_what_was_declared_or_published(runs: Runs, stack: str) -> None:
    numbers = explained(runs[stack])

    def ends(found: Explained, above: tuple[str, ...]) -> set[str]:
        """Return what the walk ends at: origins of terms, or the rule of a plain zero."""
        assert found.id not in above, f"{found.id} explains itself"
        seen = {found.rule} if not found.all_terms else set()
        for term in found.all_terms:
            if term.origin == "number":
                seen |= ends(numbers[term.ref], (*above, found.id))
            else:
                seen.add(term.ref or term.source)
        return seen

    for found in numbers.values():
        reached = ends(found, ())
        assert reached, found.id
        assert "" not in reached, found.id


NUMBER = re.compile(r"(?<![\w.\-/,])\$?-?\d+(?:,\d{3})*(?:\.\d+)?%?(?![\w\-]|[.,/]\d)")
SAID = (
    r"from 0\.01 to 100 times",  # the range in which a flip is looked for
    r"none up to [^)]*$",  # the largest step of the grid
    r"^ *(price|source): .*",  # a row's source, with its date
)
"""What a text says that is no number of the plan."""


GIVEN = ("catalog", "constant", "declared")
"""Terms that a text may show besides: they stand in an explanation with their source."""


def printed(value: float) -> set[str]:
    """Return the ways in which the texts print a number: plain, GiB, percent, B tokens, USD."""
    found = {f"{value:,.{digits}f}" for digits in range(4)}
    found |= {f"{value:g}", f"{value:.3g}", f"{value / GIB:.2f}", f"{value / 1e9:,.3f}"}
    found |= {format_share(value), format_usd(value), format_usd(-value)}
    return found | ({format_availability(value)} if 0 < value < 1 else set())


@pytest.mark.parametrize("stack", STACKS)
def test_every_number_that_the_texts_show_is_explained(runs: Runs, stack: str) -> None:
    run = runs[stack]
    numbers = explained(run)
    total = {form for item in numbers.of("total").values() for form in printed(item.value)}
    last = text.summary(run.plan).splitlines()[-5:]
    told = [(total, line) for line in last if "digest" not in line]
    for decision in run.plan.decisions:
        group = numbers.of(numbers.group_of(decision.workload))
        own = total | {form for item in group.values() for form in printed(item.value)}
        rows = (term for item in group.values() for term in item.all_terms)
        given = {term.value for term in rows if term.origin in GIVEN}
        own |= {
            form for value in given if isinstance(value, int | float) for form in printed(value)
        }
        told.append((own, text.workload_line(decision)))
        chosen = explain(run.plan, decision).partition("  under pressure:")[0]
        told += [(own, line) for line in chosen.partition("  not chosen:")[0].splitlines()]
    shown = 0
    for known, line in told:
        kept = re.sub("|".join(SAID), "", line)
        for number in NUMBER.findall(kept):
            assert number in known, (number, line)
            shown += 1
    assert shown > 20 * len(run.plan.decisions)


def test_figures_of_the_bank_by_hand(runs: Runs) -> None:
    """Llama 3.3 70B: 80 layers, 8 KV heads of 128; two GPUs; 16-bit keys and values."""
    numbers = explained(runs["bank-au"])
    token = numbers["case-notes/kv_bytes_per_token"]
    assert token.value == 80 * (8 // 2) * (128 + 128) * 2 == 163_840
    assert token.with_numbers == "80 * 2,048"
    pool = numbers["case-notes/kv_pool_bytes"]
    assert [term.symbol for term in pool.terms][:3] == [
        "total_bytes",
        "gpu_memory_utilization",
        "weights_bytes",
    ]
    peak = numbers["case-notes/tokens_per_minute_peak"]
    assert peak.with_numbers == "200,209 * 1"
    assert "stacks/bank-au/case-notes.yaml traffic.tokens_per_minute.peak" in peak.sources
    # 1 - (1 - 0.999)^2 of two nodes of which one is needed.
    assert numbers["case-notes/availability"].value == pytest.approx(0.999999)
    tax = numbers["total/reported_per_month"]
    assert tax.value == pytest.approx(numbers["total/total_usd_per_month"].value * 1.52 * 1.025)


def test_a_searched_number_shows_both_sides(runs: Runs) -> None:
    held = explained(runs["bank-au"])["case-notes/kv_sequences"]
    assert held.formula == ""
    within, beyond = held.conditions
    assert within.formula.startswith("held * mean_blocks")
    assert within.formula.endswith("<= blocks")
    assert beyond.terms[0].value == held.value + 1
    spares = explained(runs["bank-au"])["case-notes/spare_nodes"]
    assert [c.formula for c in spares.conditions] == [
        "availability >= availability_asked",
        "with_one_less < availability_asked",
    ]


def test_a_formula_that_does_not_give_the_value_says_so(runs: Runs) -> None:
    found = explained(runs["dev"])["product-chat/tokens_per_month"]
    wrong = dataclasses.replace(found, value=found.value * 1.01)
    assert found.agrees
    assert not wrong.agrees
    assert "NOT BORNE OUT" in tree.text(wrong, {}, 0)
    assert "NOT BORNE OUT" not in tree.text(found, {}, 0)


def test_only_what_is_asked_for_is_worked_out(runs: Runs) -> None:
    numbers = explained(runs["bank-au"])
    assert numbers["branch-faq/tokens_per_month"].group == "branch-faq"
    assert set(numbers._found) == {"branch-faq"}
    with pytest.raises(KeyError):
        numbers["nobody/tokens_per_month"]
    with pytest.raises(KeyError):
        numbers["branch-faq/kv_tokens"]


LLAMA = [
    {
        "name": "meta-llama/Llama-3.3-70B-Instruct",
        "token_multiplier": 1.25,
        "evaluation": CHAT["models"][0]["evaluation"],
    }
]


def test_other_ways_to_declare_are_explained_too(project: Callable[..., Path], opa: str) -> None:
    """A trace, a batch window, growth, owned units, a tight TTFT, a multiplier, a name "total"."""
    assert opa
    trace = ["timestamp,input tokens,output tokens"]
    trace += [f"{second},{700 + second % 300},{120 + second % 60}" for second in range(0, 660, 2)]
    traced = changed(
        CHAT,
        name="traced",
        growth_per_year=0.3,
        traffic__tokens_per_minute=None,
        traffic__trace="trace.csv",
        traffic__trace_scale=20.0,
        pin={"kind": "provisioned"},
    )
    del traced["traffic"]["tokens_per_minute"]
    nightly = changed(
        CHAT,
        name="nightly",
        tier="batch",
        models=LLAMA,
        growth_per_year=0.2,
        traffic__active_hours_per_week=20,
        traffic__window={"hours": "22:00-06:00", "days": ["mon", "tue", "fri"]},
        pin={"kind": "self_hosted"},
    )
    hosted = changed(
        CHAT,
        name="total",
        models=LLAMA,
        objectives={"ttft_p95_ms": 700, "itl_p95_ms": 200, "availability": 0.9999},
        horizon_months=24,
        pin={"kind": "self_hosted"},
    )
    queued = changed(
        CHAT,
        name="queued",
        models=LLAMA,
        objectives={"itl_p95_ms": 5_000},
        traffic__cached_fraction=0.2,
        traffic__output_fraction=0.001,
        traffic__prompt_tokens={"mean": 300, "p50": 290, "p95": 400},
        traffic__output_tokens={"mean": 1, "p50": 1, "p95": 1},
        pin={"kind": "self_hosted"},
    )
    even = changed(
        CHAT, name="even", models=LLAMA, objectives={"itl_p95_ms": 45}, pin={"kind": "self_hosted"}
    )
    platform = changed(
        PLATFORM,
        clusters=[CLUSTER],
        engineering={"usd_per_month": 20_000},
        commitments=[
            {
                "id": "r1",
                "provider": "azure",
                "deployment_type": "ProvisionedManaged",
                "region": "australiaeast",
                "units": 15,
                "term_end": "2027-05-31",
                "usd_per_month": 3_000,
            }
        ],
    )
    root = project(traced, nightly, hosted, queued, even, platform=platform)
    (root / "trace.csv").write_text("\n".join(trace) + "\n")
    run = run_stack(root, "s", at=AT, write=False)
    numbers = explained(run)
    assert {d.workload: d.status for d in run.plan.decisions} == {
        "even": "decided",
        "nightly": "decided",
        "queued": "decided",
        "total": "decided",
        "traced": "decided",
    }
    borne_out(numbers)
    limits = {
        d.workload: d.chosen.self_hosted.replica.limited_by
        for d in run.plan.decisions
        if d.chosen and d.chosen.self_hosted
    }
    assert limits == {"even": "itl", "nightly": "kv_cache", "queued": "compute", "total": "ttft"}
    within, beyond = numbers["even/slots"].conditions
    assert within.formula == "itl_ms <= itl_objective_ms"
    assert beyond.formula == "itl_next_ms > itl_objective_ms"
    assert numbers.group_of("total") == "workload.total"
    assert numbers["workload.total/max_num_seqs"].value > 0
    assert numbers["total/sunk_usd_per_month"].value == 3_000
    assert numbers["traced/tokens_per_minute_p50"].exactness == "measured"
    assert "trace.csv" in " ".join(numbers["traced/output_fraction"].sources)
    assert numbers["nightly/active_hours_per_month"].value == pytest.approx(24 / 168 * 730)
    assert "owned" in numbers["traced/floor/fixed_usd_per_month"].formula
