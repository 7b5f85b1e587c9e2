"""No rendered file holds a secret: whoever reads the repository would read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner import faults
from planner.emit.manifests import Manifest
from planner.errors import PlannerError
from planner.secrets import kind_of, secrets_in

_CARRIERS = ("data", "stringData", "binaryData")


def refuse_secrets(manifests: Mapping[str, Manifest], texts: Mapping[str, str]) -> None:
    """Raise PlannerError naming every file that would hold a secret, and never the secret.

    ``manifests`` and ``texts`` are by file name. A Secret object may be named, never filled.
    """
    seen: set[str] = set()
    problems = [
        *(told for name, one in manifests.items() for told in _in_manifest(name, one, seen)),
        *(told for name, text in texts.items() for told in _in_text(name, text)),
    ]
    if problems:
        what = "nothing was rendered, because a file would hold a secret"
        fix = "Name a Secret that exists in the cluster (an ExternalSecret makes one) instead."
        head = faults.HOLDS_SECRET_VALUE.at("render", what, fix)
        raise PlannerError(head, [f"  {line}" for line in problems])


def _in_manifest(name: str, manifest: Manifest, seen: set[str]) -> Iterator[str]:
    """Yield what is wrong with an object; ``seen`` are texts already found to be harmless."""
    if manifest.get("kind") == "Secret" and any(manifest.get(key) for key in _CARRIERS):
        yield f"{name}: a Secret with its data"
        return
    fresh = set(_texts(manifest)) - seen
    if not any(kind_of(text) for text in fresh):
        seen |= fresh
        return
    for found in secrets_in(manifest):
        place = ".".join(str(part) for part in found.path)
        yield f"{name}: {place or 'a key'} looks like {found.kind}"


def _texts(value: Any, key: str = "") -> Iterator[str]:
    """Yield every text of plain data, keys among them, and each value with its key."""
    if isinstance(value, str):
        yield value
        yield f"{key}: {value}"
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _texts(item, str(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _in_text(name: str, text: str) -> Iterator[str]:
    # A plan says the same in thousands of lines: each is looked at once.
    for line in dict.fromkeys(text.splitlines()):
        if kind := kind_of(line):
            number = text[: text.index(line)].count("\n") + 1
            yield f"{name}:{number}: looks like {kind}"
            return
