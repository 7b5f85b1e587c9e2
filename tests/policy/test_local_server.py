"""The local server: private, limited, and gone when its owner is."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from planner.errors import PolicyUnavailable
from planner.policy import server as server_module
from planner.policy.bundle import read_bundle
from planner.policy.engine import PolicyEngine


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def silent_within(port: int, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not listens(port):
            return True
        time.sleep(0.02)
    return False


def test_answers_with_version_digest_and_rules(engine: PolicyEngine, make: SimpleNamespace) -> None:
    answer = engine.ask(make.question([make.option()]))
    assert answer.options == {"chat/payg": "allow"}
    facts = engine.facts
    assert facts.bundle_digest == answer.bundle_revision
    assert facts.engine_version.count(".") == 2
    assert facts.rule_count == len(read_bundle().stages)


def test_gone_after_the_block_with_its_files(opa: str, make: SimpleNamespace) -> None:
    with PolicyEngine(opa=opa) as engine:
        assert engine.server is not None
        port, folder = engine.server.port, engine.server._folder
        assert listens(port)
        assert folder is not None
        assert folder.exists()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not listens(port)
    assert not folder.exists()
    assert engine.server.pid is None
    with pytest.raises(PolicyUnavailable, match="with block"):
        engine.ask(make.question([]))


def test_gone_when_the_block_raises(opa: str) -> None:
    ports = []

    def fail() -> None:
        with PolicyEngine(opa=opa) as engine:
            assert engine.server is not None
            ports.append(engine.server.port)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not listens(ports[0])


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "os._exit"])
def test_gone_when_the_owner_dies(opa: str, how: str) -> None:
    last = "os._exit(0)" if how == "os._exit" else "time.sleep(60)"
    program = (
        "import os, sys, time\n"
        "from planner.policy.engine import PolicyEngine\n"
        f"with PolicyEngine(opa={opa!r}) as engine:\n"
        "    print(engine.server.port, engine.server._folder, flush=True)\n"
        f"    {last}\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(server_module.__file__).parents[2],
    )
    assert owner.stdout is not None
    line = owner.stdout.readline().split()
    port, folder = int(line[0]), Path(line[1])
    if how != "os._exit":
        assert listens(port)
        owner.send_signal(getattr(signal, how))
    owner.wait(timeout=10)
    assert silent_within(port)
    owner.stdout.close()
    deadline = time.monotonic() + 5
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not folder.exists()


def test_lives_on_when_only_the_starting_thread_ends(opa: str, make: SimpleNamespace) -> None:
    engine = PolicyEngine(opa=opa)
    starter = threading.Thread(target=engine.__enter__)
    starter.start()
    starter.join()
    try:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
    finally:
        engine.__exit__(None, None, None)


def test_killed_midway_is_unavailable(opa: str, make: SimpleNamespace) -> None:
    with PolicyEngine(opa=opa) as engine:
        engine.ask(make.question([make.option()]))
        assert engine.server is not None
        assert engine.server.pid is not None
        os.kill(engine.server.pid, signal.SIGKILL)
        with pytest.raises(PolicyUnavailable, match=r"died|no connection") as caught:
            engine.ask(make.question([make.option()]))
        assert caught.value.exit_code == 10
        port = engine.server.port
    assert not listens(port)


def test_strangers_are_turned_away(engine: PolicyEngine) -> None:
    assert engine.server is not None
    base = f"http://127.0.0.1:{engine.server.port}"
    answer, question = f"{base}/v1/data/llm_capacity/main/answer", {"input": {}}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert requests.post(answer, json=question, headers=headers, timeout=5).status_code == 401
    for path in ("health", "v1/data", "v1/policies", "v1/config", "metrics"):
        assert requests.get(f"{base}/{path}", timeout=5).status_code == 401


def test_even_the_owner_may_only_ask(engine: PolicyEngine) -> None:
    assert engine.server is not None
    base = f"http://127.0.0.1:{engine.server.port}"
    own: dict[str, Any] = {
        "headers": {"Authorization": f"Bearer {engine.server.token}"},
        "timeout": 5,
    }
    assert requests.get(f"{base}/health", **own).status_code == 200
    assert requests.put(f"{base}/v1/policies/x", data="package x", **own).status_code == 401
    assert requests.put(f"{base}/v1/data/llm_capacity/facts", json={}, **own).status_code == 401
    assert requests.get(f"{base}/v1/data/llm_capacity_session", **own).status_code == 401


def test_the_token_is_nowhere_to_be_read(engine: PolicyEngine) -> None:
    assert engine.server is not None
    assert engine.server._folder is not None
    command = Path(f"/proc/{engine.server.pid}/cmdline")
    texts = [path.read_bytes() for path in engine.server._folder.rglob("*") if path.is_file()]
    texts += [command.read_bytes()] if command.exists() else []
    assert not [text for text in texts if engine.server.token.encode() in text]


def test_a_proxy_is_not_asked(
    opa: str, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with PolicyEngine(opa=opa) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}


def test_flags_from_the_environment_do_not_reach_it(
    opa: str, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPA_RUN_AUTHENTICATION", "off")
    monkeypatch.setenv("OPA_AUTHENTICATION", "off")
    with PolicyEngine(opa=opa) as engine:
        assert engine.server is not None
        url = f"http://127.0.0.1:{engine.server.port}/health"
        assert requests.get(url, timeout=5).status_code == 401


def test_no_opa_says_what_to_install(tmp_path: Path) -> None:
    with (
        pytest.raises(PolicyUnavailable, match=r"Install Open Policy Agent 1\.21\.3"),
        PolicyEngine(opa=str(tmp_path / "opa")),
    ):
        pass


def test_a_port_taken_in_between_is_no_harm(
    opa: str, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    free = server_module._free_port
    ports = iter([taken.getsockname()[1]])
    monkeypatch.setattr(server_module, "_free_port", lambda: next(ports, None) or free())
    with taken, PolicyEngine(opa=opa) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}


def test_rules_that_use_forbidden_built_ins_do_not_start(opa: str, policies: Path) -> None:
    rule = policies / "llm_capacity/rules/cost/budget.rego"
    rule.write_text(rule.read_text() + "\nnow := time.now_ns()\n")
    with (
        pytest.raises(PolicyUnavailable, match=r"time\.now_ns"),
        PolicyEngine(policies=policies, opa=opa),
    ):
        pass


def test_rules_that_do_not_parse_do_not_start(opa: str, policies: Path) -> None:
    (policies / "llm_capacity/rules/cost/budget.rego").write_text("package x\n\nfindings if {")
    with (
        pytest.raises(PolicyUnavailable, match="OPA did not start"),
        PolicyEngine(policies=policies, opa=opa),
    ):
        pass


def test_an_old_opa_is_refused(monkeypatch: pytest.MonkeyPatch, opa: str) -> None:
    monkeypatch.setattr("planner.policy.opa.MINIMUM_OPA", (99, 0, 0))
    with PolicyEngine(opa=opa) as engine, pytest.raises(PolicyUnavailable, match=r"99\.0\.0"):
        engine.ask({"stage": "options", "workloads": {}, "options": []})
