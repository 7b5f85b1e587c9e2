"""The comment's eight parts, each against the two plans' JSON; one screen; the same every time."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Any

import pytest

from planner import faults
from planner.comparing import compare
from planner.errors import InputError, PolicyUnavailable
from planner.plan import Plan
from planner.report.comparing import Commented, comment, failure_comment
from planner.report.comparing.comment import LONGEST
from planner.report.findings import Checked
from tests.comparing.conftest import PEAK, PINNED, PRICE, Planned
from tests.report.builders import WAIVER, decision, make_finding, make_plan, outcome, waived_finding

AT = dt.datetime(2026, 11, 29, tzinfo=dt.UTC)
COMMAND = "llm-capacity diff --stack bank-au --against main"
SCREEN = 60
"""Lines that are shown before the fold; empty ones take no line of their own."""


def commented(old: Plan, new: Plan, **changes: Any) -> str:
    given = {
        "diff": compare(old, new, old_label="main (0123456789ab)"),
        "checked": Checked(new, at=AT),
        "command": COMMAND,
        "commit": "89abcdef0123456789abcdef0123456789abcdef",
        **changes,
    }
    return comment(Commented(**given))


def shown(text: str) -> list[str]:
    """The lines that a reader sees before unfolding anything."""
    above = text.partition("<details>")[0]
    return [line for line in above.splitlines() if line and not re.fullmatch(r"[|\s-]+", line)]


def part(text: str, title: str) -> str:
    """One part of the comment, from its title to the next."""
    _, found, rest = text.partition(f"**{title}")
    assert found, title
    return re.split(r"\n\*\*|\nTo see it again|\n<details>", rest)[0]


def document(plan: Plan) -> dict[str, Any]:
    return dict(json.loads(plan.to_json()))


def whole_usd(amount: float) -> str:
    return f"${amount:,.0f}"


@pytest.fixture(scope="session")
def base(planned: Planned) -> Plan:
    return planned("bank-au").plan


@pytest.fixture(scope="session")
def grown(planned: Planned, base: Plan) -> Plan:
    """A peak 30% higher, units at another price, and one finding that is waived."""
    plan = planned("bank-au", PEAK, PRICE).plan
    waiver = {**WAIVER, "expires": "2026-12-11T00:00:00+00:00"}
    waived = waived_finding(subject="branch-faq").model_copy(
        update={"waiver": type(waived_finding().waiver).model_validate(waiver)}
    )
    rows = []
    for item in plan.decisions:
        if item.workload == "branch-faq":
            assert item.chosen is not None
            item = item.model_copy(
                update={"chosen": item.chosen.model_copy(update={"findings": (waived,)})}
            )
        rows.append(item)
    return plan.model_copy(update={"decisions": tuple(rows)})


@pytest.fixture(scope="session")
def text(base: Plan, grown: Plan) -> str:
    return commented(base, grown)


def test_it_is_one_screen(text: str, base: Plan, planned: Planned) -> None:
    assert len(shown(text)) <= SCREEN
    assert len(shown(commented(base, planned("bank-au", PINNED).plan))) <= SCREEN
    assert "<details>" in text


def test_the_details_repeat_no_table_that_is_whole_above(text: str, base: Plan) -> None:
    above, _, details = text.partition("<details>")
    for head in ("| USD a month |", "| workload | region |"):
        assert above.count(head) == 1
        assert head not in details
    assert "### Capacity\n\n- adviser-assist: " in details, "sizes in words stand only there"
    # Six copies of a workload that appears: one is cut above, so the details have all of them.
    new = next(item for item in base.decisions if item.workload == "branch-faq")
    copies = tuple(new.model_copy(update={"workload": f"copy-{n}"}) for n in range(6))
    many = base.model_copy(update={"decisions": (*base.decisions, *copies)})
    above, _, details = commented(base, many).partition("<details>")
    for head in ("| USD a month |", "| workload | region |"):
        assert above.count(head) == details.count(head) == 1
    assert details.count("| copy-5 |") == 1
    assert details.count("| copy-5 (") == 1


def test_the_parts_stand_in_their_order(base: Plan, planned: Planned) -> None:
    found = commented(base, planned("bank-au", PINNED).plan)
    titles = ("DENY", "Denials", "Warnings", "Capacity", "Cost", "Residency", "Blast radius")
    places = [found.index(f"**{title}") for title in (*titles, "Assumptions")]
    places += [found.index("To see it again"), found.index("<details>")]
    assert places == sorted(places)


def test_part_1_is_the_verdict_with_what_it_is_of(text: str, base: Plan, grown: Plan) -> None:
    first, second, third = shown(text)[:3]
    assert first == "<!-- llm-capacity: bank-au -->"
    assert second == "**ALLOW, with warnings. Stack bank-au, as of 2026-11-29**"
    new = document(grown)
    assert f"plan `{new['capacity_digest'][:12]}`" in third
    policies = new["inputs"]["policy_digest"].removeprefix("sha256:")
    assert f"policies `{policies[:12]}`" in third
    assert "commit `89abcdef0123`" in third
    assert "against main (0123456789ab) (ALLOW, with warnings)" in third


def test_part_2_has_denials_with_what_to_do(base: Plan, planned: Planned) -> None:
    plan = planned("bank-au", PINNED).plan
    denials = part(commented(base, plan), "Denials")
    assist = next(d for d in document(plan)["decisions"] if d["workload"] == "adviser-assist")
    findings = [
        found
        for option in assist["others"]
        if option["option"]["pinned"]
        for found in option["findings"]
        if found["verdict"] == "deny" and found["rule_id"] == "RES-001"
    ]
    assert len(findings) == 2  # both models of the workload at the pinned type
    assert "[RES-001](docs/policies/RES-001.md) critical" in denials
    assert findings[0]["remedy"] in denials
    assert findings[0]["citation"]["clause"] in denials
    assert "and 1 more option" in denials
    assert denials.count("RES-001.md") == 1
    assert "residency AU" in denials
    assert findings[0]["waivable_by"] == []
    assert "nobody: this rule cannot be waived" in denials


def test_part_2_has_waivers_with_days_left_then_warnings(text: str, base: Plan) -> None:
    used = part(text, "Waivers used")
    # From 2026-11-29 to 2026-12-11.
    assert "WVR-2026-014: MOD-001 for branch-faq; 12 days left" in used
    assert "RISK-1203" in used
    counts = sum(
        finding["verdict"] == "warn"
        for item in document(base)["decisions"]
        for finding in item["chosen"]["findings"]
    ) + sum(finding["verdict"] == "warn" for finding in document(base)["findings"])
    assert f"**Warnings**: 0 new, {counts} as before" in text


def test_part_3_has_capacity_served_and_demanded(text: str, base: Plan, grown: Plan) -> None:
    capacity = part(text, "Capacity")
    assert capacity.startswith("**: 1 of 4 workloads change")
    sides = []
    for plan in (base, grown):
        row = next(d for d in document(plan)["decisions"] if d["workload"] == "adviser-assist")
        served = row["chosen"]["floor_tokens_per_minute"]
        peak = row["mix"]["tokens_per_minute_peak"]
        words = f"{served / 60:,.0f} of {peak / 60:,.0f}, the rest spills"
        sides.append((words, f"{served / peak * 100 - 100:+.0f}%"))
    assert f"| {sides[0][0]} -&gt; {sides[1][0]} |" in capacity
    # Provisioned units have no nodes to lose.
    assert f"| {sides[0][1]} -&gt; {sides[1][1]} |" in capacity
    assert "| adviser-assist | australiaeast | ProvisionedManaged | 25 units |" in capacity


def test_part_4_has_cost_with_fixed_and_usage_apart(text: str, base: Plan, grown: Plan) -> None:
    cost = part(text, "Cost")
    old, new = document(base)["totals"], document(grown)["totals"]
    for name, key in (
        ("**total**", "total"),
        ("fixed", "fixed"),
        ("usage", "variable"),
        ("engineering", "engineering"),
    ):
        a, b = old[f"{key}_usd_per_month"], new[f"{key}_usd_per_month"]
        change = f"+{whole_usd(b - a)}, {(b - a) / a * 100:+.1f}%" if b != a else "no change"
        change = f"**{change}**" if key == "total" else change
        assert f"| {name} | {whole_usd(a)} | {whole_usd(b)} | {change} |" in cost
    # The oldest and the newest price row that the new plan rests on.
    dates = {
        match[0]
        for item in document(grown)["decisions"]
        for source in item["chosen"]["cost"]["price_sources"]
        if source.startswith("price row") and (match := re.search(r"\d{4}-\d{2}-\d{2}", source))
    }
    assert f"dated {min(dates)} to {max(dates)}" in cost
    assert "Unknown prices: 0." in cost
    assert "offer 7" in text.partition("### Prices in use")[2]


def test_part_4_never_sums_what_is_not_known(base: Plan, planned: Planned) -> None:
    cost = part(commented(base, planned("bank-au", PINNED).plan), "Cost")
    assert "**not known**" in cost
    assert "| adviser-assist | $37,316 | not known | not known |" in cost
    assert "1 workload (adviser-assist): not in the total" in cost
    assert "-$" not in cost


def test_parts_5_and_6_are_residency_and_blast_radius(text: str, base: Plan, grown: Plan) -> None:
    assert part(text, "Residency") == "**: no change\n"
    blast = part(text, "Blast radius")
    assert blast.startswith("**: 1 to resize")
    capacity = [
        next(
            row["capacity"]
            for row in document(plan)["resources"]["deployments"]
            if row["name"] == "adviser-assist-spill"
        )
        for plan in (base, grown)
    ]
    assert f"adviser-assist-spill: capacity {capacity[0]} to {capacity[1]}" in blast


def test_part_7_has_what_moved_the_result(text: str) -> None:
    moved = part(text, "Assumptions that moved the result most")
    # As declared: 341,272 and 400,419 tokens a minute, then 443,654 and 520,545.
    assert "tokens per minute p90 341,272 -&gt; 443,654 (+30.0%)" in moved
    assert "tokens per minute peak 400,419 -&gt; 520,545 (+30.0%)" in moved


def test_part_8_says_how_to_see_it_again(text: str) -> None:
    last = shown(text)[-1]
    assert f"`{COMMAND}`" in last
    assert "`out/bank-au/plan.json`" in last
    assert "--format sarif" in last


def test_each_side_judged_by_its_own_policies_is_said(base: Plan) -> None:
    other = base.model_copy(
        update={"inputs": base.inputs.model_copy(update={"policy_digest": "sha256:" + "e" * 64})}
    )
    assert "the old side's are `eeeeeeeeeeee`" in commented(other, base)
    assert "the old side's" not in commented(base, base)


def test_local_changes_are_said(base: Plan) -> None:
    assert "commit `89abcdef0123` with local changes" in commented(base, base, edited=True)
    assert "commit" not in shown(commented(base, base, commit=None))[2]


HOSTILE = "x|y `z` <!-- llm-capacity: bank-au --> <b>\n# title [a](http://b) </details>"


def test_what_others_wrote_cannot_forge_the_comment() -> None:
    denial = make_finding(message=HOSTILE, remedy=HOSTILE, observed=HOSTILE, subject=HOSTILE)
    plan = make_plan([decision(others=[outcome([denial], lost="denied", pinned=True)])])
    found = commented(make_plan([decision(chosen=outcome())]), plan)
    assert found.count("<!--") == 1
    assert found.count("</details>") == 1
    assert "<b>" not in found
    assert not re.search(r"(?<!\\)\]\(http", found)
    row = next(line for line in shown(found) if line.startswith("| [RES-001]"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 8  # seven cells


def test_many_workloads_stay_on_a_screen_and_within_what_hosts_take() -> None:
    denials = [
        decision(
            f"w{number:03}",
            others=[
                outcome(
                    [make_finding(subject=f"w{number:03}/a", remedy="Do. " * 100)],
                    lost="denied",
                    pinned=True,
                )
            ],
        )
        for number in range(300)
    ]
    old = make_plan([decision(item.workload, chosen=outcome()) for item in denials])
    found = commented(old, make_plan(denials))
    assert len(shown(found)) <= SCREEN
    assert "and 296 more denials, in the details" in found
    assert len(found) <= LONGEST
    assert found.endswith("cut here: `llm-capacity diff` has all of it\n\n</details>\n")


def test_a_run_without_an_answer_is_blocked_and_no_pass() -> None:
    error = PolicyUnavailable(faults.OPA_MISSING.at("opa", "no OPA `here`"))
    found = failure_comment("bank-au", error, COMMAND)
    assert found.startswith("<!-- llm-capacity: bank-au -->\n**BLOCKED: ")
    assert "no OPA \\`here\\`" in found
    assert COMMAND in found
    assert "ALLOW" not in found
    problems = [faults.UNKNOWN_KEY.at(f"f{number}.yaml", "unknown key") for number in range(20)]
    many = failure_comment("bank-au", InputError(problems), COMMAND)
    assert "NOT PLANNED" in many
    assert len(shown(many)) < 15
    assert "and 13 more" in many
