"""What an approval holds a later run to: capacity, saved plan, state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.approval import (
    FILE,
    Approval,
    changes,
    differences,
    mismatches,
    read_approval,
    state_digest,
    update_plan_digest,
)
from planner.cli import main
from planner.errors import InputError
from planner.plan import Plan
from tests.emit.conftest import plan as plan
from tests.projects import CHAT, changed

SEALED = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    "ciphertext": "v1:one",
}
UPDATE_PLAN = {
    "manifest": {"time": "2026-11-29T00:00:00Z", "magic": "m", "version": "3.274.1"},
    "config": {"llm-capacity:kubeconfig-gpu": {"secure": "v1:one"}},
    "resourcePlans": {
        "urn:a": {"goal": {"outputs": {"replicas": 2, "token": SEALED}}, "seed": "s1", "steps": []}
    },
}
STATE = {
    "version": 3,
    "deployment": {
        "manifest": {"time": "2026-11-29T00:00:00Z"},
        "resources": [{"urn": "urn:a", "inputs": {"replicas": 2, "token": SEALED}}],
    },
}


def written(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def again(document: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The same document, saved a second time: other seeds, times and ciphertext."""
    text = json.dumps(document).replace("v1:one", "v1:two").replace('"s1"', '"s2"')
    return {**json.loads(text.replace("2026-11-29T00", "2026-11-29T07")), **more}


def test_a_saved_plan_keeps_its_digest_until_something_else_is_planned(tmp_path: Path) -> None:
    first = update_plan_digest(written(tmp_path / "a", UPDATE_PLAN))
    assert update_plan_digest(written(tmp_path / "b", again(UPDATE_PLAN))) == first
    for old, new in (
        ('"replicas": 2', '"replicas": 3'),
        ("urn:a", "urn:b"),
        ("3.274.1", "3.275.0"),
        ("kubeconfig-gpu", "kubeconfig-other"),
        ('"steps": []', '"steps": ["delete"]'),
    ):
        other = json.loads(json.dumps(UPDATE_PLAN).replace(old, new))
        assert update_plan_digest(written(tmp_path / "c", other)) != first, old


def test_a_state_keeps_its_digest_until_a_resource_changes(tmp_path: Path) -> None:
    first = state_digest(written(tmp_path / "a", STATE))
    assert state_digest(written(tmp_path / "b", again(STATE))) == first
    pending = {**STATE["deployment"], "pending_operations": [{"type": "creating"}]}
    for other in (
        json.loads(json.dumps(STATE).replace('"replicas": 2', '"replicas": 3')),
        {**STATE, "deployment": {**STATE["deployment"], "resources": []}},
        {**STATE, "deployment": pending},
    ):
        assert state_digest(written(tmp_path / "c", other)) != first


@pytest.mark.parametrize("read", [update_plan_digest, state_digest])
@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"resourcePlans": [1], "deployment": 2}', '{"resourcePlans": {"a": 1}}'],
)
def test_another_file_is_refused(read: Callable[[Path], str], text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match="Write it with: pulumi"):
        read(tmp_path / "x")
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "absent")


def test_what_one_side_lacks_is_a_difference() -> None:
    approved = Approval(
        stack="s",
        capacity_digest="c",
        evidence_digest="e",
        update_plan_digest="p",
        state_digest="d",
    )
    same = {"update_plan": "p", "state": "d", "state_version": None}
    assert mismatches(approved, **same) == ()
    for change, told in (
        ({"state": "x"}, "state: approved d, now x"),
        ({"state": None}, "state: approved d, now nothing"),
        ({"state_version": "8"}, "state version: approved nothing, now 8"),
        ({"update_plan": "q"}, "update plan: approved p, now q"),
    ):
        (found,) = mismatches(approved, **{**same, **change})
        assert str(found) == told


def test_changes_are_told_by_the_names_of_rows() -> None:
    old = {"servers": [{"cluster": "c", "name": "a", "replicas": 2}, {"cluster": "c", "name": "b"}]}
    new = {"servers": [{"cluster": "c", "name": "b"}, {"cluster": "c", "name": "a", "replicas": 3}]}
    assert [str(item) for item in changes(old, new)] == ["servers.c/a.replicas: approved 2, now 3"]
    (gone,) = changes(old, {"servers": old["servers"][:1]})
    assert (gone.path, gone.now) == ("servers.c/b", "nothing")
    assert changes(old, old) == ()


def test_rows_that_no_name_tells_apart_are_compared_as_they_stand() -> None:
    rows = [{"workload": "w", "units": 1}, {"workload": "w", "units": 2}]
    (found,) = changes({"purchases": rows}, {"purchases": rows[:1]})
    assert found.path == "purchases"


def test_a_plan_that_is_not_the_approved_one_proves_nothing(plan: Plan) -> None:
    text = plan.to_json()
    assert differences(text, plan, token=plan.capacity_digest, where="p") == ()
    with pytest.raises(InputError, match="not the approved"):
        differences(text, plan, token="0" * 64, where="p")
    # A digest that the file merely says it has counts for nothing.
    edited = text.replace('"max_nodes": 2', '"max_nodes": 3')
    assert edited != text
    with pytest.raises(InputError, match="was changed since it was written"):
        differences(edited, plan, token=plan.capacity_digest, where="p")
    for broken in ("", "[]", "{}", '{"decisions": [], "resources": {}}'):
        with pytest.raises(InputError, match="not a plan"):
            differences(broken, plan, token="0" * 64, where="p")


