"""The three example stacks, previewed by the real engine and the real Kubernetes provider."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from ruamel.yaml import YAML

from planner.toolchain.shell_env import EXAMPLES_PASSPHRASE
from tests.projects import copy_program
from tools.shell_env import PROJECT

pytestmark = pytest.mark.engine

Preview = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The program and its input alone: what a preview reads from a clone."""
    return copy_program(tmp_path / "clone")


@pytest.fixture
def preview(
    clone: Path,
    engine_env: dict[str, str],
    run_pulumi: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
) -> Preview:
    """`preview(stack, *options)`: create the stack in a backend of its own, then preview."""
    backend = tmp_path / "backend"
    backend.mkdir()
    env = {
        **engine_env,
        "PULUMI_CONFIG_PASSPHRASE": EXAMPLES_PASSPHRASE,
        "PULUMI_BACKEND_URL": f"file://{backend}",
    }

    def run(stack: str, *options: str) -> CompletedProcess[str]:
        made = run_pulumi(["stack", "init", stack, "--non-interactive"], clone, env)
        assert made.returncode == 0, made.stderr
        return run_pulumi(["preview", "--stack", stack, "--non-interactive", *options], clone, env)

    return run


def change(path: Path, **pin: object) -> None:
    yaml = YAML()
    data = yaml.load(path)
    data["pin"] = pin
    yaml.dump(data, path)


@pytest.mark.parametrize(
    ("stack", "kinds"),
    [
        ("dev", {"azure-native:cognitiveservices:Deployment": 2}),
        (
            "bank-au",
            {
                "azure-native:cognitiveservices:Deployment": 4,
                "azure-native:containerservice:AgentPool": 1,
                "kubernetes:apps/v1:Deployment": 1,
                "kubernetes:core/v1:Service": 1,
            },
        ),
        (
            "saas-global",
            {
                "azure-native:cognitiveservices:Deployment": 4,
                "aws:bedrock/inferenceProfile:InferenceProfile": 1,
                "kubernetes:karpenter.sh/v1:NodePool": 1,
                "kubernetes:apps/v1:Deployment": 1,
                "kubernetes:core/v1:Service": 1,
            },
        ),
    ],
)
def test_a_stack_previews_without_cloud_or_cluster(
    preview: Preview, clone: Path, stack: str, kinds: dict[str, int]
) -> None:
    answer = preview(stack, "--json")
    assert answer.returncode == 0, answer.stderr + answer.stdout
    steps = json.loads(answer.stdout[answer.stdout.index("{") :])["steps"]
    types = [step["newState"]["type"] for step in steps]
    for kind, count in kinds.items():
        assert types.count(kind) == count, sorted(types)
    assert all(step["op"] == "create" for step in steps)
    plan = json.loads((clone / "out" / stack / "plan.json").read_text())
    assert plan["stack"] == stack
    assert plan["verdict"] in ("allow", "warn")


def test_the_engines_summary_shows_each_workload_and_the_totals(preview: Preview) -> None:
    answer = preview("bank-au")
    assert answer.returncode == 0, answer.stderr + answer.stdout
    for part in (
        "case-notes: self-hosted meta-llama/Llama-3.3-70B-Instruct TP2",
        "adviser-assist: 25 units ProvisionedManaged gpt-4.1-mini in australiaeast",
        "spill to Standard",
        "price of dedication",
        "runner-up",
        "engineering $25,000",
        "capacity digest",
        "answered by the preview-only provider",
        "was not contacted",
    ):
        assert part in answer.stdout, part


@pytest.mark.parametrize(
    ("workload", "pin", "rule"),
    [
        ("adviser-assist", {"deployment_type": "GlobalStandard"}, "RES-001"),
        (
            "adviser-assist",
            {"deployment_type": "ProvisionedManaged", "spill_to": "GlobalStandard"},
            "RES-003",
        ),
        # Denied for certain, whatever else about the place is unknown.
        ("case-notes", {"deployment_type": "GlobalStandard"}, "TPP-001"),
    ],
)
def test_a_denied_pin_fails_the_preview_with_its_reasons(
    preview: Preview, clone: Path, workload: str, pin: dict[str, str], rule: str
) -> None:
    change(clone / "stacks" / "bank-au" / f"{workload}.yaml", **pin)
    answer = preview("bank-au")
    told = answer.stdout + answer.stderr
    assert answer.returncode != 0
    for part in (rule, workload, "observed:", "expected:", "remedy:", "citation:"):
        assert part in told, part
    assert "Traceback" not in told
    # The evidence is there although nothing was allowed.
    plan = json.loads((clone / "out" / "bank-au" / "plan.json").read_text())
    assert plan["verdict"] == "deny"
    record = json.loads((clone / "out" / "bank-au" / "policy-record.jsonl").read_text())
    assert record["verdict"] == "deny"
    assert record["plan_digest"] == plan["evidence_digest"]


def test_bad_input_fails_the_preview_with_every_problem(preview: Preview, clone: Path) -> None:
    path = clone / "stacks" / "bank-au" / "branch-faq.yaml"
    path.write_text(path.read_text().replace("tier: interactive", "tier: realtime\ncolour: red"))
    answer = preview("bank-au")
    told = answer.stdout + answer.stderr
    assert answer.returncode != 0
    assert "2 problems in the input" in told
    assert "stacks/bank-au/branch-faq.yaml:4 (tier)" in told
    assert "unknown key 'colour'" in told
    assert "Traceback" not in told


def test_plain_pulumi_works_in_a_shell_that_has_evaluated_env(
    engine_env: dict[str, str], tmp_path: Path
) -> None:
    own = ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_DEBUG_PROVIDERS")
    env = {name: value for name, value in engine_env.items() if name not in own}
    script = 'eval "$(llm-capacity env)" && pulumi preview --stack dev --non-interactive'
    answer = subprocess.run(
        ["bash", "-c", script], cwd=PROJECT, env=env, capture_output=True, text=True, timeout=180
    )
    assert answer.returncode == 0, answer.stderr + answer.stdout
    assert "product-chat: GlobalStandard" in answer.stdout
    changed = ["git", "status", "--porcelain", "stacks"]
    before = subprocess.run(changed, cwd=PROJECT, capture_output=True, text=True)
    assert "Pulumi." not in before.stdout
