"""The control plane that tests run: built once for this user, beside the other tools.

`python -m tools.cluster_tools` builds what is absent; tests find it through `cluster_tools`.
Definitions of custom resources come from the modules that publish them, never from a copy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.toolchain import cache as store
from planner.toolchain.progress import run_step
from planner.toolchain.toolchain import build
from tools.pins import CLUSTER, DEFINITIONS, GO


@dataclass(frozen=True)
class ClusterTools:
    """Executables by name, and the folder of definitions: one folder a module."""

    executables: dict[str, Path]
    definitions: Path

    def files_of(self, module: str) -> list[Path]:
        """The YAML files taken from a module, in the order of their names."""
        return sorted((self.definitions / module.replace("/", "_")).rglob("*.yaml"))


def resolve_cluster(environ: Mapping[str, str]) -> ClusterTools:
    """Build what is absent; the caller holds the lock of the cache."""
    cache = store.cache_root(environ)
    found = {tool.name: build(tool, GO, cache, environ) for tool in CLUSTER}
    return ClusterTools(found, _definitions(cache, environ))


def cluster_tools(environ: Mapping[str, str]) -> ClusterTools | None:
    """The tools as set-up left them, None where they are not built."""
    cache = store.cache_root(environ)
    found = {
        tool.name: store.tool_directory(cache, tool, GO / tool.source) / tool.name
        for tool in CLUSTER
    }
    definitions = _definitions_folder(cache)
    if not all(store.is_executable(path) for path in found.values()) or not definitions.is_dir():
        return None
    return ClusterTools(found, definitions)


def _definitions_folder(cache: Path) -> Path:
    source = GO / "crds"
    texts = [json.dumps(DEFINITIONS, sort_keys=True).encode()]
    key = store.short_digest([*texts, (source / "go.mod").read_bytes()])
    return cache / "tools" / f"definitions-{key}"


def _definitions(cache: Path, environ: Mapping[str, str]) -> Path:
    source = GO / "crds"

    def fill(draft: Path) -> None:
        work = draft / "module"
        work.mkdir()
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(source / name, work / name)
        env = {**environ, "GOWORK": "off", "GOFLAGS": "-mod=mod"}
        run_step(
            "downloading definitions of custom resources",
            ["go", "mod", "download", *DEFINITIONS],
            log=cache / "logs" / "definitions.log",
            minutes=0.5,
            remedy="A Go module proxy must be reachable: set GOPROXY, then run this again.",
            cwd=work,
            env=env,
        )
        for module, places in DEFINITIONS.items():
            folder = _module_folder(module, work, env)
            for place in places:
                target = draft / module.replace("/", "_") / place
                target.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (folder / place).is_dir() else shutil.copyfile
                copy(folder / place, target)
        shutil.rmtree(work)

    return store.publish(_definitions_folder(cache), fill)


def _module_folder(module: str, work: Path, env: Mapping[str, str]) -> Path:
    answer = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", module],
        cwd=work,
        env=dict(env),
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(answer.stdout.strip())


def main() -> int:
    """Build; 0 when everything is there, 1 with the way out on stderr otherwise."""
    environ = dict(os.environ)
    return store.under_lock(environ, lambda: resolve_cluster(environ))


if __name__ == "__main__":
    sys.exit(main())
