"""Copies of the example stacks, pinned as a real change needs, and the engine run on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from planner.api import plan_stack
from planner.plan import Plan
from planner.toolchain.shell_env import EXAMPLES_PASSPHRASE
from tests.projects import copy_program

IMAGE_DIGEST = "sha256:" + "5a" * 32
REVISION = "0123456789abcdef0123456789abcdef01234567"
ON_OWN_METAL = {
    "bank-au": {"statement-digest": {"kind": "self_hosted"}},
    "dev": {"doc-summaries": {"kind": "self_hosted"}},
    "saas-global": {},
}
"""Workloads to put on the stack's own cluster, so that each has a Kubernetes part and two of
them a batch tier; the examples rent these for less."""
FEATURES: dict[str, Any] = {
    "pod_monitor": True,
    "kueue": True,
    "gateway": {"name": "inference", "namespace": "gateways"},
    "inference_pool": True,
    "lws": True,
}
"""What a cluster may declare to have, besides KEDA."""
KEDA = {"prometheus": "http://prometheus.monitoring.svc:9090"}
"""Where it is declared, it sets the replicas: nothing does here."""
PACK = ("--policy-pack", "policies/pulumi")

Change = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Copy:
    """A copy of the program and its input, as a pipeline checks them out."""

    root: Path
    stack: str

    def plan(self) -> Plan:
        """The plan that a real change of this copy follows."""
        return plan_stack(self.root, self.stack, operation="update", write=False)

    def edit(self, name: str, change: Change) -> None:
        """Change one of the stack's files."""
        path = self.root / "stacks" / self.stack / f"{name}.yaml"
        content = _read(path)
        change(content)
        _write(path, content)


def copy_of(stack: str, folder: Path, *, own_metal: bool = True) -> Copy:
    """Copy a stack and pin image and models; `own_metal` puts ON_OWN_METAL to work."""
    root = copy_program(folder / "clone")
    made = Copy(root, stack)
    made.edit("platform", _pin)
    if own_metal:
        for workload, pin in ON_OWN_METAL[stack].items():
            made.edit(workload, lambda content, pin=pin: content.update(pin=dict(pin)))
    return made


@cache
def planned(stack: str) -> Plan:
    """The plan of a copy, made once a session."""
    with TemporaryDirectory() as folder:
        return copy_of(stack, Path(folder)).plan()


def declare(copy: Copy, features: Mapping[str, Any]) -> Copy:
    """Have every cluster of a copy declare features, and who may call its servers."""

    def change(platform: dict[str, Any]) -> None:
        for cluster in platform["clusters"]:
            cluster["features"] = dict(features)
            cluster["monitoring_namespace"] = "monitoring"
            cluster["batch_client_namespaces"] = ["jobs"]

    copy.edit("platform", change)
    return copy


def _pin(platform: dict[str, Any]) -> None:
    for cluster in platform["clusters"]:
        cluster["serving"]["image_digest"] = IMAGE_DIGEST
        for source in cluster["serving"]["model_sources"]:
            source["revision"] = REVISION


@dataclass(frozen=True)
class Engine:
    """The real engine on a copy, with a backend of its own."""

    copy: Copy
    env: Mapping[str, str]
    run_pulumi: Callable[..., CompletedProcess[str]]

    def __call__(self, *command: str) -> CompletedProcess[str]:
        """Run one command on the copy's stack."""
        arguments = [*command, "--stack", self.copy.stack, "--non-interactive"]
        try:
            return self.run_pulumi(arguments, self.copy.root, self.env)
        except TimeoutExpired as late:
            said = (late.stdout or b"").decode(errors="replace")
            raise AssertionError(f"{' '.join(command)}: {late.timeout:g} s\n{said}") from None

    def connect(self, cluster: str, kubeconfig: str) -> None:
        """Give the program a cluster's kubeconfig, as a secret of the stack."""
        key = f"llm-capacity:kubeconfig-{cluster}"
        answer = self("config", "set", "--secret", key, kubeconfig)
        assert answer.returncode == 0, told(answer)

    def up(self, *more: str) -> CompletedProcess[str]:
        """Preview and apply, watched by the policy pack."""
        return self("up", "--yes", *PACK, *more)

    def destroy(self) -> CompletedProcess[str]:
        """Take everything down; a purchased deployment has to be unprotected by hand before."""
        self("state", "unprotect", "--all", "--yes")
        return self("destroy", "--yes", "--skip-preview")


def engine_on(
    copy: Copy,
    folder: Path,
    engine_env: Mapping[str, str],
    run_pulumi: Callable[..., CompletedProcess[str]],
    providers: str,
) -> Engine:
    """An engine on `copy`; `providers` is the value of PULUMI_DEBUG_PROVIDERS."""
    backend = folder / "backend"
    backend.mkdir()
    env = {
        **engine_env,
        "PULUMI_CONFIG_PASSPHRASE": EXAMPLES_PASSPHRASE,
        "PULUMI_BACKEND_URL": f"file://{backend}",
        "PULUMI_DEBUG_PROVIDERS": providers,
        "PATH": engine_env["PATH"] + os.pathsep + os.defpath,
    }
    engine = Engine(copy, env, run_pulumi)
    made = run_pulumi(["stack", "init", copy.stack, "--non-interactive"], copy.root, env)
    assert made.returncode == 0, told(made)
    return engine


def told(answer: CompletedProcess[str]) -> str:
    """Everything that the engine printed."""
    return answer.stdout + answer.stderr


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="rt").load(path.read_text())
    return content


def _write(path: Path, content: Mapping[str, Any]) -> None:
    with path.open("w") as stream:
        YAML(typ="rt").dump(content, stream)
