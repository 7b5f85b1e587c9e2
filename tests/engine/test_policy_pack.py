"""The policy pack in the real engine: what it lets pass, what it stops, and when it cannot tell."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from planner.errors import InputError, PolicyDenied
from planner.pack.audit import audit_state
from planner.toolchain.cache import short_digest
from planner.toolchain.shell_env import EXAMPLES_PASSPHRASE
from tests.clouds import PLATFORM, WORKLOADS
from tests.projects import copy_program
from tools.shell_env import PROJECT

pytestmark = pytest.mark.engine

PACK = ("--policy-pack", "policies/pulumi")
Run = Callable[..., "CompletedProcess[str]"]

BESIDE = '''
"""The real program, with resources edited and added by hand."""

import runpy
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import cognitiveservices

SECRET = "hf_" + "a" * 34


def edit(args):
    kind, props = args.type_, args.props
    if kind.endswith("cognitiveservices:Deployment") and props["deployment_name"] == "branch-faq":
        props["sku"] = {"name": "GlobalStandard", "capacity": props["sku"]["capacity"]}
    if kind == "kubernetes:apps/v1:Deployment":
        props["spec"]["replicas"] = 7
        container = props["spec"]["template"]["spec"]["containers"][0]
        container["image"] = "docker.io/someone/vllm:latest"
        container["args"] = [*container["args"], "--trust-remote-code"]
        container["env"] = [*container["env"], {"name": "HF_TOKEN", "value": SECRET}]
    return pulumi.ResourceTransformationResult(props, args.opts)


pulumi.runtime.register_stack_transformation(edit)
runpy.run_path(str(Path(__file__).parent / "program.py"), run_name="__main__")


def deployment(name, deployment_name):
    return cognitiveservices.Deployment(
        name,
        resource_group_name="rg",
        account_name="bank-openai-aue",
        deployment_name=deployment_name,
        properties={"model": {"format": "OpenAI", "name": "gpt-4.1-mini"}},
        sku={"name": "Standard", "capacity": 5},
    )


shadow = deployment("shadow", "shadow")
deployment("named-later", shadow.id)
provider = kubernetes.Provider("own", kubeconfig="{}", cluster_identifier="bank-aks-aue")
metadata = {"name": "settings", "namespace": "llm"}
kubernetes.core.v1.ConfigMap(
    "settings",
    metadata=metadata,
    data={"API_TOKEN": "open-sesame-42", "note": "nothing"},
    opts=pulumi.ResourceOptions(provider=provider),
)
kubernetes.core.v1.Secret(
    "kept",
    metadata=metadata,
    string_data={"token": pulumi.Output.secret("open-sesame-43")},
    opts=pulumi.ResourceOptions(provider=provider),
)
'''

WIDER = '''
"""The real program, with the type of every deployment changed by hand."""

import runpy
from pathlib import Path

import pulumi


def edit(args):
    if args.type_.endswith("cognitiveservices:Deployment"):
        args.props["sku"] = {"name": "DataZoneStandard", "capacity": 1}
    return pulumi.ResourceTransformationResult(args.props, args.opts)


pulumi.runtime.register_stack_transformation(edit)
runpy.run_path(str(Path(__file__).parent / "program.py"), run_name="__main__")
'''

NOTHING = '"""A program that registers nothing."""\n'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The program and its input alone, as a pipeline checks them out."""
    return copy_program(tmp_path / "clone")


@pytest.fixture
def run(clone: Path, engine_env: dict[str, str], run_pulumi: Any, tmp_path: Path) -> Run:
    """`run(stack, *command, **env)`: one command on a stack in a backend of its own."""
    backend = tmp_path / "backend"
    backend.mkdir()
    env = {
        **engine_env,
        "PULUMI_CONFIG_PASSPHRASE": EXAMPLES_PASSPHRASE,
        "PULUMI_BACKEND_URL": f"file://{backend}",
    }

    def go(stack: str, *command: str, **more: str) -> CompletedProcess[str]:
        # An analysis of a file asks for no stack.
        name = ["--non-interactive", *([] if "--file" in command else ["--stack", stack])]
        if not (backend / ".pulumi").exists():
            made = run_pulumi(["stack", "init", stack, "--non-interactive"], clone, env)
            assert made.returncode == 0, made.stderr
        return run_pulumi([*command, *name], clone, {**env, **more})

    return go


def replace_program(clone: Path, source: str) -> None:
    """Put ``source`` in the place of the program, which it can run as program.py."""
    (clone / "__main__.py").rename(clone / "program.py")
    (clone / "__main__.py").write_text(source)


def told(answer: CompletedProcess[str]) -> str:
    return answer.stdout + answer.stderr


def violations(answer: CompletedProcess[str]) -> set[tuple[str, str]]:
    """What is told as mandatory or advisory: rule and the resource's name in the program."""
    found = set()
    for line in told(answer).splitlines():
        words = line.split()
        if words[:2] in (["-", "[mandatory]"], ["-", "[advisory]"]):
            rest = [
                word for word in words[2:] if not word.startswith("[severity") and "]" not in word
            ]
            found.add((rest[0], rest[-1].rstrip(")")))
    return found


