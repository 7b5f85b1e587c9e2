"""The command line: results on stdout, messages on stderr, exit codes as documented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.cli import main
from tests.projects import CHAT, CLUSTER, PLATFORM, changed

LLAMA = changed(
    CHAT, classification="restricted", models=[{"name": "meta-llama/Llama-3.3-70B-Instruct"}]
)


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def stack(command: str, root: Path, *more: object) -> Result:
    return run(command, *more, "--stack", "s", "--root", root)


def test_plan_prints_the_plan_and_leaves_it_in_out(project: Any) -> None:
    root = project(CHAT)
    result = stack("plan", root, "--format", "json")
    assert result.exit_code == 0
    assert result.stdout == (root / "out/s/plan.json").read_text()
    record = json.loads((root / "out/s/policy-record.jsonl").read_text())
    assert record["plan_digest"] == json.loads(result.stdout)["evidence_digest"]


def test_plan_as_text_has_one_line_a_workload_and_totals(project: Any) -> None:
    result = stack("plan", project(CHAT))
    assert "chat: Standard gpt-4.1-mini in australiaeast; $" in result.stdout
    assert "runner-up" in result.stdout
    assert "total a month: $" in result.stdout


@pytest.mark.parametrize(
    ("workload", "platform", "code"),
    [
        (changed(CHAT, pin={"deployment_type": "GlobalStandard"}), PLATFORM, 5),
        (changed(CHAT, horizon_months=-1), PLATFORM, 2),
        (
            LLAMA,
            changed(
                PLATFORM,
                clusters=[
                    changed(
                        CLUSTER, nodes=[{"instance": "Standard_NC24ads_A100_v4", "max_nodes": 9}]
                    )
                ],
            ),
            11,
        ),
        (CHAT, changed(PLATFORM, budget_usd_per_month=1.0), 5),
    ],
)
@pytest.mark.parametrize("command", ["plan", "check"])
def test_exit_codes(project: Any, command: str, workload: Any, platform: Any, code: int) -> None:
    result = stack(command, project(workload, platform=platform))
    assert result.exit_code == code
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output


def test_a_denial_reads_without_knowing_rego(project: Any) -> None:
    root = project(changed(CHAT, pin={"deployment_type": "GlobalStandard"}))
    result = stack("check", root)
    for part in ("RES-001", "subject:", "observed:", "expected:", "remedy:", "citation:"):
        assert part in result.stdout
    assert "chat: the pinned option is denied by RES-001" in result.stderr
    found = json.loads(stack("check", root, "--format", "json").stdout)
    assert found["verdict"] == "deny"
    first = found["workloads"]["chat"]["findings"][0]
    assert first["rule_id"] == "RES-001"
    assert first["expected"]["countries"] == ["AU"]


def test_a_70b_on_one_80_gib_card_is_explained_with_the_nearest_way(project: Any) -> None:
    cluster = changed(CLUSTER, nodes=[{"instance": "Standard_NC24ads_A100_v4", "max_nodes": 9}])
    result = stack("plan", project(LLAMA, platform=changed(PLATFORM, clusters=[cluster])))
    assert result.exit_code == 11
    assert "INFEASIBLE (policy: ALLOW)" in result.stdout
    assert "weights of 131.42 GiB" in result.stdout
    assert "nothing feasible; nearest: " in result.stdout


def test_a_request_longer_than_the_whole_kv_budget_is_refused(project: Any) -> None:
    # Qwen3-32B on one A100 80GB leaves some GiB of KV: far below 400,000 tokens x 256 KiB.
    endless = changed(
        CHAT,
        classification="restricted",
        models=[{"name": "Qwen/Qwen3-8B"}],
        traffic__max_tokens=2_000_000,
    )
    cluster = changed(CLUSTER, nodes=[{"instance": "Standard_NC24ads_A100_v4", "max_nodes": 9}])
    result = stack("plan", project(endless, platform=changed(PLATFORM, clusters=[cluster])))
    assert result.exit_code == 11
    assert "tokens" in result.stdout
    # The nearest options are told once, in the result.
    assert result.stdout.count("nothing feasible; nearest: ") == 1
    assert "nearest: " not in result.stderr
    assert "no option can serve chat" in result.stderr


def test_an_unreachable_central_engine_blocks(project: Any) -> None:
    result = stack("plan", project(CHAT), "--policy-url", "http://127.0.0.1:9")
    assert result.exit_code == 10
    assert result.stderr == (
        "error: policy engine: no connection (Connection refused) after 3 attempts. "
        "Check policy.url and that the server runs. [E505]\n"
    )
    assert not result.stdout


def test_a_missing_engine_blocks(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    result = stack("check", project(CHAT))
    assert result.exit_code == 10
    assert "opa" in result.stderr


def test_explain_shows_every_number_and_every_loser(project: Any) -> None:
    root = project(CHAT)
    result = run("explain", "chat", "--stack", "s", "--root", root)
    for part in ("demand: p50 220,000", "output fraction 0.15", "price: price row", "denied"):
        assert part in result.stdout
    unknown = run("explain", "nobody", "--stack", "s", "--root", root)
    assert unknown.exit_code == 2
    assert "Use one of: chat" in unknown.stderr


MEMORY = ["memory", "--gpu", "H100-80GB", "--max-model-len", "8192", "--format", "json"]


def test_memory_prints_the_ledger_of_one_gpu() -> None:
    asked = [*MEMORY, "--config", "meta-llama/Llama-3.3-70B-Instruct", "--tp", "4"]
    found = json.loads(run(*asked).stdout)
    assert found["fits"] is True
    # 2 x 80 layers x 2 of 8 KV heads x 128 x 2 bytes.
    assert found["kv_bytes_per_token"] == 81_920
    assert found["kv_fixed_bytes_per_sequence"] == 0
    assert found["kv_tokens"] * found["kv_bytes_per_token"] <= found["kv_pool_bytes"]
    assert found["max_concurrency"] == pytest.approx(found["kv_tokens"] / 8192)


def test_memory_ends_with_0_when_it_does_not_fit() -> None:
    result = run(*MEMORY, "--config", "meta-llama/Llama-3.3-70B-Instruct", "--tp", "1")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["fits"] is False
    assert "short" in found["reason"]


def test_memory_refuses_an_illegal_degree_with_the_nearest() -> None:
    found = json.loads(run(*MEMORY, "--config", "Qwen/Qwen3-32B", "--tp", "3").stdout)
    assert found["fits"] is False
    assert "3" in found["reason"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--config", "no/such-model"], "no/such-model"),
        (["--config", "Qwen/Qwen3-8B", "--gpu", "H900"], "H900"),
        (["--config", "Qwen/Qwen3-8B", "--kv-dtype", "int1"], "int1"),
        (["--config", "/nonexistent/config.json"], "config.json"),
    ],
)
def test_memory_names_bad_input(arguments: list[str], what: str) -> None:
    result = run(*MEMORY, *arguments)
    assert result.exit_code == 2
    assert what in result.stderr


def test_break_even_is_never_shown_without_its_mix() -> None:
    asked = ["break-even", "--commitment", 12000, "--capacity", 4e9, "--input-price", 3]
    asked += ["--output-price", 12, "--output-fraction"]
    assert "76.9% of the capacity, at output fraction 0.1" in run(*asked, 0.1).stdout
    found = json.loads(run(*asked, 0.5, "--format", "json").stdout)
    assert found["tokens_per_month"] == pytest.approx(1.6e9)
    assert found["utilization"] == pytest.approx(0.40)


def test_render_writes_manifests_and_a_denied_plan_writes_none(
    project: Any, tmp_path: Path
) -> None:
    root = project(LLAMA, platform=changed(PLATFORM, clusters=[CLUSTER]))
    result = stack("render", root, "--out", tmp_path / "manifests")
    assert result.exit_code == 0
    text = "\n".join(path.read_text() for path in (tmp_path / "manifests").rglob("*.yaml"))
    assert "kind: Deployment" in text
    assert "meta-llama/Llama-3.3-70B-Instruct" in text
    denied = project(changed(LLAMA, pin={"deployment_type": "GlobalStandard"}))
    result = stack("render", denied, "--out", tmp_path / "none")
    assert result.exit_code == 5
    assert not (tmp_path / "none").exists()


def test_schema_writes_both_schemas(tmp_path: Path) -> None:
    assert run("schema", "--out", tmp_path).exit_code == 0
    written = json.loads((tmp_path / "workload.schema.json").read_text())
    assert "residency" in written["properties"]


def test_at_must_be_a_time(project: Any) -> None:
    result = stack("plan", project(CHAT), "--at", "tomorrow")
    assert result.exit_code == 2
    assert "--at" in result.stderr


def test_a_wide_denial_shows_the_first_of_each_rule_and_counts_the_rest(project: Any) -> None:
    wide = changed(
        CHAT,
        pin={"provider": "azure", "kind": "payg", "deployment_type": "GlobalStandard"},
        models=[{"name": name} for name in ("gpt-4.1-mini", "gpt-5-mini", "gpt-5.1", "gpt-5.2")],
    )
    root = project(wide)
    result = stack("check", root)
    assert result.exit_code == 5
    assert result.stdout.count("DENY RES-001") == 2
    assert "and 2 more of RES-001; --format json lists them all" in result.stdout
    found = json.loads(stack("check", root, "--format", "json").stdout)
    assert (
        len([f for f in found["workloads"]["chat"]["findings"] if f["rule_id"] == "RES-001"]) == 4
    )
