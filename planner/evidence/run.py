"""Leaving the evidence of a run: its record, its archive, and its attestation if it is signed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.evidence.archive import Archive, Asked, Planned, archive_of, keep
from planner.evidence.attestation import SUFFIX, attest
from planner.files import write_whole
from planner.policy.bundle import Bundle
from planner.policy.chain import Appended, append_record
from planner.policy.document import digest
from planner.policy.engine import PolicyEngine, PolicyFacts
from planner.policy.record import Digests, Origin, policy_record
from planner.policy.verdicts import Verdict
from planner.secrets import redact_values

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]

RECORDS = "policy-record.jsonl"
ATTESTATIONS = "attestations"


@dataclass(frozen=True)
class Judged:
    """The policy behind the answers, taken while the engine still runs."""

    facts: PolicyFacts
    bundle: Bundle
    rules_disabled: tuple[str, ...]

    @classmethod
    def by(cls, engine: PolicyEngine) -> Judged:
        """Return what an engine that has answered says of itself."""
        return cls(engine.facts, engine.bundle, engine.rules_not_evaluated)

    @property
    def data_digest(self) -> str | None:
        """The digest of the policies' data alone; None for a server that holds its own."""
        return None if self.facts.engine == "opa, central" else digest(self.bundle.data)


@dataclass(frozen=True)
class Run:
    """What there is to say of a run besides its questions and answers."""

    stack: str
    evaluated_at: dt.datetime
    origin: Origin
    verdict: Verdict
    capacity_digest: str
    declared_digest: str
    trace: bool = False


def keep_run(
    folder: Path,
    run: Run,
    judged: Judged,
    asked: Asked,
    planned: Planned,
    signer: CryptoSigner | None,
) -> Appended:
    """Append the record of a run below a stack's folder, and write what proves it."""
    asked = asked._replace(documents=tuple(redact_values(row) for row in asked.documents))
    archive = archive_of(asked, planned, judged.bundle, judged.facts)
    appended = append_record(folder / RECORDS, _record(run, judged, asked, planned, archive))
    attestation = None if signer is None else attest(appended, signer)
    if attestation is not None:
        id = appended.record["decision_id"].removeprefix("sha256:")
        write_whole(folder / ATTESTATIONS / f"{id}{SUFFIX}", attestation)
    keep(folder, archive, appended, attestation)
    return appended


def _record(
    run: Run, judged: Judged, asked: Asked, planned: Planned, archive: Archive
) -> dict[str, object]:
    return policy_record(
        stack=run.stack,
        evaluated_at=run.evaluated_at,
        origin=run.origin,
        documents=asked.documents,
        facts=judged.facts,
        data_digest=judged.data_digest,
        rules_disabled=judged.rules_disabled,
        verdict=run.verdict,
        findings=asked.findings,
        waivers=asked.waivers,
        digests=Digests(
            plan=planned.plan_digest,
            capacity=run.capacity_digest,
            declared=run.declared_digest,
            catalog=planned.catalog_digest,
            archive=archive.digest,
        ),
        trace=run.trace,
    )
