"""What a deployed stack says of itself: the snapshot among its outputs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner import faults
from planner.comparing.packed import unpacked
from planner.comparing.snapshot import SCHEMA_VERSION, Snapshot, nothing
from planner.errors import InputError, Problem

OUTPUT = "plan_summary"
"""The output that holds the snapshot, packed."""

_STACK_TYPE = "pulumi:pulumi:Stack"
_SECONDS = 120


def outputs_of(document: Any) -> dict[str, Any] | None:
    """Return the stack's outputs in a document, None where it holds none.

    The document is the outputs themselves (``pulumi stack output --json``) or a state
    (``pulumi stack export``).
    """
    if not isinstance(document, dict):
        return None
    if OUTPUT in document:
        return document
    deployment = document.get("deployment")
    if not isinstance(deployment, dict):
        return None
    for row in deployment.get("resources") or []:
        if isinstance(row, dict) and row.get("type") == _STACK_TYPE:
            found = row.get("outputs") or {}
            return found if isinstance(found, dict) else None
    return {}


def snapshot_in(outputs: dict[str, Any], stack: str, where: str) -> Snapshot:
    """Return the snapshot among a stack's outputs; nothing where it has no output at all.

    Raises InputError where there are outputs and no snapshot that this release can read.
    """
    if not outputs:
        return nothing(stack)
    text = outputs.get(OUTPUT)
    if not isinstance(text, str):
        what = f"its outputs have no {OUTPUT}: an older release deployed it"
        fix = "Compare with its plan.json or a Git revision until it is deployed again."
        raise InputError([faults.BAD_AGAINST.at(where, what, fix)])
    return read_snapshot(text, where)


def read_snapshot(line: str, where: str) -> Snapshot:
    """Return the snapshot that ``packed`` wrote, of this version or an older one."""
    try:
        text = unpacked(line)
        document = json.loads(text)
        version = document.get("schema_version", SCHEMA_VERSION)
    except (ValueError, AttributeError):
        what = f"its {OUTPUT} is no summary of a plan"
        raise InputError([faults.BAD_AGAINST.at(where, what)]) from None
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        what = f"its {OUTPUT} has schema version {version}; this release reads {SCHEMA_VERSION}"
        raise InputError([faults.PLAN_TOO_NEW.at(where, what)])
    try:
        return Snapshot.model_validate_json(text)
    except ValidationError as error:
        raise InputError([_unreadable(where, error)]) from None


def ask_engine(root: Path, stack: str) -> dict[str, Any]:
    """Return the outputs of the deployed stack, as the engine has them; no secret is shown."""
    words = ["pulumi", "stack", "output", "--json", "--non-interactive", "--stack", stack]
    where = f"stack {stack}"
    try:
        answer = subprocess.run(
            words, cwd=root, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except FileNotFoundError:
        fix = 'Run eval "$(llm-capacity env)", or give a file of `pulumi stack export`.'
        raise InputError([faults.BAD_AGAINST.at("pulumi", "it is not on PATH", fix)]) from None
    except subprocess.TimeoutExpired:
        what = f"pulumi gave no answer within {_SECONDS} s"
        raise InputError([faults.BAD_AGAINST.at(where, what)]) from None
    if answer.returncode:
        lines = answer.stderr.strip().splitlines() or ["it said nothing"]
        fix = "Log in to the stack's backend, or give a file of `pulumi stack export`."
        what = f"pulumi cannot tell its outputs: {lines[-1].removeprefix('error: ')}"
        raise InputError([faults.BAD_AGAINST.at(where, what, fix)])
    try:
        found = json.loads(answer.stdout)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError([faults.BAD_AGAINST.at(where, "pulumi's answer is no JSON object")])
    return found


def _unreadable(where: str, error: ValidationError) -> Problem:
    first = error.errors()[0]
    path = ".".join(str(part) for part in first["loc"])
    return faults.BAD_AGAINST.at(where, f"its {OUTPUT} cannot be read: {path}: {first['msg']}")
