"""The folder of waivers: reading its files, and signing one."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from planner import faults
from planner.errors import InputError, reason_of
from planner.files import write_whole
from planner.policy.approvals import Reviews, approve, is_backdated
from planner.policy.document import instant
from planner.policy.project_owners import FILE as OWNERS
from planner.policy.signatures import SignedApproval, private_key, sign
from planner.policy.waiver_owners import Approver, Owners, WaivableRule
from planner.policy.waivers import Holder, Rejected, VerifiedWaiver, Waiver, WaiverBook
from planner.yamlfile import read_yaml

SUFFIXES = (".yaml", ".yml")
SIGNATURE_SUFFIX = ".dsse.json"
"""Added to the whole name of a waiver file: ``a.yaml`` is signed in ``a.yaml.dsse.json``."""

MAX_ENVELOPE_BYTES = 65_536


def load_waivers(
    folder: Path,
    *,
    rules: Mapping[str, WaivableRule],
    owners: Owners,
    reviews: Reviews = (),
    at: dt.datetime,
) -> WaiverBook:
    """Read every YAML file of ``folder``, one waiver a file; no folder, no waivers.

    The owner list of the project is none of them. ``rules`` come from the policy bundle,
    ``owners`` from it or from the project (planner.policy.project_owners),
    ``reviews`` from the Git host (planner.policy.approvals.read_reviews). A file that
    cannot be read, or whose approval at ``at`` cannot be verified, is among the rejected.
    """
    waivers: list[VerifiedWaiver] = []
    files: dict[str, list[str]] = {}
    rejected = [
        Rejected(path.name, "it signs a file that is not there")
        for path in folder.glob(f"*{SIGNATURE_SUFFIX}")
        if not path.with_name(path.name.removesuffix(SIGNATURE_SUFFIX)).is_file()
    ]
    paths = sorted(
        path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES and path.name != OWNERS
    )
    for path in paths:
        try:
            waiver, content = _read(path)
            files.setdefault(waiver.id, []).append(path.name)
            approval = approve(
                waiver,
                path.name,
                content,
                _envelope(path),
                rules=rules,
                owners=owners,
                reviews=reviews,
                at=at,
            )
        except (InputError, OSError, ValueError) as error:
            rejected.append(Rejected(path.name, _why(error)))
            continue
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        proof = {"file": path.name, "digest": digest, "approval": approval}
        waivers.append(VerifiedWaiver.model_validate(dict(waiver) | proof))
    repeated = [waiver for waiver in waivers if len(files[waiver.id]) > 1]
    rejected += [
        Rejected(waiver.file, f"{waiver.id} is given twice: in {', '.join(files[waiver.id])}")
        for waiver in repeated
    ]
    return WaiverBook(
        waivers=tuple(sorted((w for w in waivers if w not in repeated), key=lambda w: w.id)),
        rejected=tuple(sorted(rejected)),
        approvers=len(owners.approvers),
        owners_digest=owners.digest,
        holders=tuple(_holder(name, row) for name, row in sorted(owners.approvers.items())),
    )


def _holder(name: str, row: Approver) -> Holder:
    ways: dict[Literal["signature", "review"], str | None] = {
        "signature": row.public_key,
        "review": row.git_login,
    }
    return Holder(name, tuple(sorted(row.roles)), tuple(way for way, by in ways.items() if by))


def sign_waiver(path: Path, private_key_pem_path: Path, at: dt.datetime) -> Path:
    """Sign a waiver file as its approver, at a moment; return the path of the signature.

    Raises InputError for a file that is no waiver or that the signature would not make
    count (granted earlier, expired), and for a key that is not a plain ed25519 PEM.
    """
    try:
        waiver, content = _read(path)
    except (OSError, ValueError) as error:
        raise _problem(path, _why(error), "Correct the waiver, then sign it.") from None
    at = at.astimezone(dt.UTC).replace(microsecond=0)
    if is_backdated(waiver, at):
        what = f"it is granted {instant(waiver.granted)}, before this signature ({instant(at)})"
        raise _problem(path, what, "Set granted to today or later, then sign it.")
    if waiver.expires <= at:
        raise _problem(path, "it has expired", "Write a new waiver.")
    try:
        signer = private_key(private_key_pem_path.read_bytes())
    except (OSError, ValueError) as error:
        fix = "Give an ed25519 key in PEM without a passphrase (docs/waivers.md)."
        raise _problem(private_key_pem_path, _why(error), fix) from None
    approval = SignedApproval(
        sha256=hashlib.sha256(content).hexdigest(), waiver=waiver.id, signed_at=at
    )
    target = path.with_name(path.name + SIGNATURE_SUFFIX)
    write_whole(target, sign(approval, signer))
    return target


def _read(path: Path) -> tuple[Waiver, bytes]:
    """Return a waiver and the very bytes it was read from."""
    file = read_yaml(path, path.name)
    if not isinstance(file.data, dict):
        raise ValueError("a waiver file holds one mapping")
    return Waiver.model_validate(file.data), file.raw


def _envelope(path: Path) -> bytes | None:
    """Return what lies beside the file as its signature; only its absence is None."""
    beside = path.with_name(path.name + SIGNATURE_SUFFIX)
    if not beside.is_file():
        if beside.exists():
            raise ValueError("signature: it is not a regular file")
        return None
    with beside.open("rb") as file:
        content = file.read(MAX_ENVELOPE_BYTES + 1)
    if len(content) > MAX_ENVELOPE_BYTES:
        raise ValueError(f"signature: it has more than {MAX_ENVELOPE_BYTES:,} bytes")
    return content


def _problem(path: Path, what: str, fix: str) -> InputError:
    return InputError([faults.BAD_WAIVER.at(path.name, what, fix)])


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        rows = error.errors(include_url=False, include_input=False)
        return "; ".join(
            ": ".join(filter(None, [".".join(map(str, row["loc"])), row["msg"]])) for row in rows
        )
    if isinstance(error, InputError):
        return "; ".join(map(str, error.problems))
    return " ".join(reason_of(error).split())[:300]
