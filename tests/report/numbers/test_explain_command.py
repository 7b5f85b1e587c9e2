"""`explain` as a user runs it: the decision, a list, one number in three formats, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

import planner.cli.explaining as explaining
from planner.cli.explaining import explain
from planner.running import StackRun
from tools.shell_env import PROJECT

Asked = Callable[..., Result]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, runs: dict[str, StackRun]) -> Asked:
    """`asked(*arguments)`: run the command on the stack bank-au, planned already."""
    monkeypatch.setattr(explaining, "run", lambda root, stack, **_: runs[stack])

    def run(*arguments: str) -> Result:
        given = [*arguments, "--stack", "bank-au", "--root", str(PROJECT)]
        return CliRunner().invoke(explain, given)

    return run


def test_without_a_number_the_decision_is_told(asked: Asked) -> None:
    result = asked("case-notes")
    assert result.exit_code == 0
    assert "memory per GPU (GiB): 93.04 x 0.92 - weights 65.71" in result.output
    assert json.loads(asked("case-notes", "--format", "json").output)["workload"] == "case-notes"
    told = asked("case-notes", "--format", "markdown").output
    assert told.startswith("```text\n")
    assert told.endswith("```\n")


def test_a_number_with_its_formula_and_sources(asked: Asked) -> None:
    result = asked("case-notes", "kv_bytes_per_token")
    assert result.exit_code == 0
    assert result.output.splitlines()[:3] == [
        "case-notes/kv_bytes_per_token = 163,840 bytes  (exact) KV cache of one token on one GPU",
        "  = layers_1 * token_bytes_1",
        "  = 80 * 2,048",
    ]
    # The id may be written in full, as the report shows it.
    assert asked("case-notes", "case-notes/kv_bytes_per_token").output == result.output


def test_depth_walks_down_to_declared_keys(asked: Asked) -> None:
    shallow = asked("case-notes", "max_concurrency", "--depth", "0").output
    deep = asked("case-notes", "max_concurrency", "--depth", "6").output
    key = "stacks/bank-au/case-notes.yaml traffic.prompt_tokens.p95"
    assert key not in shallow
    assert key in deep
    assert "[case-notes/kv_pool_bytes]" in shallow
    assert deep.count("case-notes/weights_bytes = ") == 1
    assert len(shallow) < len(deep)


def test_the_stack_s_own_numbers(asked: Asked) -> None:
    listed = asked("total")
    assert "total/reported_per_month" in listed.output
    told = asked("total", "reported_per_month", "--format", "markdown").output
    assert told.startswith("### Cost of the stack in AUD, unrecoverable tax included\n")
    assert "- `total_usd_per_month * per_usd * (1 + unrecoverable_tax)`" in told
    assert "stacks/bank-au/platform.yaml currency.per_usd" in told


def test_json_holds_the_walk(asked: Asked) -> None:
    found = json.loads(asked("case-notes", "nodes", "--format", "json", "--depth", "1").output)
    assert found["id"] == "case-notes/nodes"
    assert found["agrees"] is True
    assert found["formula"] == "ceil(replicas / (gpus_per_node // gpus_per_replica))"
    replicas = next(term for term in found["terms"] if term["symbol"] == "replicas")
    assert replicas["number"]["id"] == "case-notes/replicas"
    assert "number" not in replicas["number"]["terms"][0]
    spares = json.loads(asked("case-notes", "spare_nodes", "--format", "json").output)
    assert [condition["holds"] for condition in spares["conditions"]] == [True, True]


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_the_list_of_numbers(asked: Asked, form: str) -> None:
    result = asked("branch-faq", "--numbers", "--format", form)
    assert result.exit_code == 0
    assert "branch-faq/blended_usd_per_mtok" in result.output
    assert "case-notes" not in result.output
    if form == "json":
        assert json.loads(result.output)["branch-faq/cached_fraction"]["value"] == 0.3


def test_an_unknown_number_names_the_nearest(asked: Asked) -> None:
    result = asked("case-notes", "kv_token")
    assert result.exit_code == 2
    assert "case-notes has no number 'kv_token'" in result.output
    assert "Nearest: kv_tokens" in result.output
    assert "[E" in result.output


def test_an_unknown_workload_names_those_there_are(asked: Asked) -> None:
    result = asked("case-note", "kv_tokens")
    assert result.exit_code == 2
    assert "adviser-assist, branch-faq, case-notes, statement-digest" in result.output
