"""Editors: every declared file passes its JSON Schema, and a misspelt key does not."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from planner.cli import main
from planner.yamlfile import read_yaml
from tools import editor_schemas
from tools.generated import stale
from tools.shell_env import PROJECT

_LINE = re.compile(r"^# yaml-language-server: \$schema=(\S+)$")
EXAMPLES = sorted((PROJECT / "stacks").glob("*/*.yaml"))


def schema_of(file: Path) -> Draft202012Validator:
    """The schema that the file's first line names, as an editor finds it."""
    match = _LINE.match(file.read_text().splitlines()[0])
    assert match is not None, file
    return checked((file.parent / match[1]).resolve())


@functools.cache
def checked(path: Path) -> Draft202012Validator:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(file: Path, data: Any) -> list[str]:
    return [error.message for error in schema_of(file).iter_errors(data)]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("generated")
    for cloud in ("azure", "aws", "gcp"):
        for tier in ("interactive", "batch"):
            asked = ["--cloud", cloud, "--tier", tier, "--stack", f"{cloud}-{tier}"]
            result = CliRunner().invoke(main, ["init", "--root", str(root), *asked])
            assert result.exit_code == 0, result.stderr
    return sorted(root.glob("stacks/*/*.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_example_shows_no_false_error(file: Path) -> None:
    assert errors(file, read_yaml(file, file.name).data) == []


def test_a_generated_file_shows_no_false_error(generated: list[Path]) -> None:
    assert len(generated) == 12
    for file in generated:
        assert errors(file, read_yaml(file, file.name).data) == []


def test_what_the_comments_offer_is_right_too(generated: list[Path]) -> None:
    for file in generated:
        for number, line in enumerate(file.read_text().splitlines()):
            match = re.match(r"^(?:\s*)# ([a-z_]+): (\{.*\}|\[.*\]|\S+)$", line)
            if match is None:
                continue
            data = read_yaml(file, file.name).data
            place = data["accounts"][0] if line.startswith("    #") and "accounts" in data else data
            if line.startswith("    #") and "models" in data:
                place = data["models"][0]
            if line.startswith("  #"):
                place = data["traffic"]
            key, text = match.groups()
            place[key] = read_text(text)
            assert errors(file, data) == [], (file.name, number, line)


def read_text(text: str) -> Any:
    from ruamel.yaml import YAML

    value = YAML(typ="safe").load(text)
    # Dates are text in YAML 1.2's core schema, which editors use.
    return json.loads(json.dumps(value, default=str))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_misspelt_key_is_an_error_at_every_level(file: Path) -> None:
    data = read_yaml(file, file.name).data
    for holder in mappings(data):
        for key in list(holder):
            value = holder.pop(key)
            holder[f"{key}x"] = value
            assert not schema_of(file).is_valid(data), key
            del holder[f"{key}x"]
            holder[key] = value
    assert errors(file, data) == []


FREE = ("model_versions", "node_quotas", "service_account_annotations")
"""Mappings whose keys are the user's own."""


def mappings(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for item in value for found in mappings(item)]
    if not isinstance(value, dict):
        return []
    inner = [found for key, item in value.items() if key not in FREE for found in mappings(item)]
    return [value, *inner]


def test_the_schemas_in_the_repository_are_those_of_the_models(tmp_path: Path) -> None:
    texts = editor_schemas.texts(PROJECT)
    assert stale(PROJECT, texts) == [], "run `make docs`"
    assert stale(tmp_path, texts) == sorted(texts)


def test_the_mapping_of_vs_code_names_schemas_that_exist() -> None:
    settings = json.loads((PROJECT / ".vscode" / "settings.json").read_text())
    for schema in settings["yaml.schemas"]:
        assert (PROJECT / schema).is_file()
    assert (PROJECT / "docs/editors.md").read_text().count('"yaml.schemas"') == 1
