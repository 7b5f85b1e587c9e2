"""A central OPA as an organisation runs it: https, its own authority, tokens, a signed bundle."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from planner.errors import InputError, PolicyUnavailable
from planner.policy.bundle import policies_folder, read_bundle
from planner.policy.engine import TOKEN_VARIABLE, PolicyEngine
from planner.policy.gate import gate_options, gate_plan
from planner.policy.signing import build_bundle
from tests.policy.bundling import Authority, Pair, key_pair
from tests.policy.conftest import free_port

# Only to see whether a server is up, whatever is wrong with its certificate.
pytestmark = pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")

TOKEN = "token-of-the-pipeline"
AUTHZ = """package system.authz

default allow := false

allow if {
	crypto.sha256(input.identity) in data.clients.token_sha256
	input.method == "POST"
	input.path == ["v1", "data", "llm_capacity", "main", "answer"]
}

allow if input.path == ["health"]
"""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "policy authority")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return key_pair(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def signed(opa: str, keys: Pair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("signed") / "bundle.tar.gz"
    build_bundle(None, path, keys.private, opa=opa)
    return path


@pytest.fixture(scope="module")
def serving(
    opa: str, keys: Pair, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., str]]:
    """Start a central OPA that serves a bundle under a certificate."""
    started: list[subprocess.Popen[bytes]] = []

    def start(bundle: Path, certificate: tuple[Path, Path], *more: Path) -> str:
        folder = tmp_path_factory.mktemp("central")
        (folder / "authz.rego").write_text(AUTHZ)
        accepted = [hashlib.sha256(TOKEN.encode()).hexdigest()]
        (folder / "data.json").write_text(json.dumps({"clients": {"token_sha256": accepted}}))
        config = folder / "config.yaml"
        config.write_text(
            json.dumps(
                {
                    "keys": {"release": {"algorithm": "ES256", "key": keys.public.read_text()}},
                    "bundles": {
                        "llm_capacity": {
                            "resource": bundle.as_uri(),
                            "signing": {"keyid": "release"},
                        },
                        **{path.stem: {"resource": path.as_uri()} for path in more},
                    },
                }
            )
        )
        port = free_port()
        command = [opa, "run", "--server", f"--addr=127.0.0.1:{port}", "--skip-version-check"]
        command += ["--authentication=token", "--authorization=basic", "--log-level=error"]
        command += [f"--tls-cert-file={certificate[0]}", f"--tls-private-key-file={certificate[1]}"]
        command += [f"--config-file={config}", str(folder / "authz.rego")]
        command += [str(folder / "data.json")]
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(requests.ConnectionError):
                health = f"https://127.0.0.1:{port}/health?bundles"
                if requests.get(health, timeout=1, verify=False).status_code == 200:
                    return f"https://127.0.0.1:{port}"
            time.sleep(0.02)
        raise AssertionError("OPA did not start")

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def url(serving: Callable[..., str], signed: Path, authority: Authority) -> str:
    return serving(signed, authority.server())


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)


def ask(url: str, make: SimpleNamespace, **more: Any) -> PolicyEngine:
    with PolicyEngine(url, **more) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
        return engine


def refusal(url: str, make: SimpleNamespace, **more: Any) -> str:
    with pytest.raises(PolicyUnavailable) as caught:
        ask(url, make, **more)
    assert caught.value.exit_code == 10
    return str(caught.value)


def mixed(make: SimpleNamespace) -> tuple[dict[str, Any], list[Any]]:
    """Every kind of option, place and workload at once; some pinned, some alike."""
    workloads = [
        make.workload(name=f"{tier}-{classification}", tier=tier, classification=classification)
        for tier, classification in product(
            ["interactive", "batch"], ["public", "internal", "confidential", "restricted"]
        )
    ]
    places = [("country", ("AU",)), ("zone", ("AU", "NZ")), ("zone", None), ("global", None)]
    options = [
        make.option(
            id=f"{workload.name}/{kind}/{model}/{scope}-{known}/{spilling}/{operator}/{pinned}",
            workload=workload.name,
            kind=kind,
            model=model,
            scope=scope,
            jurisdictions=known,
            operator_class=operator,
            pinned=pinned,
            spill=make.spill(scope=scope, jurisdictions=known) if spilling else None,
        )
        for workload, (kind, model), (scope, known), spilling, operator, pinned in product(
            workloads,
            [("payg", "gpt-4.1-mini"), ("provisioned", "unlisted")],
            places,
            [False, True],
            ["managed_service", "iaas"],
            [False, True],
        )
    ]
    return make.question(options, *workloads), options


def test_findings_are_the_same_as_those_of_a_local_server(
    url: str, opa: str, signed: Path, keys: Pair, authority: Authority, make: SimpleNamespace
) -> None:
    document, options = mixed(make)
    plan = make.plan(
        make.decision(option=make.option(kind="provisioned"), capacity_confirmed=False),
        make.decision(workload="other", exit_plan=None, latency_basis="assumed"),
        make.decision(workload="third", retires_on="2027-01-15", horizon_months=24),
        total_usd_per_month=9000.0,
    )
    more = {"verification_key": keys.public, "bundle": signed, "timeout_seconds": 60.0}
    with (
        PolicyEngine(opa=opa, **more) as local,
        PolicyEngine(url, ca_bundle=authority.path, **more) as central,
    ):
        answers = [engine.ask(document) for engine in (local, central)]
        assert answers[0] == answers[1]
        assert {"allow", "deny", "unavailable"} <= set(answers[0].options.values())
        verdicts = [gate_options(engine, document, options) for engine in (local, central)]
        assert verdicts[0] == verdicts[1]
        assert len(verdicts[0]) == len(options) == 512
        findings = [gate_plan(engine, plan) for engine in (local, central)]
        assert findings[0] == findings[1]
        assert {found.verdict for found in findings[0]} >= {"deny", "warn"}
        facts = [engine.facts for engine in (local, central)]
    assert [row.engine for row in facts] == ["opa, local", "opa, central"]
    assert {(row.signed, row.revision, row.bundle_digest, row.rule_count) for row in facts} == {
        (True, read_bundle().digest, read_bundle().digest, len(read_bundle().stages))
    }


def test_without_a_key_the_facts_say_what_the_server_reports(
    url: str, authority: Authority, make: SimpleNamespace
) -> None:
    facts = ask(url, make, ca_bundle=authority.path).facts
    assert (facts.signed, facts.revision) == (False, read_bundle().digest)


def test_before_an_answer_nothing_is_known_of_a_central_server(
    url: str, opa: str, signed: Path, keys: Pair, authority: Authority
) -> None:
    more = {"verification_key": keys.public, "bundle": signed, "ca_bundle": authority.path}
    with PolicyEngine(url, opa=opa, **more) as engine:
        assert (engine.facts.signed, engine.facts.bundle_digest) == (False, None)


def test_another_revision_than_the_verified_one(
    serving: Callable[..., str],
    opa: str,
    policies: Path,
    signed: Path,
    keys: Pair,
    authority: Authority,
    make: SimpleNamespace,
    tmp_path: Path,
) -> None:
    """Signed with the same key, but last month's."""
    rule = policies / "llm_capacity/rules/cost/budget.rego"
    rule.write_text(rule.read_text() + "\n# as of last month\n")
    earlier = build_bundle(policies, tmp_path / "earlier.tar.gz", keys.private, opa=opa)
    url = serving(earlier.path, authority.server())
    more = {"ca_bundle": authority.path, "opa": opa}
    told = refusal(url, make, bundle=signed, verification_key=keys.public, **more)
    assert f"serves the revision {earlier.revision}" in told
    assert read_bundle().digest in told
    ask(url, make, bundle=earlier.path, verification_key=keys.public, **more)


