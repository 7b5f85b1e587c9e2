"""The chain of records: each line names the one before it, and its own id covers that.

A record's ``decision_id`` is the digest of everything else in it, ``previous`` included, so
a line that is edited, removed or moved breaks the chain where it stands. Lines removed from
the end leave a whole chain: ``head``, an id kept elsewhere, shows that.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from planner import faults
from planner.errors import InputError, Problem
from planner.policy.document import digest
from planner.policy.signatures import strict_json
from planner.secrets import redact


class Appended(NamedTuple):
    """A record as appended, and its line without the end of line."""

    record: dict[str, Any]
    line: str


def append_record(path: Path, body: Mapping[str, Any]) -> Appended:
    """Append a record as one line of JSON, linked to the line before it.

    The file is opened for appending and locked from the look at its last line until the
    new one is flushed to disk, so that runs side by side neither mix nor link alike.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
    with contextlib.closing(os.fdopen(handle, "r+b", buffering=0)) as file:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        added = _linked(body, _last_id(handle, size))
        # A run that was killed while writing must not spoil the next line as well.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        data = memoryview((b"\n" if torn else b"") + added.line.encode() + b"\n")
        while data:
            data = data[file.write(data) :]
        os.fsync(handle)
    return added


def id_of(record: Mapping[str, Any]) -> str:
    """Return the id that a record's content gives it."""
    return digest({key: value for key, value in record.items() if key != "decision_id"})


def line_of(record: Mapping[str, Any]) -> str:
    """Return the line of a record, without the end of line."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def read_record(line: str | bytes) -> dict[str, Any]:
    """Return the record in a line; ValueError says why it is none."""
    raw = line.encode() if isinstance(line, str) else line
    record = strict_json(raw)
    if not isinstance(record, dict) or not isinstance(record.get("decision_id"), str):
        raise ValueError("it is no record")
    return record


def verify_chain(path: Path, head: str | None = None) -> tuple[Problem, ...]:
    """Return where the chain of a file breaks, in order; nothing for a whole one.

    ``head`` is the ``decision_id`` that the last line must have. Raises InputError when
    the file cannot be read.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(
            [faults.RECORD_UNREADABLE.at(str(path), what, "Name a policy-record.jsonl.")]
        ) from None
    return tuple(_broken(path.name, raw, head))


def _broken(name: str, raw: bytes, head: str | None) -> Iterator[Problem]:
    before: str | None = None
    *lines, rest = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        where = f"{name}:{number}"
        try:
            record = read_record(line)
        except ValueError as error:
            # The next line links to the last whole one: a torn line is no link.
            yield faults.RECORD_BROKEN.at(where, f"not a whole record ({error}): torn or edited")
            continue
        id = record["decision_id"]
        if id_of(record) != id or line_of(record).encode() != line:
            yield faults.RECORD_BROKEN.at(where, f"edited: its content is not that of {id}")
        if "previous" not in record:
            yield faults.RECORD_BROKEN.at(where, "it names no record before it: older, or edited")
        elif record["previous"] != before:
            wanted = before or "none, as the first line"
            what = f"it follows {record['previous'] or 'none'}, but the line before is {wanted}"
            yield faults.RECORD_BROKEN.at(where, f"{what}: a line was removed, added or moved")
        before = id
    if rest:
        yield faults.RECORD_BROKEN.at(f"{name}:{len(lines) + 1}", "the last line is torn")
    if head is not None and before != head:
        what = f"the last record is {before or 'none'}, not {head}: lines were removed or added"
        yield faults.RECORD_BROKEN.at(name, what)


def _linked(body: Mapping[str, Any], previous: str | None) -> Appended:
    content = redact({"previous": previous, **body})
    record = {"decision_id": digest(content), **content}
    return Appended(record, line_of(record))


def _last_id(handle: int, size: int) -> str | None:
    """Return the id in the last line that holds a record, None without one."""
    if size == 0:
        return None
    with mmap.mmap(handle, size, prot=mmap.PROT_READ) as content:
        end = size
        while end > 0:
            start = content.rfind(b"\n", 0, end) + 1
            with contextlib.suppress(ValueError):
                return str(read_record(content[start:end])["decision_id"])
            end = start - 1
    return None
