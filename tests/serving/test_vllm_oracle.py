"""The planner's KV capacity against what real vLLM printed (benchmarks/vllm_oracle.py)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.vllm_oracle import RESULTS, Compared, compared
from benchmarks.vllm_oracle_configs import CONFIGS, questions
from planner.cli import main

WITHIN = 0.005

RECORDED: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
ROWS = compared(RECORDED)
KINDS = sorted({row.kind for row in ROWS})


def test_what_is_recorded_is_what_would_be_asked() -> None:
    asked = {question["name"]: question for question in questions()}
    answers = {answer["name"]: answer for answer in RECORDED["answers"]}
    assert list(answers) == sorted(asked)
    for name, answer in answers.items():
        assert RECORDED["configs"][answer["config"]] == CONFIGS[answer["config"]][1]
        assert answer["settings"].items() <= asked[name]["settings"].items()


def test_enough_engines_of_every_kind_were_started() -> None:
    starts = Counter(row.kind for row in ROWS if row.method == "start")
    assert sum(starts.values()) >= 24
    assert set(starts) == set(KINDS)
    assert len(ROWS) >= 400


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_and_concurrency_are_vllms(kind: str) -> None:
    far = [row for row in ROWS if row.kind == kind and row.difference > WITHIN]
    assert not far, "\n".join(map(str, far))


def test_every_answer_is_exact() -> None:
    exact = [row for row in ROWS if row.tokens == (row.vllm_tokens or row.tokens)]
    assert len(exact) == len(ROWS), [row.name for row in ROWS if row not in exact]


def test_a_started_engine_says_what_its_functions_say() -> None:
    """So that rows without a start are as good as rows with one."""
    answers = {answer["name"]: answer for answer in RECORDED["answers"]}
    for name, answer in answers.items():
        if answer["method"] == "start":
            same = answers[name.replace("/ start", "/ specs")]
            assert answer["tokens"] == same["tokens"]
            assert answer["concurrency"] == pytest.approx(same["concurrency"], abs=0.00501)


def test_refusals_are_shared() -> None:
    refused = [row for row in ROWS if row.vllm_tokens is None]
    assert refused
    assert not any(row.fits for row in refused)


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_line_says_the_same(kind: str, tmp_path: Path) -> None:
    """One started engine of each kind, asked as a user would."""
    row = next(row for row in ROWS if row.kind == kind and row.method == "start")
    answer = next(answer for answer in RECORDED["answers"] if answer["name"] == row.name)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(RECORDED["configs"][answer["config"]]), encoding="utf-8")
    document = _memory(path, answer["settings"])
    assert document["kv_tokens"] == pytest.approx(row.vllm_tokens, rel=WITHIN)
    assert document["max_concurrency"] == pytest.approx(row.vllm_concurrency, rel=WITHIN)


def _memory(path: Path, given: dict[str, Any]) -> dict[str, Any]:
    flags = {
        "--config": path,
        "--gpu": "H100-SXM5-80GB",
        "--tp": 1,
        "--max-model-len": given["max_model_len"],
        "--kv-cache-memory-bytes": given["kv_cache_memory_bytes"],
        "--block-size": given.get("block_size", 128),
        "--max-num-batched-tokens": given["max_num_batched_tokens"],
        "--max-num-seqs": given["max_num_seqs"],
        "--dtype": given["dtype"],
        "--format": "json",
    }
    words = [str(word) for flag in flags.items() for word in flag]
    result = CliRunner().invoke(main, ["memory", *words])
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_wrong_answer_would_be_seen() -> None:
    row = Compared("a", "full", "start", 1000, 10.0, 1000, 10.004, True)
    assert row.difference == 0
    assert row._replace(tokens=1010).difference == pytest.approx(0.01)
    assert row._replace(concurrency=10.1).difference > WITHIN
    assert row._replace(vllm_tokens=None).difference == 1
