"""What a run keeps: the same bytes for the same run, each large part once, nothing unread."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from planner.catalog.loader import catalog_files, load_catalog
from planner.evidence.archive import ATTESTATION, INDEX, RECORD, bundle_files
from planner.evidence.packing import (
    LARGEST_BYTES,
    compressed,
    decompressed,
    packed,
    sha256_of,
    unpacked,
)
from planner.evidence.reading import open_archive
from planner.policy.bundle import read_archive, read_bundle
from planner.policy.signing import build_bundle
from tests.policy.runs import archive_of, planned, project, records, waived

PARTS = ("catalog-", "findings-", "plan-", "question-", "question-")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return waived(tmp_path_factory.mktemp("waived"))


@pytest.fixture(scope="module")
def out(root: Path) -> Path:
    return planned(root)


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "archive").iterdir())}


def test_what_is_inside_and_what_is_beside(root: Path, out: Path) -> None:
    inside = unpacked(archive_of(out).read_bytes())
    (record,) = records(out)
    assert json.loads(inside[RECORD]) == record
    assert sha256_of(inside[INDEX]) == record["archive_digest"]
    assert ATTESTATION not in inside
    assert (
        inside["policies/llm_capacity/main.rego"]
        == (root / "policies/llm_capacity/main.rego").read_bytes()
    )
    assert not [name for name in inside if name.endswith("_test.rego")]
    assert inside["waivers/w.yaml"] == (root / "policies/waivers/w.yaml").read_bytes()
    assert "waivers/w.yaml.dsse.json" in inside
    (judged,) = json.loads(inside["waivers.json"])["waivers"]
    assert judged["approval"]["verified_by"] == "signature"
    beside = [name for name in listing(out) if name != archive_of(out).name]
    assert sorted(beside) == sorted(
        name for part in set(PARTS) for name in beside if name.startswith(part)
    )
    assert len(beside) == len(PARTS)
    assert json.loads(inside[INDEX])["engine_version"] == record["policy"]["engine_version"]


def test_the_parts_are_those_of_the_run(out: Path) -> None:
    kept = open_archive(archive_of(out))
    assert kept.beside["plan"] == (out / "plan.json").read_bytes()
    assert kept.catalog == catalog_files()
    assert kept.document("plan")["evaluated_at"] == "2026-12-01T12:00:00Z"
    assert b"evaluated_at" not in kept.beside["question options"]
    raw = [json.loads(line) for line in kept.beside["findings"].splitlines()]
    (budget,) = [row for row in raw if row["rule_id"] == "BUD-001"]
    # As the engine said it, before the waiver.
    assert (budget["verdict"], budget["waiver"]) == ("deny", None)
    (told,) = [row for row in records(out)[0]["findings"] if row["rule_id"] == "BUD-001"]
    assert (told["verdict"], told["waiver"]["id"]) == ("warn", "WVR-2026-020")


def test_an_equal_run_gives_equal_bytes(out: Path, tmp_path: Path) -> None:
    assert listing(planned(waived(tmp_path))) == listing(out)


def test_another_run_adds_its_own_archive_and_no_more(tmp_path: Path) -> None:
    root = project(tmp_path)
    before = listing(planned(root))
    again = listing(planned(root, at="2026-12-02T08:00:00Z"))
    added = set(again) - set(before)
    assert added == {archive_of(root / "out/s").name}
    assert {name: again[name] for name in before} == before


def test_no_part_is_for_everybody(out: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in (out / "archive").iterdir()} == {0o640}


def test_nothing_is_written_when_nothing_is_to_be(tmp_path: Path) -> None:
    assert not planned(project(tmp_path), write=False).exists()


def test_an_archive_of_the_examples_is_small(out: Path) -> None:
    sizes = {name: len(content) for name, content in listing(out).items()}
    assert max(sizes.values()) < 150_000
    assert sizes[f"catalog-{load_catalog().digest}.tar.gz"] < 60_000


def test_the_policies_of_a_built_bundle_read_back_as_themselves(opa: str, tmp_path: Path) -> None:
    build_bundle(None, tmp_path / "b.tar.gz", opa=opa)
    bundle = read_archive((tmp_path / "b.tar.gz").read_bytes(), "b.tar.gz")
    for name, content in bundle_files(bundle).items():
        (tmp_path / "again" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "again" / name).write_bytes(content)
    assert read_bundle(tmp_path / "again").digest == bundle.digest


def test_packing_depends_on_content_alone() -> None:
    files = {"b": b"2", "a/c": b"1"}
    assert packed(files) == packed(dict(reversed(files.items())))
    assert unpacked(packed(files)) == files
    assert packed(files)[4:8] == b"\0\0\0\0"
    with tarfile.open(fileobj=io.BytesIO(packed(files))) as tar:
        for member in tar:
            assert (member.mtime, member.uid, member.gid, member.uname) == (0, 0, 0, "")


def tar_with(member: tarfile.TarInfo, content: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    member.size = len(content)
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(member, io.BytesIO(content))
    return compressed(buffer.getvalue())


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../x", "./a", "a//b"])
def test_names_that_leave_the_folder_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no archive of ours"):
        unpacked(tar_with(tarfile.TarInfo(name), b"x"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_no_plain_file_is_refused(kind: bytes) -> None:
    member = tarfile.TarInfo("a")
    member.type, member.linkname = kind, "b"
    with pytest.raises(ValueError, match="no archive of ours"):
        unpacked(tar_with(member))


def test_a_name_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for _ in range(2):
            tar.addfile(tarfile.TarInfo("a"))
    with pytest.raises(ValueError, match="no archive of ours"):
        unpacked(compressed(buffer.getvalue()))


@pytest.mark.parametrize(
    "content", [b"", b"text", gzip.compress(b"x" * 9_000)[:-9]], ids=["empty", "text", "cut"]
)
def test_damaged_files_are_told(content: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpacked(content)


def test_what_unpacks_to_far_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LARGEST_BYTES == 1 << 30
    monkeypatch.setattr("planner.evidence.packing.LARGEST_BYTES", 99)
    assert decompressed(compressed(b"x" * 99)) == b"x" * 99
    with pytest.raises(ValueError, match="more than 99 bytes"):
        decompressed(compressed(b"x" * 100))


def test_a_part_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    root = project(tmp_path)
    folder = planned(root) / "archive"
    stamps = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    planned(root)
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert {name: after[name] for name in stamps} == stamps
    assert len(after) == len(stamps) + 1
