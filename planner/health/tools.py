"""The tools beside Python: pulumi, its Python host and Kubernetes provider, OPA."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from planner.health.checks import Check
from planner.project import has_own_pack, pack_folder
from planner.toolchain import cache as store
from planner.toolchain.pins import (
    KUBERNETES_PROVIDER,
    OPA,
    PULUMI,
    Tool,
    format_version,
    parse_version,
)
from planner.toolchain.shell_env import TOOLS_FILE, record_of
from planner.toolchain.toolchain import LANGUAGE_HOST

_SECONDS = 60.0


def tool_checks(root: Path, environ: Mapping[str, str], *, clone: bool) -> Iterator[Check]:
    """Check each tool where a run would find it: on PATH, else where set-up has put it.

    No tool is asked for anything but its version, and none may look for updates.
    """
    fix = "make setup" if clone else "llm-capacity setup"
    noted = _noted(root, environ)
    # Only what PATH has is used by a plain `pulumi`; the rest comes with `llm-capacity env`.
    places = {tool.name: _place(tool.name, noted, environ) for tool in (OPA, PULUMI)}
    yield _versioned(OPA, places[OPA.name], "every decision", environ, fix)
    yield _versioned(PULUMI, places[PULUMI.name], "previews and changes", environ, fix)
    yield _found(
        LANGUAGE_HOST,
        _host(places[PULUMI.name], noted, environ),
        "Pulumi programs in Python",
        fix,
    )
    yield _kubernetes(noted, environ, fix)
    yield pack_check(root)


def is_clone() -> bool:
    """Tell whether this runs in the environment of a clone that set-up has prepared."""
    return (Path(sys.prefix) / TOOLS_FILE).is_file()


def pack_check(root: Path) -> Check:
    """Tell where the policy pack of this project lies."""
    folder = pack_folder(root)
    there = (folder / "PulumiPolicy.yaml").is_file()
    return Check(
        name="policy pack",
        status="ok" if there else "missing",
        needed_for="every change: pulumi up --policy-pack",
        version="the project's own" if has_own_pack(root) else "installed" if there else None,
        place=str(folder),
        fix="" if there else "install llm-capacity again",
    )


def _noted(root: Path, environ: Mapping[str, str]) -> dict[str, Path]:
    """Return the executables that set-up has noted, none where it has not been run."""
    try:
        text = record_of(root, store.cache_root(environ)).read_text()
        found = json.loads(text)["executables"]
        return {str(name): Path(path) for name, path in found.items()}
    except (OSError, ValueError, KeyError, AttributeError):
        return {}


def _place(name: str, noted: Mapping[str, Path], environ: Mapping[str, str]) -> Path | None:
    located = shutil.which(name, path=environ.get("PATH", os.defpath))
    if located is not None:
        return Path(located)
    kept = noted.get(name)
    return kept if kept is not None and store.is_executable(kept) else None


def _host(
    pulumi: Path | None, noted: Mapping[str, Path], environ: Mapping[str, str]
) -> Path | None:
    if pulumi is not None:
        beside = pulumi.resolve().parent / LANGUAGE_HOST
        if store.is_executable(beside):
            return beside
    return _place(LANGUAGE_HOST, noted, environ)


def _kubernetes(noted: Mapping[str, Path], environ: Mapping[str, str], fix: str) -> Check:
    tool = KUBERNETES_PROVIDER
    home = store.pulumi_home(store.cache_root(environ), environ)
    installed = home / "plugins" / f"resource-kubernetes-v{tool.version}" / tool.name
    place = installed if store.is_executable(installed) else _place(tool.name, noted, environ)
    return _found(tool.name, place, "self-hosted capacity", fix, wanted=tool.version)


def _found(name: str, place: Path | None, needed_for: str, fix: str, wanted: str = "") -> Check:
    return Check(
        name=name,
        status="missing" if place is None else "ok",
        needed_for=needed_for,
        wanted=wanted,
        place=None if place is None else str(place),
        fix=fix if place is None else "",
    )


def _versioned(
    tool: Tool, place: Path | None, needed_for: str, environ: Mapping[str, str], fix: str
) -> Check:
    version = None if place is None else _version(tool, place, environ)
    enough = version is not None and tool.minimum is not None and version >= tool.minimum
    return Check(
        name=tool.name,
        status="missing" if place is None else "ok" if enough else "wrong",
        needed_for=needed_for,
        version=None if version is None else format_version(version),
        wanted=tool.accepted.removeprefix(f"{tool.name} "),
        place=None if place is None else str(place),
        fix="" if enough else fix,
    )


def _version(tool: Tool, place: Path, environ: Mapping[str, str]) -> tuple[int, ...] | None:
    home = str(store.pulumi_home(store.cache_root(environ), environ))
    quiet = {**environ, "PULUMI_SKIP_UPDATE_CHECK": "1", "PULUMI_HOME": home}
    try:
        answer = subprocess.run(
            [str(place), *tool.version_command],
            capture_output=True,
            text=True,
            env=quiet,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(answer.stdout)
