"""What a decision rested on, kept so that it can be asked again with nothing else at hand.

Each run has an archive: the policies, the waivers as judged, and an index that names every
part by its digest. The large parts lie beside it, each under the digest of its content, so
that a run like an earlier one adds next to nothing: the questions (without their time), the
findings before waivers, the plan and the catalog. The record holds the digest of the index.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner import faults
from planner.canonical import canonical
from planner.errors import InputError
from planner.evidence.packing import compressed, packed, sha256_of
from planner.files import write_whole
from planner.policy.bundle import DATA, ROOT, Bundle
from planner.policy.chain import Appended
from planner.policy.document import plain
from planner.policy.engine import PolicyFacts
from planner.policy.verdicts import Finding
from planner.policy.waivers import WaiverBook
from planner.secrets import redact_text, redact_values

SCHEMA_VERSION = 1

FOLDER = "archive"
INDEX, RECORD, ATTESTATION, WAIVERS = (
    "index.json",
    "record.json",
    "attestation.json",
    "waivers.json",
)
POLICIES, BUNDLE = "policies", "bundle.tar.gz"
SUFFIX = ".tar.gz"

_MODE = 0o640


class Archive(NamedTuple):
    """What is to be kept: files inside the run's archive, and files beside it, as bytes.

    ``listing`` is the index, which names all of them; ``digest`` is that of the index.
    """

    inside: dict[str, bytes]
    beside: dict[str, bytes]
    listing: bytes
    digest: str


class Asked(NamedTuple):
    """What went into the gates, redacted, and came out: see planner.planning.Planned."""

    documents: Sequence[Mapping[str, Any]]
    findings: Sequence[Finding]
    waivers: WaiverBook
    waiver_files: Mapping[str, bytes]


class Planned(NamedTuple):
    """The plan as written, its evidence digest, and the catalog's files with their digest."""

    plan_json: str
    plan_digest: str
    catalog_files: Mapping[str, bytes]
    catalog_digest: str


def archive_of(asked: Asked, planned: Planned, bundle: Bundle, facts: PolicyFacts) -> Archive:
    """Return what is to be kept of a run; equal runs give equal bytes."""
    inside = {f"{POLICIES}/{name}": content for name, content in bundle_files(bundle).items()}
    if bundle.archive is not None:
        inside[BUNDLE] = bundle.archive
    inside[WAIVERS] = _json(redact_values(asked.waivers.model_dump(mode="json")))
    for name, content in asked.waiver_files.items():
        text = content.decode("utf-8", errors="replace")
        inside[f"waivers/{name}"] = redact_text(text).encode()
    parts: dict[str, tuple[str, bytes]] = {}
    for document in asked.documents:
        timeless = {key: value for key, value in document.items() if key != "evaluated_at"}
        content = _json(timeless)
        parts[f"question {document['stage']}"] = (f"question-{_hex(content)}.json.gz", content)
    found = raw_findings(asked.findings)
    parts["findings"] = (f"findings-{_hex(found)}.jsonl.gz", found)
    plan = _without_secrets(planned.plan_json).encode()
    parts["plan"] = (f"plan-{_hex(plan)}.json.gz", plan)
    beside = {name: compressed(content) for name, content in parts.values()}
    catalog = f"catalog-{planned.catalog_digest}{SUFFIX}"
    beside[catalog] = packed(planned.catalog_files)
    listing = _json(
        {
            "schema_version": SCHEMA_VERSION,
            "engine": facts.engine,
            "engine_version": facts.engine_version,
            "evaluated_at": asked.documents[0]["evaluated_at"],
            "plan_digest": planned.plan_digest,
            "catalog": {"file": catalog, "digest": planned.catalog_digest},
            "inside": {name: sha256_of(content) for name, content in inside.items()},
            "beside": {
                role: {"file": name, "sha256": sha256_of(content)}
                for role, (name, content) in parts.items()
            },
        }
    )
    return Archive(inside, beside, listing, sha256_of(listing))


def bundle_files(bundle: Bundle) -> dict[str, bytes]:
    """Return the files of a folder that reads back as the same bundle.

    Data of a built bundle lies at its top; here it lies below the one root.
    """
    files = {name: content for name, content in bundle.files.items() if name != DATA}
    if DATA in bundle.files:
        files[f"{ROOT}/{DATA}"] = _json(bundle.data[ROOT])
    return {**files, "capabilities.json": bundle.capabilities.read_bytes()}


def raw_findings(findings: Iterable[Finding]) -> bytes:
    """Return findings as they were before waivers, a line each, in an order of their own."""
    return "".join(sorted(_raw(found) for found in findings)).encode()


def keep(folder: Path, archive: Archive, appended: Appended, attestation: str | None) -> Path:
    """Write the archive of a run below a stack's folder; return its path."""
    files = {
        **archive.inside,
        INDEX: archive.listing,
        RECORD: f"{appended.line}\n".encode(),
    }
    if attestation is not None:
        files[ATTESTATION] = attestation.encode()
    for name, content in archive.beside.items():
        path = folder / FOLDER / name
        if not path.exists():
            write_whole(path, content, _MODE)
    path = folder / FOLDER / file_of(appended.record["decision_id"])
    write_whole(path, packed(files), _MODE)
    return path


def file_of(decision_id: str) -> str:
    """Return the name of the archive of a decision."""
    return f"{decision_id.removeprefix('sha256:')}{SUFFIX}"


def files_of_waivers(folder: Path) -> dict[str, bytes]:
    """Return the waiver files of a folder and the signatures beside them, by name."""
    try:
        return {
            path.name: path.read_bytes()
            for path in sorted(folder.glob("*"))
            if path.is_file() and path.suffix.lower() in (".yaml", ".yml", ".json")
        }
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(
            [faults.FILE_UNREADABLE.at(str(error.filename), what, "Check its rights.")]
        ) from None


def _without_secrets(text: str) -> str:
    """Return a JSON text as it is, or written anew where it holds what looks like a secret."""
    document = json.loads(text)
    clean = redact_values(document)
    return text if clean == document else canonical(clean)


def _raw(found: Finding) -> str:
    row = plain(found.model_copy(update={"verdict": found.raw_verdict, "waiver": None}))
    return f"{canonical(redact_values(row))}\n"


def _json(value: Any) -> bytes:
    return f"{canonical(value)}\n".encode()


def _hex(content: bytes) -> str:
    return sha256_of(content).removeprefix("sha256:")
