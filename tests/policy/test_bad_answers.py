"""Whatever a central server does wrong, the run is blocked and says why."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.errors import InputError, PolicyUnavailable
from planner.policy.bundle import read_bundle
from planner.policy.engine import TOKEN_VARIABLE, PolicyEngine
from planner.policy.gate import gate_options

Answering = Callable[..., SimpleNamespace]


def good(question: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A right answer that allows everything, with ``changes``."""
    rules = sorted(read_bundle().rules_of(question["stage"]))
    result = {
        "ready": True,
        "stage": question["stage"],
        "nonce": question["nonce"],
        "proof": "",
        "rules_evaluated": len(rules),
        "rule_ids": rules,
        "findings": [],
        "options": {option["id"]: "allow" for option in question["options"]},
        **changes,
    }
    return {"result": {key: value for key, value in result.items() if value is not ...}}


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "rule_id": "RES-001",
        "title": "t",
        "severity": "high",
        "verdict": "deny",
        "raw_verdict": "deny",
        "message": "m",
        "remedy": "r",
        "citation": {"document": "d", "clause": "c"},
        "waivable_by": [],
        "subject": "chat/payg",
        "observed": 1,
        "expected": 2,
        "evidence": "/options/0",
        **changes,
    }


def ask(url: str, make: SimpleNamespace, **more: Any) -> Any:
    with PolicyEngine(url, **more) as engine:
        return gate_options(engine, make.question([make.option()]), [make.option()])


def test_a_right_answer_passes(answering: Answering, make: SimpleNamespace) -> None:
    server = answering(lambda question: (200, good(question)))
    assert ask(server.url, make)["chat/payg"].verdict == "allow"
    assert server.asked[0]["path"].startswith("/v1/data/llm_capacity/main/answer?")
    assert "strict-builtin-errors=true" in server.asked[0]["path"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ready": False}, "not ready"),
        ({"ready": ...}, "not ready"),
        ({"ready": "yes"}, "not ready"),
        ({"nonce": "another"}, "another question"),
        ({"nonce": ...}, "another question"),
        ({"stage": "plan"}, "about stage"),
        ({"rules_evaluated": 0, "rule_ids": []}, "rules_evaluated is 0"),
        ({"rules_evaluated": 3}, "rules_evaluated is 3"),
        ({"rule_ids": ...}, "which rules"),
        ({"rule_ids": ["RES-001"], "rules_evaluated": 1}, "were not evaluated: "),
        ({"findings": ...}, "no list of findings"),
        ({"findings": {}}, "no list of findings"),
        ({"findings": [{}]}, "malformed"),
        ({"findings": [finding(severity="<missing>")]}, "malformed"),
        ({"findings": [finding(citation=None)]}, "malformed"),
        ({"findings": [finding(verdict="perhaps")]}, "malformed"),
        ({"findings": [finding(extra=1)]}, "malformed"),
        ({"findings": [finding(verdict="warn")]}, "waives itself"),
        ({"findings": [finding(rule_id="XXX-001")]}, "not evaluated: XXX-001"),
        ({"findings": [finding(subject="other")]}, "unknown options: other"),
        ({"findings": [finding()]}, "is 'allow' but its findings say 'deny'"),
        ({"options": {}}, "verdicts and options differ"),
        ({"options": ...}, "verdicts and options differ"),
        ({"options": {"chat/payg": "allow", "b": "allow"}}, "verdicts and options differ"),
        ({"options": {"chat/payg": "deny"}}, "is 'deny' but its findings say 'allow'"),
        ({"options": {"chat/payg": None}}, "is None"),
    ],
)
def test_an_answer_that_is_wrong(
    answering: Answering, make: SimpleNamespace, changes: dict[str, Any], told: str
) -> None:
    server = answering(lambda question: (200, good(question, **changes)))
    with pytest.raises(PolicyUnavailable) as caught:
        ask(server.url, make)
    assert told in str(caught.value)
    assert str(caught.value).endswith(". [E506]")
    assert caught.value.exit_code == 10


@pytest.mark.parametrize("body", [{}, {"decision_id": "x"}, {"result": None}, [], None, "allow"])
def test_an_undefined_result(answering: Answering, make: SimpleNamespace, body: Any) -> None:
    server = answering(lambda _: (200, body))
    with pytest.raises(PolicyUnavailable, match="undefined"):
        ask(server.url, make)


@pytest.mark.parametrize("body", [b"", b"<html>sign in</html>", b"\xff\xfe"])
def test_no_json(answering: Answering, make: SimpleNamespace, body: bytes) -> None:
    server = answering(lambda _: (200, body))
    with pytest.raises(PolicyUnavailable, match="not JSON"):
        ask(server.url, make)


def test_an_engine_fault_shows_the_words_of_opa(
    answering: Answering, make: SimpleNamespace
) -> None:
    body = {"code": "internal_error", "message": "eval", "errors": [{"message": "div by zero"}]}
    server = answering(lambda _: (500, body))
    with pytest.raises(PolicyUnavailable, match=r"HTTP 500 \(eval; div by zero\)"):
        ask(server.url, make)
    assert len(server.asked) == 1, "the same question would fail the same way"


