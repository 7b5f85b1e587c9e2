"""The engine dies, stalls, lies or serves something else: never a pass, always a reason."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.errors import PolicyUnavailable
from planner.policy.bundle import read_bundle
from planner.policy.engine import PolicyEngine
from planner.policy.signing import build_bundle
from tests.policy.bundling import key_pair
from tests.policy.test_bad_answers import good

Talk = Callable[[socket.socket, dict[str, Any]], None]


@pytest.fixture
def talking() -> Iterator[Callable[[Talk], SimpleNamespace]]:
    """Start a server that writes bytes as told after it has read a question."""
    servers: list[socketserver.ThreadingTCPServer] = []

    def start(talk: Talk) -> SimpleNamespace:
        asked: list[dict[str, Any]] = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                length = 0
                while (line := self.rfile.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                asked.append(json.loads(self.rfile.read(length))["input"])
                with contextlib.suppress(OSError):
                    talk(self.connection, asked[-1])

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return SimpleNamespace(url=f"http://127.0.0.1:{server.server_address[1]}", asked=asked)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def refusal(url: str, make: SimpleNamespace, **more: Any) -> str:
    with pytest.raises(PolicyUnavailable) as caught, PolicyEngine(url, **more) as engine:
        engine.ask(make.question([make.option()]))
    assert caught.value.exit_code == 10
    assert str(caught.value).startswith("policy engine: ")
    return str(caught.value)


def whole(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def answer(question: dict[str, Any]) -> bytes:
    return json.dumps(good(question)).encode()


def test_this_server_can_be_understood(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace
) -> None:
    server = talking(lambda out, question: out.sendall(whole(answer(question))))
    with PolicyEngine(server.url) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}


@pytest.mark.parametrize("within", ["headers", "body"])
def test_a_slow_drip(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace, within: str
) -> None:
    """Every byte comes in time, the answer never ends: the whole exchange has one limit."""

    def drip(out: socket.socket, question: dict[str, Any]) -> None:
        text = whole(answer(question))
        sent = 5 if within == "headers" else text.index(b"\r\n\r\n") + 5
        out.sendall(text[:sent])
        for number in range(sent, len(text)):
            time.sleep(0.05)
            out.sendall(text[number : number + 1])

    started = time.monotonic()
    told = refusal(talking(drip).url, make, timeout_seconds=0.5)
    assert time.monotonic() - started < 5
    assert "no answer within 0.5 s" in told
    assert "policy.timeout_seconds" in told


@pytest.mark.parametrize("sent", [0, 10, -1])
def test_an_answer_that_breaks_off(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace, sent: int
) -> None:
    server = talking(
        lambda out, question: out.sendall(whole(answer(question))[: sent or None] if sent else b"")
    )
    told = refusal(server.url, make)
    assert "broke off" in told or "no connection" in told
    assert "after 3 attempts" in told
    assert len(server.asked) == 3


def test_an_answer_that_breaks_off_once_is_asked_for_again(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace
) -> None:
    lengths = iter([10, -7])

    def talk(out: socket.socket, question: dict[str, Any]) -> None:
        out.sendall(whole(answer(question))[: next(lengths, None)])

    server = talking(talk)
    with PolicyEngine(server.url) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
    assert len(server.asked) == 3


def test_a_whole_answer_cut_where_it_still_says_allow(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace
) -> None:
    """The length fits, the JSON does not."""
    server = talking(lambda out, question: out.sendall(whole(answer(question)[:-1])))
    assert "not JSON" in refusal(server.url, make)


@pytest.mark.parametrize("damage", ["garbage", "cut", "twice"])
def test_compressed_garbage(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace, damage: str
) -> None:
    def talk(out: socket.socket, question: dict[str, Any]) -> None:
        packed = gzip.compress(answer(question))
        body = {
            "garbage": b"\x1f\x8b" + b"\x00" * 40,
            "cut": packed[: len(packed) // 2],
            "twice": gzip.compress(packed),
        }[damage]
        out.sendall(whole(body, "Content-Encoding: gzip"))

    told = refusal(talking(talk).url, make)
    assert "cannot be decoded" in told or "not JSON" in told


def test_a_redirect_to_a_server_that_would_allow(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace
) -> None:
    generous = talking(lambda out, question: out.sendall(whole(answer(question))))
    location = f"Location: {generous.url}/v1/data/llm_capacity/main/answer"
    moved = f"HTTP/1.1 307 Temporary Redirect\r\n{location}\r\nContent-Length: 0\r\n\r\n"
    server = talking(lambda out, _: out.sendall(moved.encode()))
    assert "redirect" in refusal(server.url, make)
    assert generous.asked == []


def test_the_answer_to_another_question(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace
) -> None:
    """A cache on the way hands everybody the answer to the first, a stack that may."""
    kept: list[bytes] = []

    def talk(out: socket.socket, question: dict[str, Any]) -> None:
        kept.append(whole(answer(question)))
        out.sendall(kept[0])

    server = talking(talk)
    document = make.question([make.option()])
    with PolicyEngine(server.url) as first:
        first.ask({**document, "stack": "dev"})
    with PolicyEngine(server.url) as second, pytest.raises(PolicyUnavailable, match="another"):
        second.ask({**document, "stack": "prod"})


@pytest.mark.parametrize("stage", ["options", "plan"])
def test_each_rule_that_is_missing_from_the_answer(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace, stage: str
) -> None:
    for lost in sorted(read_bundle().rules_of(stage)):

        def talk(out: socket.socket, question: dict[str, Any], lost: str = lost) -> None:
            kept = sorted(read_bundle().rules_of(stage) - {lost})
            question.setdefault("options", [])
            changes = {"rule_ids": kept, "rules_evaluated": len(kept)}
            out.sendall(whole(json.dumps(good(question, **changes)).encode()))

        document = make.question([make.option()]) if stage == "options" else make.plan()
        with (
            PolicyEngine(talking(talk).url) as engine,
            pytest.raises(PolicyUnavailable, match=f"not evaluated: {lost}"),
        ):
            engine.ask(document)


def test_a_local_server_that_stands_still(opa: str, make: SimpleNamespace) -> None:
    with PolicyEngine(opa=opa, timeout_seconds=0.5) as engine:
        assert engine.server is not None
        assert engine.server.pid is not None
        os.kill(engine.server.pid, signal.SIGSTOP)
        with pytest.raises(PolicyUnavailable, match=r"no answer within 0\.5 s"):
            engine.ask(make.question([make.option()]))
        os.kill(engine.server.pid, signal.SIGCONT)


def test_a_local_server_that_is_killed_while_it_answers(opa: str, make: SimpleNamespace) -> None:
    with PolicyEngine(opa=opa) as engine:
        assert engine.server is not None
        pid = engine.server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)  # so that the question is on its way when it dies
        killer = threading.Timer(0.5, os.kill, (pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(PolicyUnavailable, match=r"died|no connection|broke off"):
            engine.ask(make.question([make.option()]))
        killer.join()


def test_a_central_server_that_is_killed_while_it_answers(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace
) -> None:
    def die(out: socket.socket, _: dict[str, Any]) -> None:
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        out.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        out.close()

    told = refusal(talking(die).url, make)
    assert "no connection" in told
    assert "after 3 attempts" in told


def served(folder: Path, files: dict[str, str]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return str(folder)


LENIENT = """package PACKAGE

