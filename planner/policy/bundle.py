"""The policy bundle: which files the engine loads, their digest, the rules they must hold.

Only rules, libraries and data are loaded. Tests, waivers, schemas and packs for other
engines lie in the same tree and stay outside. A bundle comes from a folder or from an
archive of `opa build`; the same rules and data have the same digest either way.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from planner import faults
from planner.errors import PolicyUnavailable, reason_of

ROOT = "llm_capacity"
"""The one root of the document tree that the bundle owns."""

DATA, MANIFEST, SIGNATURES = "data.json", ".manifest", ".signatures.json"
"""Names that OPA gives to the files of a bundle that are not rules."""

MAXIMUM_BYTES = 64 * 1024 * 1024
"""Largest archive and largest content of one; the policies are a thousandth of it."""

_HERE = Path(__file__).resolve().parent
_RULES_MANIFEST = f"{ROOT}/manifest/{DATA}"


@dataclass(frozen=True)
class VerificationKey:
    """A public key, the id it goes by, and the algorithm its kind stands for."""

    id: str
    pem: str
    algorithm: str


@dataclass(frozen=True)
class Bundle:
    """Rules and data as read, once: what is digested is what is loaded.

    ``files`` maps paths inside the bundle to bytes; ``stages`` maps each rule id of the
    manifest to the stages in which it must be evaluated; ``capabilities`` lists the
    built-ins that the rules may use. ``archive`` and ``key`` are of a bundle that OPA
    accepted under that key, and None otherwise.
    """

    files: dict[str, bytes]
    data: dict[str, Any]
    digest: str
    stages: dict[str, frozenset[str]]
    capabilities: Path
    archive: bytes | None = None
    key: VerificationKey | None = None

    @property
    def signed(self) -> bool:
        """Whether a signature was verified."""
        return self.key is not None

    @property
    def manifest(self) -> bytes:
        """The rules' manifest as JSON."""
        return json.dumps(self.data[ROOT]["manifest"]).encode()

    @property
    def data_digest(self) -> str:
        """Digest of the data alone: what an organisation decided, beside the rules."""
        return f"sha256:{hashlib.sha256(_canonical(self.data)).hexdigest()}"

    def rules_of(self, stage: str) -> frozenset[str]:
        """Return the ids of the rules that an answer about ``stage`` must rest on."""
        return frozenset(rule for rule, stages in self.stages.items() if stage in stages)

    def write_to(self, folder: Path) -> None:
        """Write the files and a bundle manifest that limits them to the one root."""
        for name, content in self.files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        manifest = {"revision": self.digest, "roots": [ROOT]}
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def policies_folder() -> Path:
    """Return the folder of the policies: inside the installed package or in the clone."""
    for candidate in (_HERE / "policies", _HERE.parents[1] / "policies"):
        if (candidate / _RULES_MANIFEST).is_file():
            return candidate
    what = "none found beside the package or in the repository root"
    raise PolicyUnavailable(faults.NO_POLICIES.at("policies", what))


def read_bundle(folder: Path | None = None) -> Bundle:
    """Read the bundle; PolicyUnavailable when the folder and its manifest disagree."""
    folder = policies_folder() if folder is None else folder
    try:
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted((folder / ROOT).rglob("*"))
            if path.is_file() and _is_loaded(path)
        }
    except OSError as error:
        what = f"the policies cannot be read: {reason_of(error)}"
        raise PolicyUnavailable(faults.DAMAGED_POLICIES.at(str(folder), what)) from error
    return _bundle(files, str(folder), folder / "capabilities.json")


def read_archive(archive: bytes, label: str) -> Bundle:
    """Read an archive of `opa build`; ``label`` is what messages call it.

    Nothing is verified here. Raises PolicyUnavailable for anything that a bundle of these
    policies does not hold, and for a revision that is not the digest of its content.
    """
    files = _members(archive, label)
    files.pop(SIGNATURES, None)
    manifest = _json(files.pop(MANIFEST, b"{}"), MANIFEST, label)
    if not isinstance(manifest, dict) or manifest.get("roots") != [ROOT]:
        raise _odd(label, f"its {MANIFEST} does not limit it to the root {ROOT}")
    bundle = _bundle(files, label, policies_folder() / "capabilities.json")
    if manifest.get("revision") != bundle.digest:
        raise _odd(
            label,
            f"its revision is {manifest.get('revision')!r} but its content has the digest "
            f"{bundle.digest}",
        )
    return replace(bundle, archive=archive)


