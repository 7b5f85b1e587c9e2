"""Signed bundles: OPA verifies them, and nothing that it does not accept is served."""

from __future__ import annotations

import base64
import dataclasses
import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from planner.errors import InputError, PolicyUnavailable
from planner.policy.bundle import read_bundle, signed_as
from planner.policy.engine import PolicyEngine
from planner.policy.server import LocalServer
from planner.policy.signing import build_bundle, load_bundle, read_key
from tests.policy.bundling import Pair, edited, key_pair, members, packed

BUDGET = "llm_capacity/rules/cost/budget.rego"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return key_pair(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return key_pair(tmp_path_factory.mktemp("stranger"))


@pytest.fixture(scope="module")
def signed(opa: str, keys: Pair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("signed") / "bundle.tar.gz"
    build_bundle(None, path, keys.private, opa=opa)
    return path


def refusal(opa: str, **more: Any) -> str:
    with pytest.raises(PolicyUnavailable) as caught, PolicyEngine(opa=opa, **more):
        pass
    assert caught.value.exit_code == 10
    return str(caught.value)


def test_a_signed_bundle_decides_and_the_facts_say_so(
    opa: str, signed: Path, keys: Pair, make: SimpleNamespace
) -> None:
    with PolicyEngine(opa=opa, bundle=signed, verification_key=keys.public) as engine:
        question = make.question([make.option(), make.option(id="b", model="unlisted")])
        assert engine.ask(question).options == {"chat/payg": "allow", "b": "deny"}
        assert engine.ask(make.plan()).stage == "plan"
        facts = engine.facts
    assert facts.signed
    assert facts.bundle_digest == facts.revision == read_bundle().digest
    assert facts.engine == "opa, local"


@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [("RSA-2048", "RS256"), ("P-256", "ES256"), ("P-384", "ES384"), ("P-521", "ES512")],
)
def test_every_kind_of_key(
    opa: str, tmp_path: Path, make: SimpleNamespace, kind: str, algorithm: str
) -> None:
    pair, out = key_pair(tmp_path, kind), tmp_path / "b.tar.gz"
    built = build_bundle(None, out, pair.private, "team/policy 2026", opa)
    assert built.algorithm == algorithm
    assert signed_as(out.read_bytes(), "it") == built.key_id == "team/policy 2026"
    more = {"verification_key": pair.public, "verification_key_id": "team/policy 2026"}
    with PolicyEngine(opa=opa, bundle=out, **more) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}


def test_nobody_but_the_owner_may_ask_beside_a_signed_bundle(
    opa: str, signed: Path, keys: Pair
) -> None:
    """The session is loaded beside the archive, before the server listens."""
    with PolicyEngine(opa=opa, bundle=signed, verification_key=keys.public) as engine:
        assert engine.server is not None
        base = f"http://127.0.0.1:{engine.server.port}"
        answer = f"{base}/v1/data/llm_capacity/main/answer"
        own = {"Authorization": f"Bearer {engine.server.token}"}
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            reply = requests.post(answer, json={"input": {}}, headers=headers, timeout=5)
            assert reply.status_code == 401
        for path in ("v1/policies/x", "v1/data/llm_capacity/facts"):
            reply = requests.put(f"{base}/{path}", data="{}", headers=own, timeout=5)
            assert reply.status_code == 401
        folder = engine.server._folder
        assert folder is not None
        texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        assert not [text for text in texts if engine.server.token.encode() in text]


def test_unsigned_with_a_key(opa: str, keys: Pair, tmp_path: Path) -> None:
    out = tmp_path / "unsigned.tar.gz"
    build_bundle(None, out, opa=opa)
    told = refusal(opa, bundle=out, verification_key=keys.public)
    assert "missing .signatures.json" in told
    assert "unsigned.tar.gz" in told


def test_signed_without_a_key(opa: str, signed: Path) -> None:
    assert "policy.verification_key is not set" in refusal(opa, bundle=signed)


def test_a_key_without_a_bundle(opa: str, keys: Pair) -> None:
    assert "policy.bundle is not" in refusal(opa, verification_key=keys.public)
    url = "http://127.0.0.1:1"
    assert "policy.bundle is not" in refusal(opa, url=url, verification_key=keys.public)


