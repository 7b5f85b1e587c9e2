"""The how-to pages are walked on copies of the example stacks, with the real engine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from planner.toolchain.shell_env import EXAMPLES_PASSPHRASE
from tests.docs.walkthrough import Command, FileStep, Walk, steps
from tests.engine.conftest import engine_env as engine_env
from tests.projects import copy_program
from tools.shell_env import PROJECT

pytestmark = pytest.mark.engine

PAGES = PROJECT / "docs" / "how-to"
NOON = "--at 2026-11-30T12:00:00Z"
"""When the waiver of the page is signed and judged: it ends, and tests go on."""


def digest(folder: Path) -> str:
    return str(json.loads((folder / "approved.json").read_text())["capacity_digest"])


def order(folder: Path) -> str:
    record = folder / "deploy/bank-au/purchases/adviser-assist.json"
    document = json.loads(record.read_text())
    assert document["signable"], document["status"]
    return str(document["order_digest"])


def public_key(folder: Path) -> str:
    """The key as it stands inside of a JSON text."""
    command = ["openssl", "pkey", "-in", "approver.pem", "-pubout"]
    told = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return json.dumps(told)[1:-1]


@pytest.fixture
def walk(tmp_path: Path, engine_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Walk:
    """A copy of the program, in its shell."""
    folder = copy_program(tmp_path / "project")
    pack = str(folder / "policies" / "pulumi")
    own = {"LLM_CAPACITY_PACK": pack, "PULUMI_CONFIG_PASSPHRASE": EXAMPLES_PASSPHRASE}
    env = {**os.environ, **engine_env, **own}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    return Walk(folder, env)


def test_there_are_five_pages_and_each_has_steps() -> None:
    found = {page.stem: list(steps(page)) for page in PAGES.glob("*.md")}
    assert set(found) == {
        "add-a-model",
        "approve-and-apply",
        "negotiate-a-price",
        "recover-from-a-bad-plan",
        "waive-a-rule",
    }
    for name, wanted in found.items():
        commands = [step for step in wanted if isinstance(step, Command)]
        assert len(commands) > 3, name
        assert any(step.shown for step in commands), name


def test_a_model_is_added(walk: Walk) -> None:
    assert walk.walk(PAGES / "add-a-model.md")


def test_a_price_is_negotiated(walk: Walk) -> None:
    walk.stand_ins = {"ORDER": order}
    assert walk.walk(PAGES / "negotiate-a-price.md")
    # What the page says of COM-001: signed, it denies no more; PIN-001 is all that does.
    plan = json.loads((walk.folder / "out/bank-au/plan.json").read_text())
    denied = {row["rule_id"] for row in plan["findings"] if row["verdict"] == "deny"}
    assert denied == {"PIN-001"}


def test_a_rule_is_waived(walk: Walk) -> None:
    walk.stand_ins = {"PUBLIC_KEY": public_key}
    walk.extra = {"llm-capacity waivers": NOON, "llm-capacity check": NOON}
    assert walk.walk(PAGES / "waive-a-rule.md")


def test_a_plan_is_approved_and_recovered(walk: Walk) -> None:
    command = ["pulumi", "stack", "init", "dev", "--non-interactive"]
    subprocess.run(command, cwd=walk.folder, env=dict(walk.env), check=True, capture_output=True)
    walk.stand_ins = {"DIGEST": digest}
    assert walk.walk(PAGES / "approve-and-apply.md")
    assert walk.walk(PAGES / "recover-from-a-bad-plan.md")


def test_a_step_that_does_not_hold_is_found(walk: Walk, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for body, told in [
        ("```console\n$ true  # ends with 3\n```\n", "'true', 0"),
        ("```console\n$ echo one\ntwo\n```\n", "'two'"),
        ("<!-- edit: Pulumi.yaml -->\n```diff\n-nothing of this\n+x\n```\n", "nothing of this"),
    ]:
        page.write_text(body)
        with pytest.raises(AssertionError, match=told):
            walk.walk(page)
    page.write_text("<!-- write: new.yaml -->\n```yaml\na: 1\n```\n")
    assert list(steps(page)) == [FileStep("write", "new.yaml", "a: 1\n")]