@pytest.mark.parametrize("status", [400, 404, 405, 429, 502, 503])
def test_other_statuses(answering: Answering, make: SimpleNamespace, status: int) -> None:
    server = answering(lambda _: (status, b"no"))
    with pytest.raises(PolicyUnavailable, match=f"HTTP {status}"):
        ask(server.url, make)
    assert len(server.asked) == (3 if status in (429, 502, 503) else 1)


def test_a_passing_fault_is_asked_again(answering: Answering, make: SimpleNamespace) -> None:
    statuses = iter([503, 502])

    def reply(question: dict[str, Any]) -> tuple[int, Any]:
        return next(statuses, 200), good(question)

    server = answering(reply)
    assert ask(server.url, make)["chat/payg"].verdict == "allow"
    nonces = [row["input"]["nonce"] for row in server.asked]
    assert len(nonces) == 3


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_redirect_is_not_followed(
    answering: Answering, make: SimpleNamespace, status: int
) -> None:
    server = answering(lambda _: (status, b""))
    with pytest.raises(PolicyUnavailable, match="redirect"):
        ask(server.url, make)


def test_a_slow_answer(answering: Answering, make: SimpleNamespace) -> None:
    def reply(question: dict[str, Any]) -> tuple[int, Any]:
        time.sleep(1.0)
        return 200, good(question)

    server = answering(reply)
    with pytest.raises(PolicyUnavailable, match=r"no answer within 0\.2 s.*timeout_seconds"):
        ask(server.url, make, timeout_seconds=0.2)


def test_an_answer_slower_than_the_client_default(
    answering: Answering, make: SimpleNamespace
) -> None:
    def reply(question: dict[str, Any]) -> tuple[int, Any]:
        time.sleep(1.7)
        return 200, good(question)

    assert ask(answering(reply).url, make)["chat/payg"].verdict == "allow"


def test_nobody_listens(make: SimpleNamespace) -> None:
    with pytest.raises(PolicyUnavailable, match=r"no connection.*after 3 attempts.*policy\.url"):
        ask("http://127.0.0.1:1", make)


def test_the_token_comes_from_the_environment_and_not_from_netrc(
    answering: Answering,
    make: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv(TOKEN_VARIABLE, "given")
    server = answering(lambda question: (200, good(question)))
    ask(server.url, make)
    assert server.asked[0]["headers"]["Authorization"] == "Bearer given"


def test_a_wrong_token_says_which_variable(
    engine: PolicyEngine, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine.server is not None
    url = f"http://127.0.0.1:{engine.server.port}"
    monkeypatch.setenv(TOKEN_VARIABLE, "wrong")
    with pytest.raises(PolicyUnavailable, match=f"HTTP 401.*{TOKEN_VARIABLE}"):
        ask(url, make)
    monkeypatch.setenv(TOKEN_VARIABLE, engine.server.token)
    assert ask(url, make)["chat/payg"].verdict == "allow"


def test_a_canned_answer_does_not_pass_for_the_local_server(
    opa: str, answering: Answering, make: SimpleNamespace
) -> None:
    """Another process took the port: it can echo the nonce, but not prove the key."""
    impostor = answering(lambda question: (200, good(question)))
    with PolicyEngine(opa=opa) as engine:
        assert engine._connection is not None
        engine._connection.client.root_url = f"{impostor.url}/v1"
        with pytest.raises(PolicyUnavailable, match="another server"):
            engine.ask(make.question([make.option()]))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("opa.example.com", "not an http"),
        ("ftp://opa.example.com", "not an http"),
        ("https://", "not an http"),
        ("https://host:port", "not an http"),
        ("https://opa.example.com/team", "only scheme, host and port"),
        ("https://user:word@opa.example.com", "only scheme, host and port"),
        ("http://opa.example.com", "forged"),
    ],
)
def test_a_bad_url_is_bad_input(url: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        PolicyEngine(url)
    assert caught.value.problems[0].where == "policy.url"


def test_url_defaults() -> None:
    assert PolicyEngine("https://opa.example.com")._endpoint == ("opa.example.com", 443, True)
    assert PolicyEngine("http://[::1]")._endpoint == ("[::1]", 8181, False)


def test_what_a_central_server_reports_is_what_the_record_says(
    central_opa: Callable[..., str], make: SimpleNamespace, policies: Path, tmp_path: Path
) -> None:
    served = tmp_path / "served"
    read_bundle(policies).write_to(served)
    (served / ".manifest").write_text(json.dumps({"revision": "r7", "roots": ["llm_capacity"]}))
    with PolicyEngine(central_opa("--bundle", str(served))) as engine:
        engine.ask(make.question([make.option()]))
        assert engine.facts.bundle_digest == "r7"
        assert engine.facts.engine == "opa, central"