def test_every_field_that_the_digest_covers_is_told(plan: Plan) -> None:
    resources = plan.resources
    server = resources.servers[0].model_copy(update={"replicas": 9})
    pool = resources.node_pools[0].model_copy(update={"max_nodes": 9})
    other = plan.model_copy(
        update={
            "resources": resources.model_copy(
                update={
                    "servers": (server, *resources.servers[1:]),
                    "node_pools": (pool, *resources.node_pools[1:]),
                    "deployments": resources.deployments[:2],
                }
            )
        }
    )
    found = differences(plan.to_json(), other, token=plan.capacity_digest, where="p")
    told = {item.path: (item.approved, item.now) for item in found}
    assert told["resources.servers.prod-sydney/chat.replicas"] == ("3", "9")
    assert told["resources.node_pools.prod-sydney/h100-interactive.max_nodes"] == ("2", "9")
    assert told["resources.deployments.aws-sydney/notes-payg"][1] == "nothing"
    assert len(told) == 3
    assert other.capacity_digest != plan.capacity_digest


@pytest.fixture
def cli(project: Callable[..., Path]) -> Callable[..., Result]:
    root = project(CHAT)

    def run(*arguments: str) -> Result:
        common = ["--stack", "s", "--root", str(root), "--at", "2026-11-29"]
        return CliRunner().invoke(main, [*arguments, *common])

    return run


def test_a_plan_is_verified_by_its_digest_and_a_changed_one_told(
    cli: Callable[..., Result], project: Callable[..., Path], tmp_path: Path
) -> None:
    planned = cli("plan", "--format", "json")
    assert planned.exit_code == 0, planned.output
    digest = json.loads(planned.stdout)["capacity_digest"]
    assert cli("verify", "--digest", digest).exit_code == 0
    (tmp_path / "approved.json").write_text(planned.stdout)

    tokens = CHAT["traffic"]["tokens_per_minute"]
    project(
        changed(CHAT, traffic__tokens_per_minute={key: 3 * value for key, value in tokens.items()})
    )
    alone = cli("verify", "--digest", digest)
    assert alone.exit_code == 7
    assert "--baseline" in alone.stderr
    answer = cli("verify", "--digest", digest, "--baseline", "approved.json")
    assert answer.exit_code == 7
    assert "resources.deployments.aue/" in answer.stderr
    assert ".capacity: approved" in answer.stderr

    project(changed(CHAT, residency={"jurisdictions": ["NZ"]}))
    denied = cli("verify", "--digest", digest)
    assert denied.exit_code == 5, "the policy of today is asked, whatever was approved"


def test_an_approval_ties_plan_state_and_capacity_together(
    cli: Callable[..., Result], tmp_path: Path
) -> None:
    saved = str(written(tmp_path / "plan", UPDATE_PLAN))
    state = str(written(tmp_path / "state", STATE))
    given = ("--update-plan", saved, "--state", state, "--state-version", "7")
    missing = cli("verify", "--digest", "0" * 64, "--state", state)
    assert missing.exit_code == 7
    made = cli("approval", *given, "--format", "json")
    assert made.exit_code == 0, made.output
    digest = json.loads(made.stdout)["capacity_digest"]
    path = tmp_path / "out/s" / FILE
    assert read_approval(path).state_version == "7"
    first = path.read_bytes()
    assert cli("approval", *given).exit_code == 0
    assert path.read_bytes() == first

    assert cli("verify", "--digest", digest, *given).exit_code == 0
    assert cli("verify", "--digest", digest).exit_code == 0
    written(tmp_path / "plan", again(UPDATE_PLAN))
    assert cli("verify", "--digest", digest, *given).exit_code == 0

    moved = json.loads(json.dumps(STATE).replace('"replicas": 2', '"replicas": 5'))
    written(tmp_path / "state", moved)
    answer = cli("verify", "--digest", digest, *given)
    assert answer.exit_code == 7
    assert "  state: approved " in answer.stderr
    assert "update plan:" not in answer.stderr
    forgotten = cli("verify", "--digest", digest, "--update-plan", saved)
    assert forgotten.exit_code == 7

    path.write_text(read_approval(path).model_copy(update={"stack": "t"}).to_json())
    assert cli("verify", "--digest", digest, *given).exit_code == 2
    path.write_text("{}")
    assert cli("verify", "--digest", digest, *given).exit_code == 2
    path.unlink()
    absent = cli("verify", "--digest", digest, "--state", state)
    assert absent.exit_code == 2
    assert "llm-capacity approval" in absent.stderr


def test_a_denied_plan_is_not_approved(
    cli: Callable[..., Result], project: Callable[..., Path], tmp_path: Path
) -> None:
    project(changed(CHAT, residency={"jurisdictions": ["NZ"]}))
    assert cli("approval").exit_code == 5
    assert not (tmp_path / "out/s" / FILE).exists()
