"""The files of a rendered folder, by name: what Argo CD or Flux applies, and what people read.

::

    README.md  manual-steps.md  plan.json  policy-record.json  purchases/  guards/
    CLUSTER/kustomization.yaml                  all of a cluster, for Argo CD's sync waves
    CLUSTER/infra/kustomization.yaml            what Flux applies first
    CLUSTER/workloads/kustomization.yaml        what Flux applies then
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from planner import faults
from planner.emit.grouping import ClusterResources, clusters
from planner.emit.leaks import refuse_secrets
from planner.emit.manifests import Manifest
from planner.emit.readme import manual_steps_page, readme
from planner.emit.waves import STEPS, in_wave, step_of
from planner.emit.yaml_text import to_yaml
from planner.errors import PlannerError
from planner.plan import Plan
from planner.purchases import purchase_records

LONGEST_NAME = 200
"""Bytes of a file's name: file systems take 255, Kubernetes names alone have up to 253."""

MOMENT_ONLY = (
    "actor",
    "archive_digest",
    "commit",
    "decision_id",
    "evaluated_at",
    "input_digest",
    "pipeline_url",
    "previous",
    "run",
)
"""What differs between two runs that decide the same: out of a rendered record."""


def documents(
    plan: Plan,
    record: Mapping[str, Any] | None = None,
    plan_json: str | None = None,
    guards: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return every file's text by its name within the folder.

    ``record`` is the policy record of the run; what is only true of its moment is left out,
    so that a folder in Git changes when a decision does. ``plan_json`` is the plan's JSON
    where the run has written it already, ``guards`` the texts of
    :func:`planner.guards.documents.guard_files`. Equal plans give equal texts.
    Raises PlannerError for what cannot be emitted, and where a file would hold a secret.
    """
    found = clusters(plan)
    manifests = _manifests(found)
    files = {name: to_yaml(manifest) for name, manifest in manifests.items()}
    texts = {
        "README.md": readme(plan, found),
        "manual-steps.md": manual_steps_page(plan),
        "plan.json": plan_json or plan.to_json(),
        "policy-record.json": "" if record is None else _record(record),
        **{f"purchases/{name}": text for name, text in purchase_records(plan).items()},
        **guards,
    }
    texts = {name: text for name, text in texts.items() if text}
    refuse_secrets(manifests, texts)
    return {**files, **_kustomizations(manifests), **texts}


def file_name(manifest: Manifest) -> str:
    """Return an object's file name: of its kind, namespace and name alone."""
    metadata = manifest["metadata"]
    parts = [manifest["kind"].lower(), metadata.get("namespace", ""), metadata["name"]]
    # A name of Kubernetes may hold a colon, which Windows does not check out.
    stem = "_".join(part for part in parts if part).replace(":", "-")
    if len(stem) > LONGEST_NAME:
        stem = f"{stem[: LONGEST_NAME - 13]}-{hashlib.sha256(stem.encode()).hexdigest()[:12]}"
    return f"{stem}.yaml"


def _manifests(found: tuple[ClusterResources, ...]) -> dict[str, Manifest]:
    files: dict[str, Manifest] = {}
    for resources in found:
        for manifest in resources.objects():
            name = f"{resources.cluster}/{step_of(manifest)}/{file_name(manifest)}"
            if name in files:
                what, fix = "two objects would be written to it", "Rename one of them."
                raise PlannerError(faults.BAD_OBJECT_NAME.at(name, what, fix))
            files[name] = in_wave(manifest)
    return files


def _kustomizations(manifests: Mapping[str, Manifest]) -> dict[str, str]:
    """Return a kustomization.yaml for each cluster, and for each of its steps."""
    files: dict[str, str] = {}
    for cluster in sorted({name.split("/")[0] for name in manifests}):
        steps = []
        for step in STEPS:
            folder = f"{cluster}/{step}/"
            inside = sorted(name.removeprefix(folder) for name in manifests if _in(folder, name))
            if inside:
                files[f"{folder}kustomization.yaml"] = _kustomization(inside)
                steps.append(step)
        files[f"{cluster}/kustomization.yaml"] = _kustomization(list(steps))
    return files


def _in(folder: str, name: str) -> bool:
    return name.startswith(folder)


def _kustomization(resources: list[str]) -> str:
    return to_yaml(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": resources,
        }
    )


def _record(record: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in record.items() if key not in MOMENT_ONLY}
    return json.dumps(kept, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
