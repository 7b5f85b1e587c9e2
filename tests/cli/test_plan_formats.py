"""`plan` for people and for machines: the same decision in every format."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.cli import main
from planner.cli.common import planned
from planner.report.check import headline
from planner.report.explain import explain
from planner.report.findings import Checked
from planner.report.plan_markdown import plan_markdown
from planner.report.text import headline_word, summary
from planner.units import format_usd
from tests.projects import CHAT, changed


def run(root: Any, form: str) -> Result:
    return CliRunner().invoke(main, ["plan", "--stack", "s", "--root", str(root), "--format", form])


def test_markdown_has_the_rows_and_the_bill_of_the_plan(project: Any) -> None:
    root = project(CHAT)
    result = run(root, "markdown")
    assert result.exit_code == 0, result.stderr
    plan = planned({"root": root, "stack": "s"})
    assert result.stdout == plan_markdown(plan)
    (decision,) = plan.decisions
    assert decision.chosen is not None
    assert decision.chosen.cost is not None
    cost = format_usd(decision.chosen.cost.total_usd_per_month or 0)
    assert f"| chat | Standard gpt-4.1-mini in australiaeast | {cost} |" in result.stdout
    assert f"| **total** | **{format_usd(plan.totals.total_usd_per_month)}** |" in result.stdout
    assert summary(plan) in result.stdout

    # One form of money a month, in the plan and in its explanation.
    told = summary(plan) + explain(plan, decision)
    assert f"; {cost} a month; tightest" in told
    assert f"= {cost} (" in told
    assert "cost a month: fixed $0.00 + usage " in told
    assert "  total a month: " in told
    assert "/month" not in "".join(line for line in told.splitlines() if "$" in line)


def test_a_verdict_has_one_word_wherever_it_is_told(project: Any) -> None:
    plan = planned({"root": project(CHAT), "stack": "s"})
    checked = Checked(plan, at=dt.datetime(2026, 12, 1, tzinfo=dt.UTC), files={})
    for verdict, word in (
        ("allow", "ALLOW"),
        ("warn", "ALLOW, with warnings"),
        ("deny", "DENY"),
        ("unavailable", "BLOCKED"),
    ):
        judged = plan.model_copy(update={"verdict": verdict})
        assert summary(judged).splitlines()[0] == f"Plan for s, as of {plan.as_of}: {word}"
        assert plan_markdown(judged).splitlines()[0].endswith(f": {word}")
        assert headline(replace(checked, plan=judged)).startswith(word)
    unserved = plan.decisions[0].model_copy(update={"status": "infeasible", "chosen": None})
    stopped = plan.model_copy(update={"verdict": "warn", "decisions": (unserved,)})
    assert headline_word(stopped) == "INFEASIBLE (policy: ALLOW, with warnings)"


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_denied_plan_says_so_and_ends_with_5(project: Any, form: str) -> None:
    root = project(changed(CHAT, pin={"deployment_type": "GlobalStandard"}))
    result = run(root, form)
    assert result.exit_code == 5
    assert "DENY" in result.stdout.splitlines()[0]
    assert "DENIED" in result.stdout


def test_html_is_the_report(project: Any) -> None:
    result = run(project(CHAT), "html")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.lower().startswith("<!doctype html>")
    assert "gpt-4.1-mini" in result.stdout
