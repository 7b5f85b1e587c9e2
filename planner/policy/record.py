"""The record of one run of the gates: one line that a reviewer can read a year later."""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.policy.document import digest, instant, plain
from planner.policy.engine import PolicyFacts
from planner.policy.verdicts import Finding, Verdict
from planner.policy.waivers import NO_WAIVERS, WaiverBook, expiring, liveness, used

SCHEMA_VERSION = 1

REDACTED = "[redacted]"

# A key that ends in "token" holds one; token_multiplier and max_tokens do not.
_SECRET_KEY = re.compile(
    r"(password|passwd|passphrase|secret|credential|token$|authorization$"
    r"|api[_-]?key|private[_-]?key|access[_-]?key)",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bBearer\s+\S{8,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\bpul-[0-9a-f]{40}\b|://[^/\s:@]+:[^/\s@]+@"
)


def policy_record(
    *,
    stack: str,
    evaluated_at: dt.datetime,
    actor: str,
    commit: str | None,
    plan_digest: str | None,
    documents: Sequence[Mapping[str, Any]],
    facts: PolicyFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    waivers: WaiverBook = NO_WAIVERS,
    run: str | None = None,
) -> dict[str, Any]:
    """Return the record of a run, redacted, in a stable order of keys.

    ``documents`` are the questions that were asked; ``verdict`` is the run's own, which
    is not the worst finding: an option that is denied and loses fails nothing. ``run``
    joins the records of one command, such as the preview and the update of one ``up``.
    ``decision_id`` is the digest of everything else, so a record proves its own content.
    """
    used_ids = {found.waiver.id for found in findings if found.waiver}
    used_waivers = [used(waiver) for waiver in waivers.waivers if waiver.id in used_ids]
    stale = {
        waiver.id: state
        for waiver in waivers.waivers
        if (state := liveness(waiver, evaluated_at)) != "live"
    }
    body = {
        "schema_version": SCHEMA_VERSION,
        "evaluated_at": instant(evaluated_at),
        "actor": actor,
        "commit": commit,
        "run": run,
        "stack": stack,
        "plan_digest": plan_digest,
        "input_digest": digest(list(documents)),
        "policy": {
            "engine": facts.engine,
            "engine_version": facts.engine_version,
            "bundle_digest": facts.bundle_digest,
            "rule_count": facts.rule_count,
        },
        "verdict": verdict,
        "counts": {
            "verdicts": _counts(found.verdict for found in findings),
            "raw_verdicts": _counts(found.raw_verdict for found in findings),
            "rules": _counts(found.rule_id for found in findings),
        },
        "waivers_used": plain(used_waivers),
        "waivers_expiring_30d": [waiver.id for waiver in expiring(waivers, evaluated_at)],
        "waivers_not_live": stale,
        "waivers_rejected": [row._asdict() for row in waivers.rejected],
        "findings": [plain(found) for found in findings],
    }
    redacted = redact(body)
    return {"decision_id": digest(redacted), **redacted}


def redact(value: Any, key: str = "") -> Any:
    """Return ``value`` with everything that looks like a secret replaced."""
    if _SECRET_KEY.search(key) and isinstance(value, str | list | Mapping):
        return REDACTED
    if isinstance(value, Mapping):
        return {name: redact(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    if isinstance(value, str):
        return _SECRET_VALUE.sub(REDACTED, value)
    return value


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Append the record as one line of JSON, whole or not at all as others see it.

    The file is opened for appending and locked, so that runs side by side do not mix
    their lines, and flushed to disk before the lock is given back.
    """
    line = json.dumps(redact(record), separators=(",", ":"), allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
    with contextlib.closing(os.fdopen(handle, "r+b", buffering=0)) as file:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        # A run that was killed while writing must not spoil the next line as well.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        data = memoryview((b"\n" if torn else b"") + line.encode())
        while data:
            data = data[file.write(data) :]
        os.fsync(handle)


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