def state_of(preview: CompletedProcess[str], path: Path) -> dict[str, Any]:
    """Write the state that a preview announces as an export; return its document."""
    assert preview.returncode == 0, told(preview)
    steps = json.loads(preview.stdout[preview.stdout.index("{") :])["steps"]
    resources = [step["newState"] for step in steps]
    named = {resource["urn"] for resource in resources}
    used = {item["provider"].rpartition("::")[0] for item in resources if "provider" in item}
    # A preview does not tell of the providers that the engine makes by itself.
    resources = [
        {"urn": urn, "type": urn.split("::")[2], "custom": True, "inputs": {}}
        for urn in sorted(used - named)
    ] + resources
    ids = {resource["urn"]: f"id-{number}" for number, resource in enumerate(resources)}
    for resource in resources:
        resource["outputs"] = {}
        if resource["custom"]:
            resource["id"] = ids[resource["urn"]]
        if "provider" in resource:
            urn = resource["provider"].rpartition("::")[0]
            resource["provider"] = f"{urn}::{ids[urn]}"
    manifest = {"time": "2026-11-29T00:00:00Z", "magic": "", "version": ""}
    document = {
        "version": 3,
        "deployment": {"manifest": manifest, "resources": resources, "metadata": {}},
    }
    path.write_text(json.dumps(document))
    return document


def test_what_the_plan_decided_passes_and_an_edited_state_is_found(
    run: Run, clone: Path, tmp_path: Path
) -> None:
    preview = run("bank-au", "preview", "--json", *PACK)
    path = tmp_path / "state.json"
    document = state_of(preview, path)
    assert audit_state(path, clone).findings == ()

    # By hand in the portal, then refreshed into the state: bigger, wider, and one more.
    resources = document["deployment"]["resources"]
    faq = next(item for item in resources if item["urn"].endswith("-branch-faq"))
    faq["inputs"]["sku"] = {"name": "GlobalStandard", "capacity": 490}
    server = next(item for item in resources if item["type"] == "kubernetes:apps/v1:Deployment")
    server["inputs"]["spec"]["replicas"] = 5
    shadow = json.loads(json.dumps(faq)) | {"urn": faq["urn"] + "-2", "id": "id-shadow"}
    shadow["inputs"]["deploymentName"] = "shadow"
    resources += [shadow]
    path.write_text(json.dumps(document))
    audit = audit_state(path, clone)
    assert audit.verdict == "deny"
    said = {(found.rule_id, found.subject.split("::")[-1]) for found in audit.findings}
    assert said == {
        ("RSC-001", "bank-openai-aue-branch-faq"),
        ("RSC-001", "bank-openai-aue-branch-faq-2"),
        ("RSC-001", "bank-aks-aue-case-notes-deployment"),
        ("RES-001", "branch-faq/registered/bank-openai-aue/branch-faq"),
    }

    # The engine's own analysis of the same file, with the same pack.
    answer = run("bank-au", "policy", "analyze", "--file", str(path), *PACK)
    assert answer.returncode != 0
    assert {rule for rule, _ in violations(answer)} == {"RSC-001", "RES-001"}, told(answer)
    assert "spec.replicas" in told(answer)


def test_an_edited_program_is_denied_by_every_rule_that_it_breaks(run: Run, clone: Path) -> None:
    replace_program(clone, BESIDE)
    answer = run("bank-au", "preview", *PACK)
    assert answer.returncode != 0
    assert violations(answer) == {
        ("RSC-001", "bank-openai-aue-branch-faq"),
        ("RES-001", "bank-openai-aue-branch-faq"),
        ("RSC-001", "bank-aks-aue-case-notes-deployment"),
        ("SEC-001", "bank-aks-aue-case-notes-deployment"),
        ("TRC-001", "bank-aks-aue-case-notes-deployment"),
        ("RSC-001", "shadow"),
        ("RSC-001", "named-later"),
        ("SEC-001", "settings"),
    }, told(answer)
    for part in (
        "sku.name GlobalStandard",
        "sku.name Standard",
        "spec.replicas 7",
        "spec.replicas 2",
        "docker.io/someone/vllm:latest",
        "shadow is beside the plan",
        "UNAVAILABLE RSC-001",
        "data.API_TOKEN holds what is named API_TOKEN in plain text",
    ):
        assert part in told(answer), part
    assert "open-sesame" not in told(answer)
    assert "hf_aaaa" not in told(answer)


def test_a_change_needs_the_pack_and_is_judged_before_it_is_made(run: Run, clone: Path) -> None:
    without = run("dev", "up", "--yes", "--skip-preview")
    assert without.returncode != 0
    assert "Run again with --policy-pack policies/pulumi" in told(without)
    assert "does not create" not in told(without)
    assert "Traceback" not in told(without)

    # Program and pack agree, so that the provider is asked; it refuses, being a stand-in.
    with_pack = run("dev", "up", "--yes", "--skip-preview", *PACK)
    assert with_pack.returncode != 0
    assert not violations(with_pack), told(with_pack)
    assert "does not create azure-native resources" in told(with_pack)

    replace_program(clone, WIDER)
    edited = run("dev", "up", "--yes", "--skip-preview", *PACK)
    assert edited.returncode != 0
    assert "RSC-001" in {rule for rule, _ in violations(edited)}, told(edited)
    assert "does not create" not in told(edited)


