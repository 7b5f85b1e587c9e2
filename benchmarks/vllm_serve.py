"""Does real vLLM take the command that the planner emits, and behave as planned?

    python -m benchmarks.vllm_serve        # about ten minutes, before a release

On a CPU, with a tiny random model: the parser takes every server of every example stack, the
emitted command becomes healthy within its startup budget, the metrics that autoscaling asks
for exist, a stream in flight outlives SIGTERM, and a full queue answers 503. Prints JSON; the
exit code is 1 when one of these does not hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

from benchmarks.vllm_oracle_environment import VERSION, environment
from planner.api import plan_stack
from planner.capacity import VllmServer
from planner.emit import vllm
from planner.emit.releases import parsed, table

ROOT = Path(__file__).resolve().parents[1]
STACKS = ("bank-au", "dev", "saas-global")
ASSISTANT = Path(__file__).with_name("vllm_serve_inside.py")
LENGTH = 512
STREAMED_TOKENS = 300


def servers() -> list[VllmServer]:
    """Return every server of the example stacks."""
    plans = [plan_stack(ROOT, name, write=False) for name in STACKS]
    return [server for plan in plans for server in plan.resources.servers]


def inside(python: Path, *words: str, given: Any = None) -> Any:
    """Run the assistant in vLLM's own environment; return its JSON answer."""
    done = subprocess.run(
        [str(python), str(ASSISTANT), *words],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env=quiet(),
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def quiet() -> dict[str, str]:
    """Return an environment without settings of vLLM but those that keep it at home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VLLM_")}
    return {**kept, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "CUDA_VISIBLE_DEVICES": ""}


def tiny(server: VllmServer, model: Path, **changes: Any) -> VllmServer:
    """Return the planned server with the tiny model in place of its own."""
    return server.model_copy(
        update={
            "model": str(model),
            "model_claim": None,
            "model_revision": None,
            "vllm_version": VERSION,
            "tensor_parallel": 1,
            "pipeline_parallel": 1,
            "max_model_len": LENGTH,
            "max_num_batched_tokens": LENGTH,
            "max_num_seqs": 8,
            "kv_cache_dtype": "auto",
            **changes,
        }
    )


class Serving:
    """A running server: the emitted command and environment, on a loopback port."""

    def __init__(self, python: Path, server: VllmServer, home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.server, self.log = server, home / f"log-{self.port}"
        words = vllm.serve_command(server)
        words[words.index("--port") + 1] = str(self.port)
        set_here = {row["name"]: row.get("value", "") for row in vllm.environment(server)}
        homed = {name: text.replace(vllm.HOME, str(home)) for name, text in set_here.items()}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(python.with_name("vllm")), *words[1:], "--host", "127.0.0.1"],
                env={**quiet(), **homed, "VLLM_CPU_KVCACHE_SPACE": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        # Its engine and workers are processes of their own, in the same session.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def healthy_after_seconds(self) -> float:
        """Wait for /health; TimeoutError past the startup budget, with the log's end."""
        start = time.monotonic()
        while time.monotonic() - start < vllm.startup_budget_seconds(self.server):
            with contextlib.suppress(requests.ConnectionError):
                if requests.get(self.url(vllm.HEALTH_PATH), timeout=5).status_code == 200:
                    return time.monotonic() - start
            if self.process.poll() is not None:
                break
            time.sleep(1)
        raise TimeoutError(self.log.read_text(errors="replace")[-3000:])

    def complete(self, tokens: int, *, stream: bool = False) -> requests.Response:
        """Ask for exactly that many tokens."""
        asked = {
            "model": self.server.model,
            "prompt": "a b c d",
            "max_tokens": tokens,
            "min_tokens": tokens,
            "ignore_eos": True,
            "stream": stream,
        }
        return requests.post(self.url("/v1/completions"), json=asked, stream=stream, timeout=300)


def drained(serving: Serving) -> dict[str, Any]:
    """Send SIGTERM into a stream; say whether it went on to its last token."""
    chunks, ended = 0, False
    with serving.complete(STREAMED_TOKENS, stream=True) as answer:
        for line in answer.iter_lines():
            if line == b"data: [DONE]":
                ended = True
            elif line.startswith(b"data: "):
                chunks += 1
                if chunks == 3:
                    serving.process.send_signal(signal.SIGTERM)
    code = serving.process.wait(timeout=vllm.grace_seconds(serving.server))
    return {
        "chunks": chunks,
        "ended_by_itself": ended,
        "exit_code": code,
        "survives_sigterm": ended and chunks >= STREAMED_TOKENS // 2,
    }


def refused(serving: Serving, calls: int = 16) -> dict[str, Any]:
    """Ask for more at once than the queue takes; count the answers by status."""
    codes: list[int] = []

    def ask() -> None:
        codes.append(serving.complete(200).status_code)

    threads = [threading.Thread(target=ask) for _ in range(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = {str(code): codes.count(code) for code in sorted(set(codes))}
    return {"answers": counts, "full_queue_answers_503": counts.get("503", 0) > 0}


def measured(python: Path) -> Iterator[tuple[str, Any]]:
    """Yield each measurement by name."""
    planned = servers()
    commands = [vllm.serve_command(server)[2:] for server in planned]
    yield "parsed", inside(python, "parse", given=commands)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        model = home / "tiny"
        inside(python, "make", str(model))
        with Serving(python, tiny(planned[0], model), home) as serving:
            seconds = serving.healthy_after_seconds()
            budget = vllm.startup_budget_seconds(serving.server)
            yield (
                "start",
                {"seconds": round(seconds, 1), "budget_seconds": budget, "holds": seconds < budget},
            )
            assert serving.complete(8).status_code == 200
            told = requests.get(serving.url("/metrics"), timeout=5).text
            release = parsed(VERSION)
            wanted = [row.name for row in table().metrics if row.is_in(release)]
            missing = [name for name in wanted if name not in told]
            yield "metrics", {"missing": missing, "holds": not missing}
            yield "drain", drained(serving)
        limited = tiny(planned[0], model, max_num_seqs=1, max_queued_requests=3)
        with Serving(python, limited, home) as serving:
            serving.healthy_after_seconds()
            yield "queue", refused(serving)


def main() -> int:
    """Measure; 0 when everything holds."""
    python = environment()
    found = dict(measured(python))
    print(json.dumps({"vllm": VERSION, **found}, indent=2))
    holds = (
        found["parsed"]["refused"] == []
        and found["start"]["holds"]
        and found["metrics"]["holds"]
        and found["drain"]["survives_sigterm"]
        and found["queue"]["full_queue_answers_503"]
    )
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
