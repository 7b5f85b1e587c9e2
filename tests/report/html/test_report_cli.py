"""`llm-capacity report`: written before a denial is raised, on stdout by `check --format html`."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from planner.cli import main
from tests.projects import CHAT, changed

AT = "2026-12-01T12:00:00Z"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, [*arguments])


def asked(root: Path) -> list[str]:
    return ["--root", str(root), "--stack", "s", "--at", AT]


def test_a_denied_stack_has_its_report_and_its_exit_code(
    project: Any, opa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    root = project(changed(CHAT, pin={"deployment_type": "GlobalStandard"}))
    out = root / "made" / "report.html"
    result = run("report", *asked(root), "--out", str(out), "--open")
    assert result.exit_code == 5
    assert result.stdout == f"{out}\n"
    assert "denied by policy" in result.stderr
    html = out.read_text(encoding="utf-8")
    assert "DENY: this plan may not proceed" in html
    assert "RES-001" in html
    plan = json.loads((root / "out" / "s" / "plan.json").read_text())
    assert plan["evidence_digest"] in html
    assert opened == [out.as_uri()]
    printed = run("check", *asked(root), "--format", "html")
    assert printed.exit_code == 5
    assert printed.stdout == html


def test_nothing_is_planned_without_the_extra(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    root = project(CHAT)
    result = run("report", *asked(root), "--out", str(root / "report.html"))
    assert result.exit_code == 2
    assert 'pip install "llm-capacity[report]"' in result.stderr
    assert not (root / "report.html").exists()
    assert not (root / "out").exists()