def test_a_missing_file(opa: str, signed: Path, keys: Pair, tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    told = refusal(opa, bundle=absent, verification_key=keys.public)
    assert told.startswith("policy.bundle:")
    told = refusal(opa, bundle=signed, verification_key=absent)
    assert told.startswith("policy.verification_key:")
    assert "No such file" in told
    assert refusal(opa, bundle=tmp_path, verification_key=keys.public).startswith("policy.bundle:")


def test_the_wrong_key(opa: str, signed: Path, stranger: Pair) -> None:
    told = refusal(opa, bundle=signed, verification_key=stranger.public)
    assert "failed to verify JWT signature" in told
    assert "ES256, key id llm-capacity" in told


def test_a_key_of_another_kind(opa: str, signed: Path, tmp_path: Path) -> None:
    other = key_pair(tmp_path, "RSA-2048").public
    assert "OPA does not accept" in refusal(opa, bundle=signed, verification_key=other)


def test_the_wrong_key_id(opa: str, signed: Path, keys: Pair) -> None:
    more = {"verification_key": keys.public, "verification_key_id": "next"}
    told = refusal(opa, bundle=signed, **more)
    assert "signed as 'llm-capacity' but policy.verification_key_id is 'next'" in told


def without_signature(archive: bytes) -> bytes:
    return packed({name: row for name, row in members(archive).items() if "signatures" not in name})


def with_model(content: bytes) -> bytes:
    data = json.loads(content)
    data["llm_capacity"]["facts"]["approved_models"] = {}
    return json.dumps(data).encode()


def of_algorithm_none(archive: bytes) -> bytes:
    def change(content: bytes) -> bytes:
        row = json.loads(content)
        header, payload, _ = row["signatures"][0].split(".")
        header = base64.urlsafe_b64encode(b'{"alg":"none","kid":"llm-capacity"}').decode()
        row["signatures"] = [f"{header.rstrip('=')}.{payload}."]
        return json.dumps(row).encode()

    return edited(archive, ".signatures.json", change)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda old: edited(old, BUDGET, lambda row: row + b"\n# x"), "digest mismatch"),
        (lambda old: edited(old, "data.json", with_model), "digest mismatch"),
        (
            lambda old: edited(old, ".manifest", lambda row: row.replace(b"sha256:", b"sha256:0")),
            "digest mismatch",
        ),
        (
            lambda old: packed({**members(old), "llm_capacity/more.rego": b"package x\n"}),
            "not included in bundle signature",
        ),
        (
            lambda old: packed({k: v for k, v in members(old).items() if k != BUDGET}),
            "not found in the target bundle",
        ),
        (lambda old: packed([*members(old).items(), (BUDGET, b"package x\n")]), "not accept"),
        (without_signature, "missing .signatures.json"),
        (of_algorithm_none, "not accept"),
        (lambda old: old[: len(old) // 2], "not accept"),
        (lambda old: b"", "not accept"),
    ],
)
def test_an_edited_bundle(
    opa: str, signed: Path, keys: Pair, tmp_path: Path, damage: Any, told: str
) -> None:
    path = tmp_path / "edited.tar.gz"
    path.write_bytes(damage(signed.read_bytes()))
    said = refusal(opa, bundle=path, verification_key=keys.public)
    assert told in said
    assert "edited.tar.gz" in said


def test_the_server_itself_refuses_what_the_key_did_not_sign(
    opa: str, signed: Path, keys: Pair
) -> None:
    """Were the first verification skipped or its result swapped, OPA would still refuse."""
    bundle = load_bundle(signed, keys.public, opa=opa)
    assert bundle.archive is not None
    changed = edited(bundle.archive, BUDGET, lambda row: row + b"\n# x")
    for archive in (changed, without_signature(bundle.archive), b"nothing"):
        swapped = dataclasses.replace(bundle, archive=archive)
        with pytest.raises(PolicyUnavailable, match="refused the bundle"):
            LocalServer(swapped, opa).__enter__()


