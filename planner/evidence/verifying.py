"""Whether a record and its archive are what they say they are, before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from planner.base import Frozen
from planner.canonical import digest
from planner.errors import PlanDiffers
from planner.evidence.archive import ATTESTATION
from planner.evidence.attestation import SUFFIX, attested, verify_attestation
from planner.evidence.packing import sha256_of
from planner.evidence.reading import Found, Kept, forgeries
from planner.evidence.run import ATTESTATIONS
from planner.policy.bundle import read_bundle
from planner.policy.chain import id_of, verify_chain
from planner.policy.document import digest as document_digest
from planner.policy.project_owners import FILE as OWNERS
from planner.units import counted

State = Literal["holds", "broken", "not checked"]

SHOWN = 20
"""Forged parts that are listed."""


_OUTSIDE = ("http.", "net.", "opa.runtime", "rand.", "time.now_ns", "uuid.")
"""Built-ins by which a rule would see more than its question."""


class Check(Frozen):
    """Whether one part of the evidence is what it says it is."""

    name: str
    state: State
    detail: str = ""


def checks_of(found: Found, kept: Kept, public_key: Path | None) -> list[Check]:
    """Return what can be told of a record and its archive without asking anything."""
    return [
        _own_id(found.record),
        _chain(found),
        _archive(kept, found.record),
        _attestation(found, kept, public_key),
    ]


def _own_id(record: Mapping[str, Any]) -> Check:
    own = id_of(record)
    if own == record["decision_id"]:
        return Check(name="id", state="holds")
    return Check(name="id", state="broken", detail=f"the record's content has the id {own}")


def _chain(found: Found) -> Check:
    """Check the link of the record to the line before it, where there is a file of lines."""
    if found.chain is None or found.chain.suffix != ".jsonl":
        return Check(name="chain", state="not checked", detail="no file of records was given")
    numbers = (
        number
        for number, line in enumerate(found.chain.read_bytes().split(b"\n"), start=1)
        if line == found.line.encode()
    )
    own = f"{found.chain.name}:{next(numbers, 0)}"
    problems = verify_chain(found.chain)
    at_line = [problem for problem in problems if problem.where == own]
    if at_line:
        return Check(name="chain", state="broken", detail="; ".join(map(str, at_line)))
    breaks = counted(len(problems), "break")
    others = f"{breaks} elsewhere in the file" if problems else ""
    return Check(name="chain", state="holds", detail=others)


def _archive(kept: Kept, record: Mapping[str, Any]) -> Check:
    wrong = list(forgeries(kept, record))
    if not wrong:
        wrong = list(_contradictions(kept, record))
    if wrong:
        return Check(name="archive", state="broken", detail="; ".join(wrong[:SHOWN]))
    return Check(name="archive", state="holds")


def _contradictions(kept: Kept, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a whole archive says otherwise than the digests in the record."""
    plan = json.loads(kept.beside["plan"])
    body = {k: v for k, v in plan.items() if k not in ("capacity_digest", "evidence_digest")}
    if digest(body) != record["plan_digest"]:
        yield "the archived plan does not have the record's plan_digest"
    if plan.get("capacity_digest") != record["capacity_digest"]:
        yield "the archived plan does not have the record's capacity_digest"
    asked = [kept.document("options"), kept.document("plan")]
    if document_digest(asked) != record["input_digest"]:
        yield "the archived questions do not have the record's input_digest"
    owners = record.get("waiver_owners_digest")
    if owners is not None and sha256_of(kept.inside.get(f"waivers/{OWNERS}", b"")) != owners:
        yield "the archived owner list does not have the record's waiver_owners_digest"


def _attestation(found: Found, kept: Kept, public_key: Path | None) -> Check:
    name = "attestation"
    if public_key is None:
        return Check(name=name, state="not checked", detail="no public key was given")
    envelope = kept.inside.get(ATTESTATION)
    if envelope is None:
        id = found.record["decision_id"].removeprefix("sha256:")
        beside = found.archive.parent.parent / ATTESTATIONS / f"{id}{SUFFIX}"
        if not beside.is_file():
            return Check(name=name, state="broken", detail="there is none, so nobody signed it")
        envelope = beside.read_bytes()
    try:
        statement = verify_attestation(envelope, public_key)
    except PlanDiffers as error:
        return Check(name=name, state="broken", detail=str(error))
    if why := attested(statement, found.record, found.line):
        return Check(name=name, state="broken", detail=why)
    return Check(name=name, state="holds")


def policy_check(policies: Path, record: Mapping[str, Any]) -> Check:
    """Say whether archived policies are those that the record names, and reach nothing.

    They come from somebody else's machine: rules of ours use no network, clock or chance.
    """
    listed = json.loads((policies / "capabilities.json").read_bytes())
    names = sorted(row["name"] for row in listed["builtins"])
    if outside := [name for name in names if name.startswith(_OUTSIDE)]:
        detail = f"they may use {', '.join(outside)}, which no rule needs"
        return Check(name="policy", state="broken", detail=detail)
    bundle = read_bundle(policies)
    recorded = record["policy"]["bundle_digest"]
    if bundle.digest == recorded:
        return Check(name="policy", state="holds")
    detail = f"the archived policies have the digest {bundle.digest}, the record has {recorded}"
    # What a central server had loaded is for its owner to show.
    central = record["policy"]["engine"] == "opa, central"
    return Check(name="policy", state="not checked" if central else "broken", detail=detail)