def test_accounts_units_and_alerts_of_three_clouds_pass(
    project: Callable[..., Path], engine_env: dict[str, str], run_pulumi: Any
) -> None:
    folder = project(*WORKLOADS, platform=PLATFORM)
    shutil.copy(PROJECT / "__main__.py", folder)
    shutil.copytree(PROJECT / "policies", folder / "policies", dirs_exist_ok=True)
    (folder / "Pulumi.yaml").write_text(
        f"name: p{short_digest([str(folder).encode()])}\nruntime: python\nstackConfigDir: stacks\n"
    )
    (folder / "stacks" / "Pulumi.s.yaml").write_text("config:\n  llm-capacity:folder: s\n")
    made = run_pulumi(["stack", "init", "s", "--non-interactive"], folder, engine_env)
    assert made.returncode == 0, made.stderr
    command = ["preview", "--stack", "s", "--non-interactive", *PACK]
    answer = run_pulumi(command, folder, engine_env)
    assert answer.returncode == 0, told(answer)
    assert not violations(answer), told(answer)


def no_opa(clone: Path, env: dict[str, str]) -> None:
    """Leave everything of the PATH in its place but OPA."""
    folders = []
    for number, folder in enumerate(env["PATH"].split(os.pathsep)):
        if not (Path(folder) / "opa").exists():
            folders.append(folder)
            continue
        view = clone.parent / f"bin-{number}"
        view.mkdir()
        for tool in Path(folder).iterdir():
            if tool.name != "opa":
                (view / tool.name).symlink_to(tool)
        folders.append(str(view))
    env["PATH"] = os.pathsep.join(folders)


def no_rule(clone: Path, env: dict[str, str]) -> None:
    (clone / "policies/llm_capacity/rules/resources/as_planned.rego").unlink()


def bad_rego(clone: Path, env: dict[str, str]) -> None:
    path = clone / "policies/llm_capacity/rules/resources/as_planned.rego"
    path.write_text(path.read_text() + "\nbroken :=\n")


def bad_stack(clone: Path, env: dict[str, str]) -> None:
    (clone / "stacks/dev/platform.yaml").write_text("as_of: someday\n")


def bad_plan(clone: Path, env: dict[str, str]) -> None:
    """Ask for a residency that no account of the stack is in; the program does not look."""
    path = clone / "stacks/dev/product-chat.yaml"
    text = re.sub(r"residency: .*", "residency: {jurisdictions: [AU]}", path.read_text())
    path.write_text(text)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (no_opa, "no executable opa found"),
        (no_rule, "a rule was added or lost"),
        (bad_rego, "rego_parse_error"),
        (bad_stack, "in the input"),
        (bad_plan, "denied by policy"),
    ],
)
def test_a_pack_that_cannot_tell_fails_the_run(
    run: Run,
    clone: Path,
    engine_env: dict[str, str],
    damage: Callable[[Path, dict[str, str]], None],
    why: str,
) -> None:
    replace_program(clone, NOTHING)
    env = {"PATH": engine_env["PATH"]}
    damage(clone, env)
    answer = run("dev", "preview", *PACK, **env)
    assert answer.returncode != 0, told(answer)
    assert {rule for rule, _ in violations(answer)} == {"planner"}, told(answer)
    assert why in told(answer), told(answer)
    assert "Traceback" not in told(answer)


def test_what_the_program_leaves_out_is_a_warning(run: Run, clone: Path) -> None:
    replace_program(clone, NOTHING)
    answer = run("dev", "preview", *PACK)
    assert answer.returncode == 0, told(answer)
    assert {rule for rule, _ in violations(answer)} == {"RSC-001"}, told(answer)
    assert "is in the plan and not in the stack" in told(answer)


def test_a_file_that_is_no_state_of_one_stack_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for text in ("", "[]", "{}", '{"version": 3, "deployment": {}}', '{"version": 9}'):
        path.write_text(text)
        with pytest.raises(InputError, match="pulumi stack export"):
            audit_state(path, PROJECT)
    with pytest.raises(InputError, match="pulumi stack export"):
        audit_state(tmp_path / "none.json", PROJECT)


def test_no_state_is_held_against_a_plan_that_is_denied(clone: Path, tmp_path: Path) -> None:
    workload = clone / "stacks/bank-au/adviser-assist.yaml"
    workload.write_text(workload.read_text() + "\npin: {deployment_type: GlobalStandard}\n")
    path = tmp_path / "state.json"
    urn = "urn:pulumi:bank-au::llm-capacity::pulumi:pulumi:Stack::llm-capacity-bank-au"
    resources = [{"urn": urn, "type": "pulumi:pulumi:Stack"}]
    path.write_text(json.dumps({"version": 3, "deployment": {"resources": resources}}))
    with pytest.raises(PolicyDenied, match="no plan to hold the state against"):
        audit_state(path, clone)
