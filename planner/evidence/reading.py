"""Finding a record and its archive, and telling whether the archive is the record's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from planner import faults
from planner.catalog.loader import digest_of
from planner.errors import InputError
from planner.evidence.archive import ATTESTATION, FOLDER, INDEX, RECORD, SUFFIX, file_of
from planner.evidence.packing import decompressed, sha256_of, unpacked
from planner.policy.chain import read_record

_ARCHIVE = re.compile(rf"[0-9a-f]{{64}}{re.escape(SUFFIX)}")
T = TypeVar("T")

_RECORDS = "policy-record.jsonl"

_OTHERS = frozenset({INDEX, RECORD, ATTESTATION})
"""Files of an archive that its index cannot name."""


class Found(NamedTuple):
    """A record as it was found: its line, where its archive is, the file of the chain."""

    record: dict[str, Any]
    line: str
    archive: Path
    chain: Path | None


class Kept(NamedTuple):
    """The parts of an archive as they were read, those beside it by role."""

    inside: dict[str, bytes]
    listing: dict[str, Any]
    beside: dict[str, bytes]
    catalog: dict[str, bytes]

    def document(self, stage: str) -> dict[str, Any]:
        """Return a question, with the time it was asked for."""
        timeless = json.loads(self.beside[f"question {stage}"])
        return {**timeless, "evaluated_at": self.listing["evaluated_at"]}


def find(source: Path | str, archive: Path | None, decision_id: str | None) -> Found:
    """Return the record that ``source`` names.

    ``source`` is an archive, a folder of archives or of a stack, a file of records (the
    last one, or the one of ``decision_id``), or a record's line itself. ``archive`` is the
    archive or the folder that holds it, where it is not beside the file.
    """
    if isinstance(source, str) and source.lstrip().startswith("{"):
        line = source.strip()
        return _of_line(line, "the line", archive, None)
    path = Path(source)
    if path.is_dir():
        if (path / _RECORDS).is_file():
            return find(path / _RECORDS, archive, decision_id)
        path = _only_archive(path, decision_id)
    raw = _bytes(path)
    if path.name.endswith(SUFFIX):
        line = _usable(path, lambda: unpacked(raw).get(RECORD, b"").decode()).removesuffix("\n")
        record = _usable(path, lambda: read_record(line))
        return Found(record, line, path, None)
    lines = _usable(path, raw.decode).splitlines()
    line = _usable(path, lambda: _line(lines, decision_id))
    return _of_line(line, str(path), archive or path.parent / FOLDER, path)


def open_archive(path: Path) -> Kept:
    """Return the parts of an archive; InputError for what is missing or damaged."""
    raw = _bytes(path)
    inside = _usable(path, lambda: unpacked(raw))
    listing = _usable(path, lambda: _listing(inside))

    def beside(row: Mapping[str, Any]) -> tuple[Path, bytes]:
        name = str(row["file"])
        if "/" in name or name.startswith("."):
            raise InputError(
                [faults.RECORD_UNREADABLE.at(str(path), f"it names {name!r}", "Use another copy.")]
            )
        return path.parent / name, _bytes(path.parent / name)

    parts: dict[str, bytes] = {}
    for role, row in listing["beside"].items():
        where, content = beside(row)
        parts[role] = _usable(where, partial(decompressed, content))
    where, content = beside(listing["catalog"])
    return Kept(inside, listing, parts, _usable(where, lambda: unpacked(content)))


def forgeries(kept: Kept, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield every part of an archive that is not what the record and the index say."""
    index_digest = sha256_of(kept.inside[INDEX])
    if index_digest != record.get("archive_digest"):
        yield f"the index has the digest {index_digest}, not the record's"
    named = kept.listing["inside"]
    for name in sorted(set(named) | (set(kept.inside) - _OTHERS)):
        content = kept.inside.get(name)
        if content is None or named.get(name) != sha256_of(content):
            yield f"{name} is not the one that was archived"
    for role, row in sorted(kept.listing["beside"].items()):
        if sha256_of(kept.beside[role]) != row["sha256"]:
            yield f"{row['file']} is not the {role} that was archived"
    catalog = kept.listing["catalog"]
    if digest_of(kept.catalog) != catalog["digest"]:
        yield f"{catalog['file']} is not the catalog that was archived"
    for field, own in (
        ("evaluated_at", kept.listing["evaluated_at"]),
        ("plan_digest", kept.listing["plan_digest"]),
        ("catalog_digest", catalog["digest"]),
    ):
        if record.get(field) != own:
            yield f"{field} of the record is {record.get(field)}, the archive's is {own}"


def _of_line(line: str, where: str, archive: Path | None, chain: Path | None) -> Found:
    record = _usable(where, lambda: read_record(line))
    if archive is None:
        fix = "Name the folder of archives as well."
        raise InputError([faults.RECORD_UNREADABLE.at(where, "a line alone has no archive", fix)])
    if archive.is_dir():
        archive /= file_of(record["decision_id"])
    return Found(record, line, archive, chain)


def _line(lines: list[str], decision_id: str | None) -> str:
    if decision_id is None:
        if not lines:
            raise ValueError("it holds no record")
        return lines[-1]
    for line in lines:
        try:
            if read_record(line)["decision_id"].removeprefix("sha256:") == (
                decision_id.removeprefix("sha256:")
            ):
                return line
        except ValueError:
            continue
    raise ValueError(f"it holds no record with the id {decision_id}")


def _only_archive(folder: Path, decision_id: str | None) -> Path:
    if decision_id is not None:
        return folder / file_of(decision_id)
    found = sorted(path for path in folder.iterdir() if _ARCHIVE.fullmatch(path.name))
    if len(found) != 1:
        what = f"it holds {len(found)} archives of decisions"
        raise InputError([faults.RECORD_UNREADABLE.at(str(folder), what, "Name one of its files.")])
    return found[0]


def _listing(inside: Mapping[str, bytes]) -> dict[str, Any]:
    if INDEX not in inside or RECORD not in inside:
        raise ValueError("it holds no record with an index")
    index = json.loads(inside[INDEX])
    needed = {"beside", "catalog", "evaluated_at", "inside", "plan_digest"}
    roles = {"findings", "plan", "question options", "question plan"}
    if not isinstance(index, dict) or not needed <= set(index) or not roles <= set(index["beside"]):
        raise ValueError("its index lacks parts")
    return index


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fix = "Name a record, or an archive with the files beside it."
        what = f"cannot be read: {error.strerror}"
        raise InputError([faults.RECORD_UNREADABLE.at(str(path), what, fix)]) from None


def _usable(where: Path | str, read: Callable[[], T]) -> T:
    try:
        return read()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            [faults.RECORD_UNREADABLE.at(str(where), str(error), "Use another copy.")]
        ) from None
