"""The example pipelines are YAML, hold no secret, and call what exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from planner.cli import main
from planner.secrets import kind_of
from planner.toolchain.shell_env import shell_environment
from tools.shell_env import PROJECT

PIPELINES = sorted((PROJECT / "examples" / "pipelines").glob("*.yml"))
PAGES = [
    *(PROJECT / "docs" / name for name in ("components.md", "gitops.md", "pull-requests.md")),
    *sorted((PROJECT / "docs" / "how-to").glob("*.md")),
]
OURS = ("llm-capacity", "pulumi", "make")
SEPARATORS = frozenset("|&;<>()")
"""What ends a command's own words."""


def scripts(value: Any) -> Iterator[str]:
    """Every text of a pipeline that a shell runs."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("run", "script", "before_script", "after_script"):
                yield from [item] if isinstance(item, str) else item
            else:
                yield from scripts(item)
    elif isinstance(value, list):
        for item in value:
            yield from scripts(item)


def commands(text: str) -> Iterator[list[str]]:
    """The commands of ours in a shell text, those inside of $( ) among them."""
    for inner in re.findall(r"\$\(([^()]*)\)", text):
        yield from commands(inner)
    for line in text.replace("\\\n", " ").splitlines():
        words: list[str] = []
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        for word in [*lexer, ";"]:
            if set(word) <= SEPARATORS:
                if words and Path(words[0]).name in OURS:
                    yield [Path(words[0]).name, *words[1:]]
                words = []
            else:
                words.append(word)


def called() -> list[tuple[str, tuple[str, ...]]]:
    found = {
        (path.name, tuple(command))
        for path in PIPELINES
        for script in scripts(YAML(typ="safe", pure=True).load(path))
        for command in commands(script)
    }
    for page in PAGES:
        blocks = re.findall(r"```(?:sh|bash)\n(.*?)```", page.read_text(), re.DOTALL)
        found |= {(page.name, tuple(command)) for block in blocks for command in commands(block)}
    return sorted(found)


def pulumi_refuses(words: tuple[str, ...]) -> str:
    """What the real command line says of words that it does not know, else nothing."""
    env = shell_environment(PROJECT, preview_provider=False)
    # Some flags work and are not listed; an unknown one is refused before the help is told.
    answer = subprocess.run(
        ["pulumi", *words, "--help"], env={**os.environ, **env}, capture_output=True, text=True
    )
    return "" if answer.returncode == 0 else answer.stderr


@pytest.mark.parametrize(("where", "command"), called(), ids=lambda item: str(item)[:80])
def test_every_command_and_flag_exists(where: str, command: tuple[str, ...]) -> None:
    tool, *words = command
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    if tool == "make":
        makefile = (PROJECT / "Makefile").read_text()
        for target in (word for word in words if "=" not in word):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (where, target)
    elif tool == "llm-capacity":
        found: Any = main
        for word in words:
            if isinstance(found, click.Group) and word in found.commands:
                found = found.commands[word]
        assert found is not main, (where, command)
        options = {name for item in found.params for name in item.opts}
        assert set(flags) <= options, (where, set(flags) - options)
        required = {item.opts[0] for item in found.params if item.required and "-" in item.opts[0]}
        assert required <= set(flags), (where, command)
    else:
        assert not pulumi_refuses(tuple(words)), where


def test_a_command_that_does_not_exist_is_found() -> None:
    text = 'eval "$(llm-capacity env)"\nx=1; pulumi up --flag && make \\\n  setup || true > out'
    assert list(commands(text)) == [
        ["llm-capacity", "env"],
        ["pulumi", "up", "--flag"],
        ["make", "setup"],
    ]
    for wrong in (
        ("llm-capacity", "plan", "--nowhere"),
        ("llm-capacity", "nothing"),
        ("make", "x"),
    ):
        with pytest.raises(AssertionError):
            test_every_command_and_flag_exists("here", wrong)
    with pytest.raises(AssertionError):
        test_every_command_and_flag_exists("here", ("pulumi", "up", "--nowhere"))


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.name)
def test_a_pipeline_has_all_stages_and_no_secret(path: Path) -> None:
    text = path.read_text()
    document = YAML(typ="safe", pure=True).load(text)
    jobs = document.get("jobs", document)
    assert {"check", "plan", "apply", "drift"} <= set(jobs)
    assert not [line for line in text.splitlines() if kind_of(line)]
    assert not re.search(r"secrets\.|self-hosted|\.local\b|\b\d+\.\d+\.\d+\.\d+\b", text)
    apply = "\n".join(scripts(jobs["apply"]))
    order = (
        "approved-digest",
        "pulumi preview",
        "stack export",
        "llm-capacity verify",
        "pulumi up",
    )
    places = [apply.index(part) for part in order]
    assert places == sorted(places)
    assert jobs["apply"]["environment"] == "production"


def test_there_is_a_pipeline_for_each_host() -> None:
    assert [path.name for path in PIPELINES] == ["github-actions.yml", "gitlab-ci.yml"]
