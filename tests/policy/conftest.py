"""Builders of questions, and the real OPA that answers them."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from planner.catalog.rows import CONCERNS
from planner.option import Option, SpillTarget
from planner.policy.bundle import policies_folder
from planner.policy.document import options_document, plan_document
from planner.policy.engine import PolicyEngine
from planner.workload import Workload

NOW = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)
EFTA_OF_BOUNDARY = {"CH", "IS", "LI", "NO"}


@pytest.fixture(scope="session")
def opa() -> str:
    """Path of the real OPA. Its absence is a failure, not a silent skip."""
    found = shutil.which(os.environ.get("OPA") or "opa")
    if found is None:
        if os.environ.get("LLM_CAPACITY_ALLOW_NO_OPA"):
            pytest.skip("no OPA, and LLM_CAPACITY_ALLOW_NO_OPA is set")
        pytest.fail(
            "no OPA: run `make setup`, put `opa` on PATH, or set OPA to its path "
            "(LLM_CAPACITY_ALLOW_NO_OPA=1 skips these tests)",
            pytrace=False,
        )
    return found


@pytest.fixture(scope="session")
def engine(opa: str) -> Iterator[PolicyEngine]:
    with PolicyEngine(opa=opa) as running:
        yield running


@pytest.fixture(scope="session")
def groups() -> dict[str, list[str]]:
    path = policies_folder() / "llm_capacity/facts/jurisdiction_groups/data.json"
    return {name: row["countries"] for name, row in json.loads(path.read_text())["groups"].items()}


def make_workload(**changes: Any) -> Workload:
    residency = changes.pop("jurisdictions", ("AU",))
    fields: dict[str, Any] = {
        "name": "chat",
        "owner": "team",
        "tier": "interactive",
        "classification": "confidential",
        "residency": {"jurisdictions": tuple(residency)},
        "data_asset": "tickets",
        "signed_off_by": "data owner",
        "models": tuple(
            {
                "name": name,
                "evaluation": {
                    "suite": "support-answers",
                    "score": 0.91,
                    "threshold": 0.85,
                    "date": dt.date(2026, 10, 1),
                    "ref": "eval/2026-10/support",
                },
            }
            for name in ("gpt-4.1-mini", "Qwen/Qwen3-32B")
        ),
        "traffic": {
            "tokens_per_minute": {
                "p10": 1.0, "p50": 2.0, "p90": 3.0, "p99": 4.0, "peak": 5.0,
            },
            "output_fraction": 0.2,
            "prompt_tokens": {"mean": 800.0, "p50": 700.0, "p95": 1500.0},
            "output_tokens": {"mean": 200.0, "p50": 150.0, "p95": 400.0},
            "max_tokens": 512,
        },
    }  # fmt: skip
    return Workload.model_validate(fields | changes)


def make_option(**changes: Any) -> Option:
    fields: dict[str, Any] = {
        "id": "chat/payg",
        "workload": "chat",
        "kind": "payg",
        "model": "gpt-4.1-mini",
        "provider": "azure",
        "region": "australiaeast",
        "deployment_type": "Standard",
        "scope": "country",
        "jurisdictions": ("AU",),
        "operator_class": "managed_service",
        "account": "main",
        "hardware": None,
        "term_months": 0,
        "spill": None,
        "pinned": False,
    }
    return Option.model_validate(fields | changes)


def make_spill(**changes: Any) -> SpillTarget:
    fields: dict[str, Any] = {
        "provider": "azure",
        "account": "main",
        "region": "australiaeast",
        "deployment_type": "Standard",
        "scope": "country",
        "jurisdictions": ("AU",),
        "operator_class": "managed_service",
    }
    return SpillTarget.model_validate(fields | changes)


def make_decision(**changes: Any) -> dict[str, Any]:
    return {
        "workload": "chat",
        "owner": "support team",
        "signed_off_by": "data owner",
        "data_asset": "customer questions",
        "tier": "interactive",
        "classification": "confidential",
        "residency": {"jurisdictions": ["AU"], "countries": ["AU"]},
        "baseline": None,
        "critical": True,
        "tokens_per_month": 1_000_000.0,
        "register_id": "VR-0142",
        "option": make_option(),
        "deployment_key": "azure/main/chat",
        "total_usd_per_month": 1000.0,
        "term_months": 0,
        "horizon_months": 12,
        "retires_on": None,
        "successor": None,
        "exit_plan": {
            "tested_on": "2026-09-01",
            "alternative": "Qwen/Qwen3-32B",
            "stressed": False,
        },
        "latency_basis": "measured",
        "capacity_confirmed": True,
        **changes,
    }


def nothing_kept(option: Option) -> dict[str, Any]:
    """Facts beyond inference that no rule minds, for the tests of other rules."""
    parts = {"option": option, "spill target": option.spill}
    return {
        concern: [
            {"role": role, "place": "none", "countries": None, "as_of": None}
            for role, part in parts.items()
            if part is not None
        ]
        for concern in CONCERNS
    }


@pytest.fixture(scope="session")
def make(groups: dict[str, list[str]]) -> SimpleNamespace:
    """Builders: workload, option, spill, decision, and the two questions."""

    def question(options: list[Option], *workloads: Workload, **more: Any) -> dict[str, Any]:
        more.setdefault("beyond_inference", {option.id: nothing_kept(option) for option in options})
        return options_document(
            workloads or [make_workload()],
            options,
            stack="prod",
            as_of=NOW.date(),
            evaluated_at=NOW,
            groups=groups,
            **more,
        )

    def plan(*decisions: dict[str, Any], **more: Any) -> dict[str, Any]:
        totals = {"budget_usd_per_month": 5000.0, "total_usd_per_month": 1000.0, **more}
        return plan_document(
            decisions or [make_decision()],
            stack="prod",
            as_of=NOW.date(),
            evaluated_at=NOW,
            **totals,
        )

    return SimpleNamespace(
        now=NOW,
        workload=make_workload,
        option=make_option,
        spill=make_spill,
        decision=make_decision,
        question=question,
        plan=plan,
    )


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A copy of the policies that a test may damage."""
    copy = tmp_path / "policies"
    shutil.copytree(policies_folder(), copy)
    return copy


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def central_opa(opa: str) -> Iterator[Callable[..., str]]:
    """Start a real OPA the way an operator would, and return its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> str:
        port = free_port()
        command = [opa, "run", "--server", "--addr", f"127.0.0.1:{port}", "--skip-version-check"]
        command += ["--log-level=error", "--ignore", "*_test.rego", *arguments]
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(requests.ConnectionError):
                requests.get(f"{url}/health", timeout=1)
                return url
            time.sleep(0.02)
        raise AssertionError("OPA did not start")

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def answering() -> Iterator[Callable[..., SimpleNamespace]]:
    """Start an HTTP server that answers as told: a central server gone wrong.

    ``reply`` gets the question and returns (status, body) where body is JSON or bytes.
    """
    servers: list[ThreadingHTTPServer] = []

    def start(reply: Callable[[dict[str, Any]], tuple[int, Any]]) -> SimpleNamespace:
        asked: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append({"path": self.path, "headers": dict(self.headers), **question})
                status, body = reply(question["input"])
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                if status in (301, 302, 307):
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", asked=asked)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