answer := {
	"ready": true, "stage": input.stage, "nonce": input.nonce, "proof": "",
	"rules_evaluated": count(data.rules), "rule_ids": data.rules, "findings": [],
	"options": {option.id: "allow" | some option in input.options},
}
"""


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "undefined"),
        ({"x.rego": LENIENT.replace("PACKAGE", "llm_capacity.policy")}, "undefined"),
        ({"x.rego": LENIENT.replace("PACKAGE", "llm_capacity.main")}, "rules_evaluated is 0"),
    ],
)
def test_a_central_server_with_another_bundle(
    central_opa: Callable[..., str],
    make: SimpleNamespace,
    tmp_path: Path,
    files: dict[str, str],
    told: str,
) -> None:
    manifest = {".manifest": '{"revision": "r1"}', "data.json": '{"rules": []}'}
    url = central_opa("--bundle", served(tmp_path, {**manifest, **files}))
    assert told in refusal(url, make)


def test_a_central_server_that_evaluates_nothing_is_caught_by_a_key(
    central_opa: Callable[..., str], opa: str, make: SimpleNamespace, tmp_path: Path
) -> None:
    """It names every rule of the manifest and allows everything: only its revision tells."""
    rules = json.dumps({"rules": sorted(read_bundle().rules_of("options"))})
    rego = LENIENT.replace("PACKAGE", "llm_capacity.main")
    files = {"x.rego": rego, "data.json": rules, ".manifest": '{"revision": "r1"}'}
    url = central_opa("--bundle", served(tmp_path / "served", files))
    with PolicyEngine(url) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
    keys = key_pair(tmp_path)
    built = build_bundle(None, tmp_path / "b.tar.gz", keys.private, opa=opa)
    more = {"bundle": built.path, "verification_key": keys.public}
    assert "serves the revision r1" in refusal(url, make, opa=opa, **more)


@pytest.mark.parametrize("year", ["1999", "2199"])
def test_the_clock_of_a_server_is_not_asked(
    talking: Callable[[Talk], SimpleNamespace], make: SimpleNamespace, year: str
) -> None:
    date = f"Date: Fri, 01 Jan {year} 00:00:00 GMT"
    server = talking(lambda out, question: out.sendall(whole(answer(question), date)))
    with PolicyEngine(server.url) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