def test_a_server_with_a_second_bundle_that_has_a_revision(
    serving: Callable[..., str],
    opa: str,
    signed: Path,
    keys: Pair,
    authority: Authority,
    make: SimpleNamespace,
    tmp_path: Path,
) -> None:
    """Whose of the two revisions stands for our rules cannot be told."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "data.json").write_text('{"elsewhere": {}}')
    (other / ".manifest").write_text('{"revision": "r7", "roots": ["elsewhere"]}')
    url = serving(signed, authority.server(), other)
    more = {"ca_bundle": authority.path, "opa": opa}
    told = refusal(url, make, bundle=signed, verification_key=keys.public, **more)
    assert "no other with a revision" in told


def test_a_server_that_reports_no_revision(
    central_opa: Callable[..., str], opa: str, signed: Path, keys: Pair, make: SimpleNamespace
) -> None:
    url = central_opa(str(policies_folder() / "llm_capacity"))
    told = refusal(url, make, bundle=signed, verification_key=keys.public, opa=opa)
    assert "(none reported)" in told or "undefined" in told


def test_a_local_bundle_that_is_not_accepted_is_not_asked_about(
    url: str, opa: str, signed: Path, authority: Authority, make: SimpleNamespace, tmp_path: Path
) -> None:
    stranger = key_pair(tmp_path).public
    more = {"ca_bundle": authority.path, "opa": opa}
    assert "does not accept" in refusal(url, make, bundle=signed, verification_key=stranger, **more)


def test_an_authority_that_did_not_sign(url: str, make: SimpleNamespace, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    told = refusal(url, make, ca_bundle=stranger.path)
    assert "certificate is not accepted (unable to get local issuer certificate)" in told
    assert "policy.ca_bundle" in told
    assert "attempts" not in told


def test_the_authorities_of_the_system(url: str, make: SimpleNamespace) -> None:
    assert "certificate is not accepted" in refusal(url, make)


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_the_environment_does_not_choose_the_authority(
    url: str,
    authority: Authority,
    make: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
) -> None:
    monkeypatch.setattr("planner.policy.connection._LOOPBACK", frozenset())
    stranger = Authority(tmp_path, "stranger")
    monkeypatch.setenv(variable, str(stranger.path))
    ask(url, make, ca_bundle=authority.path)
    monkeypatch.setenv(variable, str(authority.path))
    assert "not accepted" in refusal(url, make, ca_bundle=stranger.path)


@pytest.mark.parametrize(("host", "days"), [("localhost", 1), ("127.0.0.1", -1)])
def test_a_certificate_of_another_name_or_time(
    serving: Callable[..., str],
    signed: Path,
    make: SimpleNamespace,
    tmp_path: Path,
    host: str,
    days: int,
) -> None:
    authority = Authority(tmp_path, "authority")
    url = serving(signed, authority.server(host, days))
    assert "not accepted" in refusal(url, make, ca_bundle=authority.path)


@pytest.mark.parametrize("content", ["", "no certificate", None])
def test_a_file_of_authorities_that_cannot_be_used(
    url: str, make: SimpleNamespace, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    assert refusal(url, make, ca_bundle=path).startswith("policy.ca_bundle:")


@pytest.mark.parametrize("given", [None, "another-token"])
def test_the_wrong_token(
    url: str,
    authority: Authority,
    make: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    given: str | None,
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE)
    if given is not None:
        monkeypatch.setenv(TOKEN_VARIABLE, given)
    told = refusal(url, make, ca_bundle=authority.path)
    assert "HTTP 401" in told
    assert TOKEN_VARIABLE in told
    assert "another-token" not in told


@pytest.mark.parametrize("given", ["two words", "line\nbreak", "töken", "nul\x01"])
def test_a_token_that_is_none_is_not_told(
    url: str,
    authority: Authority,
    make: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    given: str,
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, given)
    told = refusal(url, make, ca_bundle=authority.path)
    assert TOKEN_VARIABLE in told
    assert given not in told


def test_a_line_break_after_the_token_is_no_part_of_it(
    url: str, authority: Authority, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, f"{TOKEN}\n")
    ask(url, make, ca_bundle=authority.path)


def test_plain_http_to_a_server_of_https(url: str, make: SimpleNamespace) -> None:
    told = refusal(url.replace("https", "http"), make)
    assert "HTTP 400" in told or "broke off" in told or "no connection" in told


def test_plain_http_off_the_loopback(authority: Authority) -> None:
    with pytest.raises(InputError, match="forged"):
        PolicyEngine("http://192.0.2.1:8181", ca_bundle=authority.path)
