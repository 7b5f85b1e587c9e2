"""Declared input that holds what looks like a secret is refused, and the value not shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner import faults
from planner.errors import InputError, Problem
from planner.secrets import Found, kind_of, secrets_in
from planner.yamlfile import YamlFile, read_yaml


def secret_problems(file: YamlFile, data: Any, at: tuple[int | str, ...] = ()) -> Iterator[Problem]:
    """Yield a problem for each place of ``data`` (at path ``at``) that holds a secret."""
    for found in secrets_in(data, at):
        yield faults.HOLDS_SECRET.at(file.where(found.path), _words(found))


def refuse_secrets_in_files(folder: Path) -> None:
    """Raise InputError when a YAML file below ``folder`` holds what looks like a secret.

    A file that is not even YAML is read line by line: what is wrong with it is for its
    own reader to say.
    """
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in (".yaml", ".yml") and path.is_file():
            problems.extend(_in_file(path, path.relative_to(folder.parent).as_posix()))
    if problems:
        raise InputError(problems)


def refuse_secrets_in_text(text: str, where: str) -> None:
    """Raise InputError naming the first line of a text that holds what looks like a secret."""
    problem = next(_in_lines(text, where), None)
    if problem is not None:
        raise InputError([problem])


def _in_file(path: Path, label: str) -> Iterator[Problem]:
    try:
        file = read_yaml(path, label)
    except InputError:
        try:
            text = path.read_bytes().decode("utf-8", errors="replace")
        except OSError:
            return
        yield from _in_lines(text, label)
    else:
        yield from secret_problems(file, file.data)


def _in_lines(text: str, where: str) -> Iterator[Problem]:
    if kind_of(text) is None:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if kind := kind_of(line):
            yield faults.HOLDS_SECRET.at(f"{where}:{number}", _words(Found((), kind, False)))


def _words(found: Found) -> str:
    holder = "a key of this mapping" if found.is_key else "this value"
    return f"{holder} looks like {found.kind}"
