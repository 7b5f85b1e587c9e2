"""What tests need from outside Python, besides what users need (planner.toolchain.pins)."""

from __future__ import annotations

from pathlib import Path

from planner.toolchain.pins import Tool

GO = Path(__file__).resolve().parent / "go"
"""The Go sources of the tools below, one folder each."""

YAML_HOST = Tool(
    name="pulumi-language-yaml",
    version="1.25.0",
    minimum=None,
    # It prints a port and serves: it has no version to print.
    version_command=("--help",),
    source="pulumi-yaml",
    package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    minutes=1,
)
"""Pulumi's YAML language host, for tests of programs in other languages."""

KUBE_VERSION = "1.36.3"


def _kube(name: str, minutes: float) -> Tool:
    return Tool(
        name=name,
        version=KUBE_VERSION,
        minimum=None,
        version_command=("--version",),
        source="kube",
        package=f"k8s.io/kubernetes/cmd/{name}",
        linker=(f"k8s.io/component-base/version.gitVersion=v{KUBE_VERSION}",),
        minutes=minutes,
        memory_gib=3,
    )


CLUSTER = (
    Tool(
        name="etcd",
        version="3.7.3",
        minimum=None,
        version_command=("--version",),
        source="etcd",
        package="go.etcd.io/etcd/server/v3",
        minutes=0.5,
    ),
    _kube("kube-apiserver", 3),
    _kube("kube-scheduler", 0.5),
    _kube("kube-controller-manager", 1),
    Tool(
        name="kwok",
        version="0.8.0",
        minimum=None,
        version_command=("--version",),
        source="kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        minutes=1,
    ),
    Tool(
        name="karpenter",
        version="1.14.0",
        minimum=None,
        version_command=("--help",),
        source="karpenter",
        package="sigs.k8s.io/karpenter/kwok",
        minutes=1.5,
    ),
)
"""A control plane for tests: real servers, nodes kept by KWOK, Karpenter without a cloud."""

DEFINITIONS = {
    "github.com/kedacore/keda/v2": ("config/crd/bases/keda.sh_scaledobjects.yaml",),
    "github.com/prometheus-operator/prometheus-operator": (
        "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
    ),
    "sigs.k8s.io/gateway-api": ("config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",),
    "sigs.k8s.io/karpenter": ("pkg/apis/crds", "kwok/apis/crds"),
    "sigs.k8s.io/kueue": ("config/components/crd/bases",),
    "sigs.k8s.io/kwok": ("kustomize/stage/node/fast", "kustomize/stage/pod/fast"),
}
"""Custom resource definitions and KWOK stages: files and folders of published modules."""