def signed_as(archive: bytes, label: str) -> str | None:
    """Return the id of the key that an archive says it is signed with, None for unsigned."""
    content = _members(archive, label).get(SIGNATURES)
    if content is None:
        return None
    try:
        header = json.loads(content)["signatures"][0].split(".")[0]
        padded = header + "=" * (-len(header) % 4)
        return str(json.loads(base64.urlsafe_b64decode(padded))["kid"])
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise _odd(label, f"its {SIGNATURES} cannot be read ({error!r})") from error


def _members(archive: bytes, label: str) -> dict[str, bytes]:
    """Return the files of an archive; one name twice would have two readings."""
    files: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            for member in tar:
                name = str(PurePosixPath("/", member.name)).lstrip("/")
                total += member.size
                if total > MAXIMUM_BYTES:
                    raise _odd(label, f"it holds more than {MAXIMUM_BYTES} bytes")
                stream = tar.extractfile(member) if member.isfile() else None
                if stream is None or name in files or not _is_bundled(name):
                    raise _odd(label, f"it holds {member.name!r}, which these policies do not")
                files[name] = stream.read()
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise _odd(label, f"it is not a bundle.tar.gz ({error})") from error
    return files


def _is_bundled(name: str) -> bool:
    if name in (DATA, MANIFEST, SIGNATURES):
        return True
    path = PurePosixPath(name)
    return path.parts[:1] == (ROOT,) and ".." not in path.parts and path.suffix == ".rego"


def _bundle(files: dict[str, bytes], label: str, capabilities: Path) -> Bundle:
    data = _data(files, label)
    stages = _stages(data, label)
    rules = [name for name in files if name.startswith(f"{ROOT}/rules/")]
    if not stages or len(rules) != len(stages):
        what = (
            f"it holds {len(rules)} rules but its manifest lists {len(stages)}: "
            "a rule was added or lost"
        )
        fix = f"Correct {_RULES_MANIFEST} or restore the file."
        raise PolicyUnavailable(faults.DAMAGED_POLICIES.at(label, what, fix))
    return Bundle(files, data, _digest(files, data), stages, capabilities)


def _is_loaded(path: Path) -> bool:
    if path.suffix == ".rego":
        return not path.name.endswith("_test.rego")
    return path.name == DATA


def _data(files: dict[str, bytes], label: str) -> dict[str, Any]:
    """Return the document tree that OPA makes of the data files."""
    tree: dict[str, Any] = {}
    for name in sorted(files, key=lambda name: (name.count("/"), name)):
        path = PurePosixPath(name)
        if path.name != DATA:
            continue
        node: Any = tree
        for part in path.parent.parts:
            node = node.setdefault(part, {}) if isinstance(node, dict) else None
        content = _json(files[name], name, label)
        if not (isinstance(content, dict) and isinstance(node, dict)) or set(content) & set(node):
            what = f"{name} is no mapping, or another data file has the same keys"
            raise PolicyUnavailable(
                faults.DAMAGED_POLICIES.at(label, f"cannot be used: {what}", "Correct the file.")
            )
        node.update(content)
    return tree


def _digest(files: dict[str, bytes], data: dict[str, Any]) -> str:
    """Return sha256 over rules and data in order of name, with lengths between.

    The data counts as one canonical document, as `opa build` merges its files into one.
    """
    parts = {name: content for name, content in files.items() if name.endswith(".rego")}
    parts[DATA] = _canonical(data)
    digest = hashlib.sha256()
    for name in sorted(parts):
        for part in (name.encode(), parts[name]):
            digest.update(f"{len(part)}:".encode())
            digest.update(part)
    return f"sha256:{digest.hexdigest()}"


def _canonical(data: dict[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


def _stages(data: dict[str, Any], label: str) -> dict[str, frozenset[str]]:
    try:
        rows: list[dict[str, Any]] = data[ROOT]["manifest"]["rules"]
        return {str(row["id"]): frozenset(map(str, row["stages"])) for row in rows}
    except (KeyError, TypeError) as error:
        what = f"the rule manifest {_RULES_MANIFEST} cannot be read ({error!r})"
        raise PolicyUnavailable(faults.DAMAGED_POLICIES.at(label, what, "Restore it.")) from error


def _json(content: bytes, name: str, label: str) -> Any:
    try:
        return json.loads(content)
    except ValueError as error:
        what = f"cannot be used: {name} is not JSON ({error})"
        raise PolicyUnavailable(
            faults.DAMAGED_POLICIES.at(label, what, "Restore the file.")
        ) from error


def _odd(label: str, what: str) -> PolicyUnavailable:
    fix = "Build it with `llm-capacity bundle`."
    return PolicyUnavailable(faults.DAMAGED_POLICIES.at(label, f"cannot be used: {what}", fix))
