"""The bundle that is built: the same bytes for the same rules, and nothing else in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.errors import InputError, PolicyUnavailable
from planner.policy.bundle import Bundle, policies_folder, read_archive, read_bundle, signed_as
from planner.policy.engine import PolicyEngine
from planner.policy.signing import build_bundle
from tests.policy.bundling import edited, key_pair, members, packed


@pytest.fixture(scope="module")
def archive(opa: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("built") / "bundle.tar.gz"
    build_bundle(policies_folder(), path, opa=opa)
    return path.read_bytes()


def test_holds_rules_libraries_and_data_and_nothing_else(archive: bytes) -> None:
    folder = policies_folder() / "llm_capacity"
    rules = {
        path.relative_to(folder.parent).as_posix(): path.read_bytes()
        for path in folder.rglob("*.rego")
        if not path.name.endswith("_test.rego")
    }
    files = members(archive)
    assert set(files) == {*rules, "data.json", ".manifest"}
    assert {name: files[name] for name in rules} == rules
    facts = json.loads(files["data.json"])["llm_capacity"]
    for path in folder.rglob("data.json"):
        node = facts
        for part in path.parent.relative_to(folder).parts:
            node = node[part]
        assert node == json.loads(path.read_bytes())


def test_folder_and_archive_have_one_digest_which_is_the_revision(archive: bytes) -> None:
    folder, built = read_bundle(), read_archive(archive, "it")
    assert built.digest == folder.digest
    assert built.data_digest == folder.data_digest
    assert (built.data, built.stages) == (folder.data, folder.stages)
    assert json.loads(members(archive)[".manifest"])["revision"] == folder.digest
    assert built.archive == archive
    assert not built.signed
    assert signed_as(archive, "it") is None


@pytest.mark.parametrize("kind", [None, "RSA-2048"])
def test_the_same_tree_gives_the_same_bytes(
    opa: str, policies: Path, tmp_path: Path, kind: str | None
) -> None:
    """Wherever it lies, whenever it was written, whatever else lies there."""
    key = None if kind is None else key_pair(tmp_path / "key", kind).private
    first = build_bundle(policies, tmp_path / "a.tar.gz", key, opa=opa)
    other = tmp_path / "elsewhere"
    shutil.copytree(policies, other)
    (other / "waivers").mkdir(exist_ok=True)
    (other / "waivers" / "w.yaml").write_text("id: WVR-1\n")
    (other / "llm_capacity" / "notes.md").write_text("not loaded\n")
    for path in other.rglob("*"):
        os.utime(path, (1, time.time() - 86400))
    second = build_bundle(other, tmp_path / "b.tar.gz", key, opa=opa)
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()
    assert (first.revision, first.sha256) == (second.revision, second.sha256)
    assert first.sha256 == hashlib.sha256((tmp_path / "a.tar.gz").read_bytes()).hexdigest()


def test_an_ec_signature_varies_and_nothing_else_does(opa: str, tmp_path: Path) -> None:
    key = key_pair(tmp_path).private
    files = []
    for name in ("a", "b"):
        build_bundle(None, tmp_path / name, key, opa=opa)
        files.append(members((tmp_path / name).read_bytes()))
    signatures = [row.pop(".signatures.json") for row in files]
    assert signatures[0] != signatures[1]
    assert files[0] == files[1]


@pytest.mark.parametrize("what", ["rule", "data", "name"])
def test_every_change_changes_the_revision(policies: Path, what: str) -> None:
    before = read_bundle(policies)
    rule = policies / "llm_capacity/rules/cost/budget.rego"
    if what == "rule":
        rule.write_text(rule.read_text() + "\n")
    elif what == "name":
        rule.rename(rule.with_name("limit.rego"))
    else:
        path = policies / "llm_capacity/facts/approved_models/data.json"
        path.write_text(json.dumps({"approved_models": {}}))
    after = read_bundle(policies)
    assert after.digest != before.digest
    assert (after.data_digest != before.data_digest) == (what == "data")


def test_how_the_data_is_laid_out_does_not_change_it(policies: Path) -> None:
    before = read_bundle(policies).digest
    path = policies / "llm_capacity/facts/approved_models/data.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(content.items())), indent=7))
    assert read_bundle(policies).digest == before


@pytest.mark.parametrize("number", ["1.0", "1e3", "0.1", "-0.0", "12345678901234567890", "1E-7"])
def test_numbers_survive_the_building(
    opa: str, policies: Path, tmp_path: Path, number: str
) -> None:
    extra = policies / "llm_capacity/facts/extra/data.json"
    extra.parent.mkdir()
    extra.write_text(f'{{"n": {number}, "text": "é <&> \\u2028"}}')
    out = tmp_path / "b.tar.gz"
    assert build_bundle(policies, out, opa=opa).revision == read_bundle(policies).digest


def test_an_unsigned_bundle_is_served_and_the_facts_say_so(
    opa: str, archive: bytes, tmp_path: Path, make: SimpleNamespace
) -> None:
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(archive)
    with PolicyEngine(opa=opa, bundle=path) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
        facts = engine.facts
    assert not facts.signed
    assert facts.bundle_digest == facts.revision == read_bundle().digest


def test_a_bundle_takes_the_place_of_the_folder(
    opa: str, archive: bytes, policies: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(archive)
    (policies / "llm_capacity/rules/cost/budget.rego").write_text("package x")
    with PolicyEngine(opa=opa, bundle=path, policies=policies) as engine:
        assert engine.facts.bundle_digest == read_bundle().digest


def other(archive: bytes, **changes: Any) -> bytes:
    def change(content: bytes) -> bytes:
        return json.dumps({**json.loads(content), **changes}).encode()

    return edited(archive, ".manifest", change)


def with_file(archive: bytes, name: str) -> bytes:
    return packed({**members(archive), name: b"package x\n"})


BUDGET = "llm_capacity/rules/cost/budget.rego"


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda archive: b"", "not a bundle.tar.gz"),
        (lambda archive: b"PK\x03\x04", "not a bundle.tar.gz"),
        (lambda archive: archive[: len(archive) // 2], "not a bundle.tar.gz"),
        (lambda archive: archive[:-9] + b"\x00" * 9, "not a bundle.tar.gz"),
        (lambda archive: packed({}), "does not limit it to the root"),
        (lambda archive: other(archive, roots=[""]), "does not limit it to the root"),
        (lambda archive: other(archive, roots=["llm_capacity", "system"]), "to the root"),
        (lambda archive: other(archive, revision="r7"), "its revision is 'r7'"),
        (lambda archive: edited(archive, ".manifest", lambda _: b"[]"), "to the root"),
        (lambda archive: edited(archive, ".manifest", lambda _: b"{"), "is not JSON"),
        (lambda archive: edited(archive, "data.json", lambda _: b"{"), "is not JSON"),
        (lambda archive: edited(archive, "data.json", lambda _: b"[]"), "no mapping"),
        (lambda archive: edited(archive, "data.json", lambda _: b"{}"), "rule manifest"),
        (lambda archive: edited(archive, BUDGET, lambda old: old + b"#"), "its revision is"),
        (lambda archive: with_file(archive, "llm_capacity/rules/cost/b.rego"), "rules but"),
        (lambda archive: with_file(archive, "system/authz.rego"), "'/system/authz.rego'"),
        (lambda archive: with_file(archive, "llm_capacity/../x.rego"), "x.rego'"),
        (lambda archive: with_file(archive, "../llm_capacity/x.rego"), "x.rego'"),
        (lambda archive: with_file(archive, "llm_capacity/a/data.json"), "a/data.json'"),
        (lambda archive: with_file(archive, "policy.wasm"), "policy.wasm'"),
        (lambda archive: packed([*members(archive).items()] * 2), "which these policies do not"),
    ],
)
def test_an_archive_that_is_no_bundle_of_these_policies(
    opa: str, archive: bytes, tmp_path: Path, damage: Any, told: str
) -> None:
    path = tmp_path / "damaged.tar.gz"
    path.write_bytes(damage(archive))
    with pytest.raises(PolicyUnavailable) as caught, PolicyEngine(opa=opa, bundle=path):
        pass
    assert told in str(caught.value)
    assert "damaged.tar.gz" in str(caught.value)
    assert caught.value.exit_code == 10


def test_an_archive_that_unpacks_to_too_much(
    monkeypatch: pytest.MonkeyPatch, archive: bytes
) -> None:
    monkeypatch.setattr("planner.policy.bundle.MAXIMUM_BYTES", 10_000)
    with pytest.raises(PolicyUnavailable, match="more than 10000 bytes"):
        read_archive(archive, "it")


def test_a_file_that_is_too_large_is_not_read(
    monkeypatch: pytest.MonkeyPatch, archive: bytes, tmp_path: Path
) -> None:
    monkeypatch.setattr("planner.policy.signing.MAXIMUM_BYTES", len(archive) - 1)
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(archive)
    with pytest.raises(PolicyUnavailable, match="is larger than"), PolicyEngine(bundle=path):
        pass


@pytest.mark.parametrize(
    "content", [b"{", b"{}", b'{"signatures": []}', b'{"signatures": ["a.b"]}']
)
def test_signatures_that_cannot_be_read(archive: bytes, content: bytes) -> None:
    with pytest.raises(PolicyUnavailable, match=r"signatures\.json cannot be read"):
        signed_as(packed({**members(archive), ".signatures.json": content}), "it")


def test_data_files_that_overlap(policies: Path) -> None:
    path = policies / "llm_capacity/facts/data.json"
    path.write_text('{"approved_models": 1}')
    with pytest.raises(PolicyUnavailable, match=r"approved_models/data\.json is no mapping"):
        read_bundle(policies)


@pytest.mark.parametrize(
    "line",
    [
        'x := http.send({"method": "get", "url": "http://127.0.0.1"})',
        'x := net.lookup_ip_addr("localhost")',
        "x := opa.runtime()",
        'x := rand.intn("x", 10)',
        "x := time.now_ns()",
    ],
)
def test_rules_with_forbidden_built_ins_are_not_built(
    opa: str, policies: Path, tmp_path: Path, line: str
) -> None:
    rule = policies / BUDGET
    rule.write_text(f"{rule.read_text()}\n{line}\n")
    name = line.split()[2].partition("(")[0]
    with pytest.raises(PolicyUnavailable, match=rf"do not pass `opa check`[\s\S]*{name}"):
        build_bundle(policies, tmp_path / "out.tar.gz", opa=opa)
    assert not (tmp_path / "out.tar.gz").exists()


def test_a_tree_without_one_of_its_rules_is_not_built(
    opa: str, policies: Path, tmp_path: Path
) -> None:
    (policies / BUDGET).unlink()
    with pytest.raises(PolicyUnavailable, match="a rule was added or lost"):
        build_bundle(policies, tmp_path / "out.tar.gz", opa=opa)


def test_a_builder_that_changes_the_rules_is_noticed(
    opa: str, policies: Path, tmp_path: Path
) -> None:
    """An OPA that rewrites what it packs would sign what nobody read."""
    liar = tmp_path / "opa"
    liar.write_text(f'#!/bin/sh\n[ "$1" = build ] && echo "# more" >> {BUDGET}\nexec {opa} "$@"\n')
    liar.chmod(0o755)
    with pytest.raises(PolicyUnavailable, match="its revision is"):
        build_bundle(policies, tmp_path / "out.tar.gz", opa=str(liar))


def test_what_was_there_stays_when_building_fails(opa: str, policies: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tar.gz"
    out.write_text("earlier")
    (policies / BUDGET).write_text("package x {")
    with pytest.raises(PolicyUnavailable):
        build_bundle(policies, out, opa=opa)
    assert out.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_place_that_cannot_be_written(opa: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written") as caught:
        build_bundle(None, tmp_path / "file" / "out.tar.gz", opa=opa)
    assert caught.value.problems[0].where == "--out"


def test_what_is_told_about_a_built_bundle(opa: str, tmp_path: Path) -> None:
    out = tmp_path / "out.tar.gz"
    built = build_bundle(None, out, opa=opa)
    bundle: Bundle = read_bundle()
    assert str(built).splitlines() == [
        str(out),
        f"  revision {bundle.digest}",
        f"  file     sha256:{built.sha256}",
        f"  rules    {len(bundle.stages)}",
        "  signed   no",
    ]
    signed = build_bundle(None, out, key_pair(tmp_path).private, "policy-2026", opa)
    assert str(signed).endswith("  signed   ES256, key id policy-2026")
