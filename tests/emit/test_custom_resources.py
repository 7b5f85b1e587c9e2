"""Custom resources against the schemas that their projects publish; unknown fields fail too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from planner.features import Scaling
from planner.plan import Plan
from planner.workload import BatchWindow
from tests.emit.conftest import CHAT, DIGEST
from tests.emit.objects import objects, scaled, with_servers
from tools.cluster_tools import cluster_tools

MODULES = (
    "github.com/kedacore/keda/v2",
    "github.com/prometheus-operator/prometheus-operator",
    "sigs.k8s.io/gateway-api",
    "sigs.k8s.io/karpenter",
    "sigs.k8s.io/kueue",
)
CHECKED = {
    "ClusterQueue",
    "HTTPRoute",
    "LocalQueue",
    "NodePool",
    "PodMonitor",
    "ResourceFlavor",
    "ScaledObject",
    "WorkloadPriorityClass",
}


@pytest.fixture(scope="module")
def schemas() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the schema of each served version, by API version and kind."""
    tools = cluster_tools(os.environ)
    if tools is None:
        pytest.skip("definitions are not downloaded: python -m tools.cluster_tools")
    yaml = YAML(typ="safe", pure=True)
    found = {}
    for module in MODULES:
        for path in tools.files_of(module):
            text = path.read_text(encoding="utf-8")
            if not any(f"    kind: {kind}\n" in text for kind in CHECKED):
                continue
            for document in yaml.load_all(text):
                if not document or document.get("kind") != "CustomResourceDefinition":
                    continue
                spec = document["spec"]
                for version in spec["versions"]:
                    key = (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
                    found[key] = version["schema"]["openAPIV3Schema"]
    return found


def unknown(value: Any, schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the fields that the API server would refuse as unknown."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown(item, schema.get("items", {}), f"{path}[{index}]")
    elif isinstance(value, dict) and "properties" in schema:
        for key, item in value.items():
            if key in schema["properties"]:
                yield from unknown(item, schema["properties"][key], f"{path}.{key}")
            elif not schema.get("x-kubernetes-preserve-unknown-fields"):
                yield f"{path}.{key}"


def test_every_custom_resource_fits_its_schema(
    plan: Plan, schemas: dict[tuple[str, str], dict[str, Any]]
) -> None:
    window = BatchWindow(hours="22:00-06:00", days=("mon", "sun"))
    nightly = Scaling(min_replicas=0, max_replicas=1, window=window)
    batch = DIGEST.model_copy(update={"scaling": nightly})
    checked = set()
    for manifest in objects(with_servers(plan, scaled(CHAT, 2, 4), batch)):
        schema = schemas.get((manifest["apiVersion"], manifest["kind"]))
        if schema is None:
            continue
        jsonschema.validate(manifest, schema)
        body = {key: value for key, value in manifest.items() if key != "metadata"}
        assert list(unknown(body, schema)) == [], manifest["kind"]
        checked.add(manifest["kind"])
    assert checked == CHECKED


def test_the_check_would_notice(schemas: dict[tuple[str, str], dict[str, Any]]) -> None:
    schema = schemas["keda.sh/v1alpha1", "ScaledObject"]
    wrong = {"spec": {"scaleTargetRef": {"name": "x"}, "minReplicas": 1, "triggers": []}}
    assert list(unknown(wrong, schema)) == [".spec.minReplicas"]
