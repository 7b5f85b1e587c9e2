"""Commands that have commands of their own: each one runs, and none is skipped in silence."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner, Result

from planner.cli import COMMANDS, main
from tests.projects import copy_program

SIGNED_AT, ASKED_AT = "2026-11-30T10:00:00Z", "2026-12-01T00:00:00Z"
WAIVER = """\
id: WVR-2026-001
rule: BUD-001
subject: stack
scope: {stack: prod}
requested_by: platform lead
approver: budget-office
ticket: FIN-1
reason: The new budget is on the agenda.
granted: 2026-11-30
expires: 2026-12-20
"""


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def subcommands() -> Iterator[tuple[str, click.Command]]:
    for entry in COMMANDS:
        command = main.commands[entry.name]
        if isinstance(command, click.Group):
            yield from ((entry.name, sub) for sub in command.commands.values())


def test_every_command_of_a_group_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(subcommands())
    assert ("waivers", "sign") in [(group, sub.name) for group, sub in found]
    for group, sub in found:
        reached: list[str] = []
        # What it needs is another matter: here it asks for nothing and only tells that it ran.
        monkeypatch.setattr(sub, "params", [])
        monkeypatch.setattr(sub, "callback", lambda told=reached: told.append("ran"))
        result = run(group, sub.name)
        assert (result.exit_code, reached) == (0, ["ran"]), result.output


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """A project whose owner list knows a key, and a waiver of that key's owner."""
    root = copy_program(tmp_path / "project")
    key = tmp_path / "approver.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    public = subprocess.run(
        ["openssl", "pkey", "-in", key, "-pubout"], check=True, capture_output=True, text=True
    ).stdout
    owners = root / "policies" / "llm_capacity" / "facts" / "waiver_owners" / "data.json"
    document = json.loads(owners.read_text())
    row = {"roles": ["budget_owner"], "public_key": public, "git_login": None}
    document["approvers"] = {"budget-office": row}
    owners.write_text(json.dumps(document))
    waiver = root / "policies" / "waivers" / "budget.yaml"
    waiver.parent.mkdir(exist_ok=True)
    waiver.write_text(WAIVER)
    return waiver, key


def listed(root: Path) -> str:
    result = run("waivers", "--root", root, "--at", ASKED_AT)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_signed_waiver_is_listed_as_one_that_counts(signed: tuple[Path, Path]) -> None:
    waiver, key = signed
    root = waiver.parents[2]
    assert listed(root).startswith(f"Waivers at {ASKED_AT}: 0 live")
    result = run("waivers", "sign", waiver, "--key", key, "--at", SIGNED_AT)
    envelope = waiver.with_name("budget.yaml.dsse.json")
    assert (result.exit_code, result.stdout) == (0, f"{envelope.as_posix()}\n")
    assert json.loads(envelope.read_text())["payloadType"].endswith("waiver-approval+json")
    told = listed(root)
    assert told.startswith(f"Waivers at {ASKED_AT}: 1 live")
    # From 1 to 20 December, midnight to midnight.
    assert "live until 2026-12-20T00:00:00Z, 19 whole days left" in told
    assert f"approved by budget-office as budget_owner, signed {SIGNED_AT}" in told


def test_a_waiver_that_changed_after_its_signature_no_longer_counts(
    signed: tuple[Path, Path],
) -> None:
    waiver, key = signed
    assert run("waivers", "sign", waiver, "--key", key, "--at", SIGNED_AT).exit_code == 0
    waiver.write_text(WAIVER.replace("2026-12-20", "2026-12-21"))
    told = listed(waiver.parents[2])
    assert "0 live" in told
    assert "1 rejected" in told


@pytest.mark.parametrize(
    ("option", "value"),
    [("--at", SIGNED_AT), ("--root", "."), ("--format", "json"), ("--reviews", "r.json")],
)
def test_an_option_of_the_list_does_not_pass_for_one_of_signing(
    signed: tuple[Path, Path], option: str, value: str
) -> None:
    waiver, key = signed
    result = run("waivers", option, value, "sign", waiver, "--key", key)
    assert result.exit_code == 2
    assert option in result.stderr
    assert "[E208]" in result.stderr
    assert not waiver.with_name("budget.yaml.dsse.json").exists()
