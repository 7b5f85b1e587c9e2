"""Workloads and a platform given as inputs of a component, as a project that can be planned.

A schema of Pulumi names keys in camelCase; declared files have snake_case. Keys of a map
(models, annotations) are the user's own and stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner import faults
from planner.declare import PLATFORM_FILE, json_schemas
from planner.errors import InputError
from planner.files import write_whole
from planner.project import CONFIG_FOLDER
from planner.running import OUT_FOLDER

FOLDER = "declared"
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def camel(name: str) -> str:
    """Return a declared key as a schema of Pulumi names it."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def declared_project(project: Path, stack: str, workloads: Any, platform: Any) -> Path:
    """Write the inputs as stack ``stack`` of a project below ``project``, and return its folder.

    It lies in ``out/declared/STACK`` and uses the policies of ``project``; plan and record of
    the stack are below it. Raises InputError for inputs that are no such documents.
    """
    if not isinstance(workloads, Sequence) or isinstance(workloads, str) or not workloads:
        raise InputError(
            [faults.NO_WORKLOAD.at("workloads", "lists no workload", "Declare at least one.")]
        )
    if not isinstance(platform, Mapping):
        raise InputError(
            [faults.NO_PLATFORM.at("platform", "is missing", "Declare where capacity may be.")]
        )
    schemas = json_schemas()
    root = project / OUT_FOLDER / FOLDER / stack
    files = {PLATFORM_FILE: declared(platform, schemas["platform"])}
    for number, workload in enumerate(workloads):
        document = declared(workload, schemas["workload"])
        name = str(document.get("name")) if isinstance(document, Mapping) else ""
        known = _FILE_NAME.fullmatch(name) and f"{name}.yaml" not in files
        files[f"{name}.yaml" if known else f"workload-{number}.yaml"] = document
    folder = root / CONFIG_FOLDER / stack
    for old in folder.glob("*.yaml"):
        if old.name not in files:
            old.unlink()
    for name, document in files.items():
        write_whole(folder / name, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    _link_policies(root, project)
    return root


def declared(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return an input as a declared document: its keys renamed, whole numbers as such."""
    root = root or schema
    kinds = _resolved(schema, root)
    if isinstance(value, Mapping):
        names = {camel(name): (name, rest) for kind in kinds for name, rest in _keys(kind)}
        maps = [kind["additionalProperties"] for kind in kinds if _is_map(kind)]
        inner: Mapping[str, Any] = maps[0] if maps else {}
        found = {}
        for key, item in value.items():
            name, below = names.get(key, (key, inner))
            found[name] = declared(item, below, root)
        return found
    if isinstance(value, Sequence) and not isinstance(value, str):
        lists = [kind["items"] for kind in kinds if "items" in kind]
        items: Mapping[str, Any] = lists[0] if lists else {}
        return [declared(item, items, root) for item in value]
    # Every number arrives as a float.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas that a value may follow, with references followed."""
    if "$ref" in schema:
        return _resolved(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return [kind for one in alternatives for kind in _resolved(one, root)]
    return [schema]


def _keys(kind: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return list(kind.get("properties", {}).items())


def _is_map(kind: Mapping[str, Any]) -> bool:
    return isinstance(kind.get("additionalProperties"), Mapping)


def _link_policies(root: Path, project: Path) -> None:
    """Let the project's policies be those of the declared one too."""
    link, policies = root / "policies", (project / "policies").resolve()
    if link.is_symlink():
        link.unlink()
    if policies.is_dir():
        link.symlink_to(policies)
