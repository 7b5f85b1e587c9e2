"""The Kubernetes objects of a plan as YAML files, for pipelines that apply files.

The folder is replaced as a whole, and only if this program wrote all of it.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter

from planner.emit.grouping import ClusterResources, clusters
from planner.emit.labels import aks_pool_name
from planner.emit.manifests import Manifest, pool_labels
from planner.emit.steps import manual_steps
from planner.errors import InputError, PlannerError, Problem
from planner.plan import Plan

MARKER = ".llm-capacity-render.json"
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9._/-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})


def render(plan: Plan, out_dir: Path) -> list[Path]:
    """Write the plan's manifests below ``out_dir`` and return the files, sorted.

    One folder a cluster; the numbers in the names are the order to apply in.
    Equal plans give equal bytes. A folder with anything in it that an earlier
    render did not write is refused and left as it is.
    """
    if plan.verdict in ("deny", "unavailable"):
        raise PlannerError(f"the plan's verdict is {plan.verdict}: nothing is rendered.")
    files = documents(plan)
    _check_ours(out_dir)
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out_dir.parent, prefix=f".{out_dir.name}-") as scratch:
        fresh, stale = Path(scratch, "fresh"), Path(scratch, "stale")
        for name, text in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        if out_dir.exists():
            os.rename(out_dir, stale)
        try:
            os.rename(fresh, out_dir)
        except OSError:
            if stale.exists():
                os.rename(stale, out_dir)
            raise
        shutil.rmtree(stale, ignore_errors=True)
    return sorted(out_dir / name for name in files if name != MARKER)


def documents(plan: Plan) -> dict[str, str]:
    """Return every file's text by its name within the folder, the marker included."""
    files: dict[str, str] = {}
    for resources in clusters(plan):
        for order, manifest in _ordered(resources):
            files[f"{resources.cluster}/{_file_name(order, manifest)}"] = to_yaml(manifest)
        note = _agent_pool_note(resources)
        if note:
            files[f"{resources.cluster}/agent-pools.md"] = note
    steps = manual_steps(plan)
    if steps:
        numbered = [f"{number}. {text}" for number, text in enumerate(steps, start=1)]
        files["manual-steps.md"] = "\n".join(["# For a person, in this order", "", *numbered, ""])
    marker = {"capacity_digest": plan.capacity_digest, "files": sorted(files)}
    return files | {MARKER: json.dumps(marker, indent=2, sort_keys=True) + "\n"}


def to_yaml(manifest: Manifest) -> str:
    """Return a manifest as YAML that reads the same under YAML 1.1 and 1.2.

    kubectl reads YAML 1.1, where a bare NO is false: every string that is not
    plainly a word is quoted.
    """
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.width = 4096
    yaml.sort_base_mapping_type_on_output = False
    stream = io.StringIO()
    yaml.dump(manifest, stream)
    return stream.getvalue()


class _Representer(SafeRepresenter):
    def represent_text(self, data: str) -> ScalarNode:
        """Quote what a YAML 1.1 reader might take for something else than text."""
        plain = _PLAIN.fullmatch(data) and data.lower() not in _WORDS
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if plain else '"')

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values out: no anchors in manifests."""
        return True


_Representer.add_representer(str, _Representer.represent_text)


def _ordered(resources: ClusterResources) -> list[tuple[int, Manifest]]:
    servers = [manifest for placed in resources.servers for manifest in placed.manifests()]
    return [
        *((0, manifest) for manifest in resources.namespaces()),
        *((1, manifest) for manifest in resources.priority_classes()),
        *((2, manifest) for manifest in resources.node_pools()),
        *((3, manifest) for manifest in servers),
    ]


def _file_name(order: int, manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    parts = [manifest["kind"].lower(), metadata.get("namespace", ""), metadata["name"]]
    return f"{order}-{'_'.join(part for part in parts if part)}.yaml"


def _agent_pool_note(resources: ClusterResources) -> str:
    """Return a note on AKS agent pools: not Kubernetes objects, yet servers wait for them."""
    pools = resources.agent_pools()
    if not pools:
        return ""
    lines = [
        f"# AKS agent pools of {resources.cluster}",
        "",
        "Not Kubernetes objects: the Pulumi program creates them. Servers wait for them.",
        "",
        "| agent pool | resource group | VM size | nodes | zones | labels |",
        "|---|---|---|---|---|---|",
    ]
    for pool in pools:
        labels = ", ".join(f"`{key}={value}`" for key, value in pool_labels(pool).items())
        lines.append(
            f"| {aks_pool_name(pool.name)} | {pool.resource_group or '-'} | {pool.instance} "
            f"| {pool.min_nodes} to {pool.max_nodes} | {', '.join(pool.zones) or '-'} | {labels} |"
        )
    return "\n".join([*lines, ""])


def _check_ours(out_dir: Path) -> None:
    """Refuse a folder that holds anything an earlier render did not write."""
    if out_dir.is_symlink() or (out_dir.exists() and not out_dir.is_dir()):
        raise _refusal(out_dir, "is not a folder")
    if not out_dir.exists() or not any(out_dir.iterdir()):
        return
    try:
        listed = set(json.loads((out_dir / MARKER).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise _refusal(out_dir, "is not empty and was not written by a render") from None
    here = {
        path.relative_to(out_dir).as_posix()
        for path in out_dir.rglob("*")
        if not path.is_dir() or path.is_symlink()
    }
    foreign = sorted(here - listed - {MARKER})
    if foreign:
        raise _refusal(out_dir, f"also holds {', '.join(foreign)}, which no render wrote")


def _refusal(out_dir: Path, what: str) -> InputError:
    problem = Problem(str(out_dir), what, "Name another folder, or empty this one yourself.")
    return InputError([problem])
