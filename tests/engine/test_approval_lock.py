"""The approval lock in the real engine: another plan than the approved one, a moved state."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.approval import update_plan_digest
from planner.cli import main
from tests.engine.test_policy_pack import PACK, Run, state_of, told
from tests.engine.test_policy_pack import clone as clone
from tests.engine.test_policy_pack import run as run

pytestmark = pytest.mark.engine

STACK = "dev"
UP = ("up", "--yes", "--skip-preview", *PACK)


def cli(clone: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--stack", STACK, "--root", str(clone)])


def approved(clone: Path, *arguments: str) -> str:
    answer = cli(clone, "approval", "--format", "json", *arguments)
    assert answer.exit_code == 0, answer.output
    return str(json.loads(answer.stdout)["capacity_digest"])


def grow(clone: Path) -> None:
    """Declare fifty times the traffic."""
    path = clone / "stacks/dev/product-chat.yaml"
    line = re.search(r"tokens_per_minute: .*", path.read_text())
    assert line is not None
    more = re.sub(r"\d+", lambda found: f"{50 * int(found[0])}", line[0].partition("{")[2])
    # The percentiles' own names end in digits as well.
    more = re.sub(r"p(\d+):", lambda found: f"p{int(found[1]) // 50}:", more)
    path.write_text(path.read_text().replace(line[0], "tokens_per_minute: {" + more))


def test_only_the_approved_plan_is_applied(run: Run, clone: Path, engine_env: Any) -> None:
    digest = approved(clone)
    set_to = run(STACK, "config", "set", "llm-capacity:approved-digest", digest)
    assert set_to.returncode == 0, told(set_to)
    (clone / "approved.json").write_bytes((clone / "out/dev/plan.json").read_bytes())

    # Past the lock, the provider is asked; it refuses, being a stand-in.
    same = run(STACK, *UP)
    assert "does not create azure-native resources" in told(same)
    assert "is not the plan that was approved" not in told(same)

    grow(clone)
    preview = run(STACK, "preview", *PACK)
    assert preview.returncode == 0, told(preview)
    assert "A real run refuses before it changes anything." in told(preview)
    other = run(STACK, *UP)
    assert other.returncode != 0
    assert "this is not the plan that was approved" in told(other)
    assert digest in told(other)
    assert "Nothing was changed." in told(other)
    assert "does not create" not in told(other)
    assert "Traceback" not in told(other)
    exported = run(STACK, "stack", "export")
    assert "cognitiveservices" not in exported.stdout

    verified = cli(clone, "verify", "--digest", digest, "--baseline", "approved.json")
    assert verified.exit_code == 7, verified.output
    assert "capacity: approved" in verified.stderr


def test_a_required_approval_cannot_be_left_out(run: Run, clone: Path) -> None:
    """Refused without the digest; with it the run goes on to the provider, a stand-in."""
    path = clone / "stacks/dev/platform.yaml"
    path.write_text(path.read_text() + "policy: {approval: required}\n")
    refused = run(STACK, *UP)
    assert refused.returncode != 0
    digest = json.loads((clone / "out/dev/plan.json").read_text())["capacity_digest"]
    assert "requires an approval (policy.approval)" in told(refused)
    assert f"pulumi config set llm-capacity:approved-digest {digest}" in told(refused)
    assert "[E609]" in told(refused)
    assert "Nothing was changed." in told(refused)
    assert "does not create" not in told(refused)
    assert run(STACK, "config", "set", "llm-capacity:approved-digest", digest).returncode == 0
    named = run(STACK, *UP)
    assert "does not create azure-native resources" in told(named)
    assert "requires an approval" not in told(named)


def test_saved_plan_and_state_are_held_to_the_approval(
    run: Run, clone: Path, tmp_path: Path
) -> None:
    saved, again, state = (str(tmp_path / name) for name in ("plan", "again", "state"))
    document = state_of(run(STACK, "preview", "--json", *PACK), tmp_path / "first.json")
    document["deployment"]["resources"] = document["deployment"]["resources"][:1]
    (tmp_path / "first.json").write_text(json.dumps(document))
    imported = run(STACK, "stack", "import", "--file", str(tmp_path / "first.json"))
    assert imported.returncode == 0, told(imported)
    for path in (saved, again):
        preview = run(STACK, "preview", "--save-plan", path, *PACK)
        assert preview.returncode == 0, told(preview)
    # Two saves of one plan differ in their bytes, and not in their digest.
    assert Path(saved).read_bytes() != Path(again).read_bytes()
    assert update_plan_digest(Path(saved)) == update_plan_digest(Path(again))
    assert run(STACK, "stack", "export", "--file", state).returncode == 0
    given = ("--update-plan", saved, "--state", state)
    digest = approved(clone, *given)
    held = ("verify", "--digest", digest)
    assert run(STACK, "stack", "export", "--file", state).returncode == 0
    same = cli(clone, *held, "--update-plan", again, "--state", state)
    assert same.exit_code == 0, same.output

    # Somebody else's run: one resource more in the state.
    exported = json.loads(Path(state).read_text())
    stack_row = exported["deployment"]["resources"][0]
    component = {
        "urn": stack_row["urn"].rpartition("::")[0].replace("pulumi:pulumi:Stack", "other:c:C")
        + "::theirs",
        "type": "other:c:C",
        "custom": False,
    }
    exported["deployment"]["resources"].append(component)
    (tmp_path / "moved.json").write_text(json.dumps(exported))
    moved = run(STACK, "stack", "import", "--file", str(tmp_path / "moved.json"))
    assert moved.returncode == 0, told(moved)
    assert run(STACK, "stack", "export", "--file", state).returncode == 0
    answer = cli(clone, *held, *given)
    assert answer.exit_code == 7, answer.output
    assert "  state: approved" in answer.stderr
    assert "update plan" not in answer.stderr

    # And the saved plan of what would be done now is another one.
    assert run(STACK, "preview", "--save-plan", saved, *PACK).returncode == 0
    both = cli(clone, *held, *given)
    assert both.exit_code == 7
    assert "  update plan: approved" in both.stderr