def test_a_file_swapped_after_it_was_read_is_not_what_is_served(
    opa: str, signed: Path, keys: Pair, tmp_path: Path, make: SimpleNamespace
) -> None:
    path = tmp_path / "bundle.tar.gz"
    shutil.copy(signed, path)
    engine = PolicyEngine(opa=opa, bundle=path, verification_key=keys.public)
    load = engine._load

    def load_and_swap() -> Any:
        bundle = load()
        path.write_bytes(edited(signed.read_bytes(), "data.json", with_model))
        return bundle

    engine._load = load_and_swap  # type: ignore[method-assign]
    with engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
        assert engine.facts.revision == read_bundle().digest


def test_rules_that_a_key_signed_may_still_not_use_what_is_forbidden(
    opa: str, policies: Path, keys: Pair, tmp_path: Path
) -> None:
    """Signed elsewhere, without the check of `llm-capacity bundle`."""
    lines = {
        "http.send": 'x := http.send({"method": "get", "url": "http://127.0.0.1"})',
        "net.lookup_ip_addr": 'x := net.lookup_ip_addr("localhost")',
        "opa.runtime": "x := opa.runtime()",
        "rand.intn": 'x := rand.intn("x", 10)',
    }
    path = policies / BUDGET
    rule = path.read_text()
    # With a list of everything, the check of the builder lets these pass.
    everything = opa_capabilities(opa, tmp_path)
    (policies / "capabilities.json").write_text(everything)
    for name, line in lines.items():
        path.write_text(f"{rule}\n{line}\n")
        out = tmp_path / f"{name}.tar.gz"
        build_bundle(policies, out, keys.private, opa=opa)
        told = refusal(opa, bundle=out, verification_key=keys.public, policies=policies)
        assert "under capabilities.json" in told
        assert name in told


def opa_capabilities(opa: str, folder: Path) -> str:
    command = [opa, "capabilities", "--current"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", ["Ed25519", "secp256k1", "RSA-1024"])
def test_keys_that_are_not_used_here(opa: str, signed: Path, tmp_path: Path, kind: str) -> None:
    pair = key_pair(tmp_path, kind)
    with pytest.raises(InputError, match="no private key to sign with") as caught:
        build_bundle(None, tmp_path / "b", pair.private, opa=opa)
    assert caught.value.problems[0].where == "--key"
    assert "no usable public key" in refusal(opa, bundle=signed, verification_key=pair.public)


def test_why_ed25519_is_not_used(opa: str, tmp_path: Path) -> None:
    """OPA signs with it, but a server that is configured with such a key does not start."""
    pair = key_pair(tmp_path, "Ed25519")
    wanted = {"keys": {"k": {"algorithm": "EdDSA", "key": pair.public.read_text()}}}
    (tmp_path / "config.json").write_text(json.dumps(wanted))
    command = [opa, "run", "--server", "--addr=127.0.0.1:0", "--skip-version-check"]
    command.append(f"--config-file={tmp_path / 'config.json'}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode != 0
    assert "unsupported algorithm 'EdDSA'" in done.stdout + done.stderr


def test_a_private_key_where_the_public_half_belongs(opa: str, signed: Path, keys: Pair) -> None:
    told = refusal(opa, bundle=signed, verification_key=keys.private)
    assert "holds a private key" in told


def test_no_key_at_all_in_the_file(opa: str, signed: Path, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("hello")
    told = refusal(opa, bundle=signed, verification_key=tmp_path / "key.pem")
    assert "no usable public key" in told


def test_an_empty_key_id(opa: str, signed: Path, keys: Pair, tmp_path: Path) -> None:
    """With an empty id, OPA would take the id from the bundle itself."""
    with pytest.raises(PolicyUnavailable, match="verification_key_id is empty"):
        read_key(keys.public, "")
    with pytest.raises(InputError, match="a key needs a name"):
        build_bundle(None, tmp_path / "b", keys.private, "", opa)


def test_signing_keys_that_cannot_be_used(opa: str, keys: Pair, tmp_path: Path) -> None:
    locked = key_pair(tmp_path / "locked", passphrase=b"open sesame").private
    for path, told in (
        (locked, "has a passphrase"),
        (keys.public, "no private key"),
        (tmp_path / "absent", "cannot be read"),
    ):
        with pytest.raises(InputError, match=told) as caught:
            build_bundle(None, tmp_path / "b", path, opa=opa)
        assert caught.value.problems[0].where == "--key"
    assert not (tmp_path / "b").exists()
