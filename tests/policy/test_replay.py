"""A decision asked again from its archive: it stands, or what differs is told."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError, PolicyUnavailable
from planner.evidence.archive import ATTESTATION, INDEX, RECORD, WAIVERS
from planner.evidence.attestation import KEY_VARIABLE
from planner.evidence.packing import compressed, packed, sha256_of, unpacked
from planner.evidence.replay import Replay, replay
from planner.policy.chain import id_of, line_of
from planner.report.replay import replay_document, replay_error, replay_text
from tests.policy.runs import archive_of, planned, records, waived
from tests.policy.waiving import Key

OWN, STRANGER = Key(7), Key(8)
Harm = Callable[[dict[str, bytes]], None]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that two signed runs left, and nothing else of their project."""
    base = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, str(OWN.write(base / "record.pem")))
        root = waived(base / "p")
        for at in ("2026-12-01T12:00:00Z", "2026-12-31T12:00:00Z"):
            planned(root, at=at)
    shutil.move(root / "out" / "s", base / "left")
    shutil.rmtree(root)
    return base / "left"


@pytest.fixture
def left(kept: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may damage."""
    return Path(shutil.copytree(kept, tmp_path / "left"))


@pytest.fixture(autouse=True)
def no_repository(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the policies of the repository: a replay has only what is archived."""

    def gone() -> Path:
        raise AssertionError("a replay must not look for the policies of the repository")

    monkeypatch.setattr("planner.policy.bundle.policies_folder", gone)


@pytest.fixture
def public(tmp_path: Path) -> Path:
    path = tmp_path / "public.pem"
    path.write_text(OWN.public_pem)
    return path


def state(found: Replay, name: str) -> str:
    (check,) = [check for check in found.checks if check.name == name]
    return check.state


def test_a_decision_stands(kept: Path, public: Path, opa: str) -> None:
    found = replay(kept / "policy-record.jsonl", public_key=public, opa=opa)
    assert found.stands, replay_text(found)
    assert found.decision_id == records(kept)[1]["decision_id"]
    assert {check.name: check.state for check in found.checks} == {
        "id": "holds",
        "chain": "holds",
        "archive": "holds",
        "attestation": "holds",
        "policy": "holds",
    }
    assert replay_error(found) is None
    assert "STANDS" in replay_text(found)
    assert replay_document(found)["stands"] is True


def test_waivers_are_judged_at_the_recorded_time(kept: Path, opa: str) -> None:
    """The waiver was live at the first run and had expired at the second."""
    first, second = records(kept)
    assert (first["verdict"], second["verdict"]) == ("warn", "deny")
    for number, record in enumerate((first, second)):
        found = replay(archive_of(kept, number), opa=opa)
        assert (found.verdict, found.stands) == (record["verdict"], True), replay_text(found)


def test_the_ways_to_name_a_decision(kept: Path, tmp_path: Path, opa: str) -> None:
    first, second = records(kept)
    lines = (kept / "policy-record.jsonl").read_text().splitlines()
    single = tmp_path / "one.json"
    single.write_text(lines[0])
    alone = tmp_path / "alone"
    shutil.copytree(kept / "archive", alone)
    (alone / archive_of(kept, 1).name).unlink()
    for found, id in (
        (replay(kept, opa=opa), second["decision_id"]),
        (replay(kept, decision_id=first["decision_id"], opa=opa), first["decision_id"]),
        (replay(lines[0], archive=kept / "archive", opa=opa), first["decision_id"]),
        (replay(single, archive=archive_of(kept, 0), opa=opa), first["decision_id"]),
        (replay(alone, opa=opa), first["decision_id"]),
        (
            replay(kept / "archive", decision_id=second["decision_id"], opa=opa),
            second["decision_id"],
        ),
    ):
        assert (found.decision_id, found.stands) == (id, True)
    assert state(replay(alone, opa=opa), "chain") == "not checked"


@pytest.mark.parametrize(
    ("source", "more", "words"),
    [
        ("nowhere.jsonl", {}, "cannot be read"),
        ("archive", {}, "it holds 2 archives of decisions"),
        ("policy-record.jsonl", {"decision_id": "sha256:0"}, "no record with the id"),
        ("plan.json", {}, "Use another copy"),
    ],
)
def test_what_names_no_decision(
    kept: Path, source: str, more: dict[str, Any], words: str, opa: str
) -> None:
    with pytest.raises(InputError, match=words) as told:
        replay(kept / source, opa=opa, **more)
    assert told.value.exit_code == 2


def test_a_line_alone_has_no_archive(kept: Path) -> None:
    with pytest.raises(InputError, match="a line alone has no archive"):
        replay((kept / "policy-record.jsonl").read_text().splitlines()[0])


def test_a_record_of_before_is_refused(left: Path) -> None:
    record = {"decision_id": "sha256:0", "schema_version": 1}
    (left / "policy-record.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(InputError, match="a record of version 1"):
        replay(left)


def rearchive(path: Path, harm: Harm) -> None:
    files = unpacked(path.read_bytes())
    harm(files)
    path.write_bytes(packed(files))


def looser(files: dict[str, bytes]) -> None:
    """Raise what a waiver may last, in the policies that are archived."""
    name = "policies/llm_capacity/facts/waiver_owners/data.json"
    assert b'"high": 90' in files[name]
    files[name] = files[name].replace(b'"high": 90', b'"high": 91')


def no_waiver(files: dict[str, bytes]) -> None:
    files[WAIVERS] = b'{"approvers":0,"rejected":[],"waivers":[]}\n'


def more_inside(files: dict[str, bytes]) -> None:
    files["policies/llm_capacity/rules/cost/more.rego"] = b"package more\n"


def less_inside(files: dict[str, bytes]) -> None:
    del files["policies/capabilities.json"]


def relisted(files: dict[str, bytes]) -> None:
    """Change a waiver and the index with it, as a careful forger would."""
    no_waiver(files)
    listing = json.loads(files[INDEX])
    listing["inside"][WAIVERS] = sha256_of(files[WAIVERS])
    files[INDEX] = json.dumps(listing).encode()


def retimed(files: dict[str, bytes]) -> None:
    listing = json.loads(files[INDEX])
    listing["evaluated_at"] = "2026-12-30T00:00:00Z"
    files[INDEX] = json.dumps(listing).encode()


@pytest.mark.parametrize("harm", [looser, no_waiver, more_inside, less_inside, relisted, retimed])
def test_a_changed_archive_is_forged_and_not_asked(left: Path, harm: Harm, opa: str) -> None:
    rearchive(archive_of(left), harm)
    found = replay(left, opa=opa)
    assert (found.stands, found.verdict, state(found, "archive")) == (False, None, "broken")
    assert "policy" not in {check.name for check in found.checks}
    assert "archive BROKEN" in replay_text(found)
    assert "asked again: no" in replay_text(found)
    error = replay_error(found)
    assert error is not None
    assert error.exit_code == 7


@pytest.mark.parametrize("name", ["http.send", "net.lookup_ip_addr", "opa.runtime", "time.now_ns"])
def test_policies_that_reach_outside_are_not_asked(left: Path, name: str, opa: str) -> None:
    """A whole archive that somebody made up, rules that call home included."""

    def reaching(files: dict[str, bytes]) -> None:
        capabilities = json.loads(files["policies/capabilities.json"])
        capabilities["builtins"].append({"name": name, "decl": {"type": "function"}})
        files["policies/capabilities.json"] = json.dumps(capabilities).encode()
        listing = json.loads(files[INDEX])
        listing["inside"]["policies/capabilities.json"] = sha256_of(
            files["policies/capabilities.json"]
        )
        files[INDEX] = json.dumps(listing).encode()

    path = archive_of(left)
    rearchive(path, reaching)
    own = sha256_of(unpacked(path.read_bytes())[INDEX])
    found = replay(
        rerecorded(left, lambda record: record.update(archive_digest=own), honest_id=True), opa=opa
    )
    assert (state(found, "archive"), state(found, "policy")) == ("holds", "broken")
    assert (found.stands, found.verdict) == (False, None)
    assert name in replay_text(found)


@pytest.mark.parametrize("part", ["question-", "findings-", "plan-"])
def test_a_changed_part_beside_is_forged(left: Path, part: str, opa: str) -> None:
    for path in (left / "archive").glob(f"{part}*"):
        path.write_bytes(compressed(b"{}\n"))
    found = replay(left, opa=opa)
    assert (found.stands, found.verdict, state(found, "archive")) == (False, None, "broken")


def test_a_changed_catalog_is_forged(left: Path, opa: str) -> None:
    (path,) = (left / "archive").glob("catalog-*")
    rearchive(path, lambda files: files.update({"regions.csv": b""}))
    found = replay(left, opa=opa)
    assert "catalog that was archived" in replay_text(found)
    assert not found.stands


@pytest.mark.parametrize("part", ["question-", "findings-", "plan-", "catalog-"])
def test_a_missing_part_is_bad_input(left: Path, part: str, opa: str) -> None:
    for path in (left / "archive").glob(f"{part}*"):
        path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        replay(left, opa=opa)


@pytest.mark.parametrize("content", [b"", b"rubbish", packed({}), packed({"index.json": b"{}"})])
def test_a_damaged_archive_is_bad_input(left: Path, content: bytes, opa: str) -> None:
    archive_of(left).write_bytes(content)
    with pytest.raises(InputError):
        replay(left, opa=opa)


def rerecorded(left: Path, change: Callable[[dict[str, Any]], None], *, honest_id: bool) -> Path:
    """Change the last record, with the id of its new content or without."""
    path = left / "policy-record.jsonl"
    *before, line = path.read_text().splitlines()
    record = json.loads(line)
    archive = archive_of(left)
    change(record)
    if honest_id:
        record["decision_id"] = id_of(record)
        target = archive.with_name(record["decision_id"].removeprefix("sha256:") + ".tar.gz")
        archive.rename(target)
        rearchive(target, lambda files: files.update({RECORD: line_of(record).encode() + b"\n"}))
    path.write_text("\n".join([*before, line_of(record)]) + "\n")
    return path


def allowed(record: dict[str, Any]) -> None:
    record["verdict"] = "allow"


def no_findings(record: dict[str, Any]) -> None:
    record["findings"] = []


def renamed(record: dict[str, Any]) -> None:
    record["actor"] = "somebody else"


def older_opa(record: dict[str, Any]) -> None:
    record["policy"]["engine_version"] = "1.21.3"


@pytest.mark.parametrize("field", ["policy", "findings_told", "capacity_digest", "stack", "actor"])
def test_a_record_forged_with_a_part_left_out_is_bad_input(
    left: Path, field: str, opa: str
) -> None:
    path = rerecorded(left, lambda record: record.pop(field), honest_id=True)
    with pytest.raises(InputError, match="lack what a run of this version leaves"):
        replay(path, opa=opa)


@pytest.mark.parametrize("change", [allowed, no_findings, renamed])
def test_an_edited_record_is_forged(
    left: Path, change: Callable[[dict[str, Any]], None], opa: str
) -> None:
    found = replay(rerecorded(left, change, honest_id=False), opa=opa)
    assert (found.stands, found.verdict, state(found, "id")) == (False, None, "broken")
    assert state(found, "chain") == "broken"


@pytest.mark.parametrize(
    ("change", "what"), [(allowed, "verdict"), (no_findings, "finding BUD-001 on stack")]
)
def test_a_record_forged_with_care_differs_from_the_answer(
    left: Path, change: Callable[[dict[str, Any]], None], what: str, opa: str
) -> None:
    found = replay(rerecorded(left, change, honest_id=True), opa=opa)
    assert (found.stands, found.verdict) == (False, "deny")
    assert what in {row.what for row in found.differences}
    assert f"differs: {what}" in replay_text(found)
    error = replay_error(found)
    assert error is not None
    assert (error.exit_code, "differences" in str(error)) == (7, True)


def test_what_no_answer_shows_a_signature_does(left: Path, public: Path, opa: str) -> None:
    """An actor is no matter of policy: only the chain's next line or a key tells."""
    path = rerecorded(left, renamed, honest_id=True)
    assert replay(path, opa=opa).stands
    found = replay(path, public_key=public, opa=opa)
    assert (found.stands, state(found, "attestation")) == (False, "broken")
    assert "another record" in replay_text(found)


def test_a_line_taken_out_breaks_the_link(left: Path, opa: str) -> None:
    path = left / "policy-record.jsonl"
    path.write_text(path.read_text().splitlines()[1] + "\n")
    found = replay(path, opa=opa)
    assert (found.stands, state(found, "chain")) == (False, "broken")


def test_a_break_elsewhere_is_told_and_breaks_no_other(left: Path, opa: str) -> None:
    path = left / "policy-record.jsonl"
    with path.open("a") as file:
        file.write('{"torn"')
    found = replay(path, decision_id=records_before(path)[1]["decision_id"], opa=opa)
    assert found.stands
    assert "1 break elsewhere" in replay_text(found)


def records_before(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()[:2]]


def test_an_attestation_of_another_or_none_does_not_stand(
    left: Path, tmp_path: Path, public: Path, opa: str
) -> None:
    (tmp_path / "other.pem").write_text(STRANGER.public_pem)
    assert state(replay(left, public_key=tmp_path / "other.pem", opa=opa), "attestation") == (
        "broken"
    )
    rearchive(archive_of(left), lambda files: files.pop(ATTESTATION))
    # The one beside the archive does as well.
    assert replay(left, public_key=public, opa=opa).stands
    shutil.rmtree(left / "attestations")
    found = replay(left, public_key=public, opa=opa)
    assert (found.stands, state(found, "attestation")) == (False, "broken")
    assert replay(left, opa=opa).stands


def test_another_opa_is_told(left: Path, opa: str) -> None:
    found = replay(rerecorded(left, older_opa, honest_id=True), opa=opa)
    assert found.stands
    assert "decided by OPA 1.21.3, asked again with OPA" in replay_text(found)


def test_without_opa_nothing_can_be_asked(kept: Path) -> None:
    with pytest.raises(PolicyUnavailable) as told:
        replay(kept, opa="no-such-opa")
    assert told.value.exit_code == 10


def test_a_replay_leaves_the_archive_as_it_was(left: Path, opa: str) -> None:
    before = {path: path.read_bytes() for path in left.rglob("*") if path.is_file()}
    for path in [left, *left.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP))
    try:
        assert replay(left, opa=opa).stands
    finally:
        for path in [left, *left.rglob("*")]:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
    assert {path: path.read_bytes() for path in left.rglob("*") if path.is_file()} == before
