"""Everything that a reader may meet is documented: options, keys, rules, codes, variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click
import pytest

from planner import errors
from planner.cli import main
from planner.declare import json_schemas
from planner.faults import REGISTRY
from tests.docs.links import DOCS
from tools import config_reference
from tools import exit_codes as exit_code_reference
from tools.config_reference import split_unit
from tools.exit_codes import exit_codes
from tools.generated import stale
from tools.shell_env import PROJECT

MANIFEST = json.loads((PROJECT / "policies/llm_capacity/manifest/data.json").read_text())
OWN_VARIABLES = {"LLM_CAPACITY_POLICY_FOLDER", "_LLM_CAPACITY_COMPLETE"}
"""What the planner passes to processes of its own: nobody sets them."""


def text(name: str) -> str:
    return (DOCS / name).read_text()


def section(page: str, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    found = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", page, re.MULTILINE | re.DOTALL
    )
    assert found, heading
    return found[1]


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command of the tree by the words that call it."""
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")


@pytest.mark.parametrize(("name", "command"), list(commands(main)))
def test_every_command_and_option_is_documented_and_has_help(
    name: str, command: click.Command
) -> None:
    told = section(text("cli.md"), name)
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, (name, parameter.name)
            for option in parameter.opts:
                assert f"`{option}`" in told, (name, option)


def test_every_exit_code_is_documented_with_its_errors() -> None:
    page = text("exit-codes.md")
    meanings, _, by_error = page.partition("## Which error")
    for code in exit_codes():
        assert re.search(rf"^\| {code} \| \w", meanings, re.MULTILINE), code
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", by_error, re.MULTILINE))
    assert set(rows) == {str(code) for code in exit_codes()}
    for id, kind in REGISTRY.items():
        assert f"[{id}]" in rows[str(kind.exit_code)], id
    assert stale(PROJECT, exit_code_reference.texts(PROJECT)) == [], "run `make docs`"


def test_exit_codes_are_those_of_the_errors() -> None:
    classes = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.PlannerError)
    }
    assert {errors.EXIT_ALLOWED, *classes} == set(exit_codes())


def test_every_error_is_documented() -> None:
    page = text("errors.md")
    for id, kind in REGISTRY.items():
        told = section(page, id)
        assert kind.title in told, id
        assert f"Exit code: {kind.exit_code}." in told, id


def test_every_rule_has_a_page_and_stands_in_the_index() -> None:
    index = text("policies/README.md")
    for rule in MANIFEST["rules"]:
        assert f"[{rule['id']}]({rule['id']}.md)" in index, rule["id"]
        assert text(f"policies/{rule['id']}.md").startswith(f"# {rule['id']}: "), rule["id"]


def objects(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {schema["title"]: schema, **schema["$defs"]}


@pytest.mark.parametrize("kind", ["workload", "platform"])
def test_every_key_of_the_declared_files_is_documented(kind: str) -> None:
    page = text("configuration.md")
    for name, item in objects(json_schemas()[kind]).items():
        told = section(page, name)
        for key, value in item["properties"].items():
            meaning, unit = split_unit(value["description"])
            row = re.search(rf"^\| `{key}` \| (.+) \|$", told, re.MULTILINE)
            assert row, (name, key)
            cells = re.split(r"(?<!\\) \| ", row[1])
            assert len(cells) == 4, (name, key, cells)
            assert cells[1].strip() == unit, (name, key)
            assert cells[3] == meaning.replace("|", "\\|"), (name, key)
    assert stale(PROJECT, config_reference.texts(PROJECT)) == [], "run `make docs`"


@pytest.mark.parametrize("kind", ["workload", "platform"])
def test_every_number_has_a_unit(kind: str) -> None:
    for name, item in objects(json_schemas()[kind]).items():
        for key, value in item["properties"].items():
            types = {part.get("type") for part in [value, *value.get("anyOf", ())]}
            if types & {"number", "integer"}:
                assert split_unit(value["description"])[1], (name, key)


def test_every_key_of_the_stack_is_documented() -> None:
    page = section(text("configuration.md"), "The stack's file")
    program = (PROJECT / "planner/program.py").read_text()
    declare = (PROJECT / "planner/declare.py").read_text()
    found = set(re.findall(r"config\.get\w*\(f?\"([a-z-]+)", program))
    found |= set(re.findall(r"\.get\(\"llm-capacity:([a-z-]+)", declare))
    assert {"folder", "approved-digest", "kubeconfig-", "signed-purchases"} <= found
    for key in found:
        assert f"`llm-capacity:{key}" in page, key


def test_every_variable_is_documented() -> None:
    source = "\n".join(path.read_text() for path in (PROJECT / "planner").rglob("*.py"))
    found = set(re.findall(r"\b_?LLM_CAPACITY_[A-Z_]+\b", source)) - OWN_VARIABLES
    assert "LLM_CAPACITY_ACTOR" in found
    page = section(text("configuration.md"), "Environment")
    assert {name for name in found if f"`{name}`" not in page} == set()
