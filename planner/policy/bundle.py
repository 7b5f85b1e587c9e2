"""The policy bundle: which files the engine loads, their digest, the rules they must hold.

Only rules, libraries and data are loaded. Tests, waivers, schemas and packs for other
engines lie in the same tree and stay outside.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.errors import PolicyUnavailable

ROOT = "llm_capacity"
"""The one root of the document tree that the bundle owns."""

_HERE = Path(__file__).resolve().parent
_MANIFEST = f"{ROOT}/manifest/data.json"


@dataclass(frozen=True)
class Bundle:
    """Rules and data as read, once: what is digested is what is loaded.

    ``files`` maps paths inside the folder to bytes; ``stages`` maps each rule id of the
    manifest to the stages in which it must be evaluated.
    """

    folder: Path
    files: dict[str, bytes]
    digest: str
    stages: dict[str, frozenset[str]]

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
        (folder / ".manifest").write_text(json.dumps(manifest), encoding="utf-8")


def policies_folder() -> Path:
    """Return the folder of the policies: inside the installed package or in the clone."""
    for candidate in (_HERE / "policies", _HERE.parents[1] / "policies"):
        if (candidate / _MANIFEST).is_file():
            return candidate
    raise PolicyUnavailable(
        "no policies found beside the package or in the repository root. "
        "Run from a clone, install a wheel that carries them, or set policy.url."
    )


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
        raise PolicyUnavailable(f"cannot read the policies in {folder}: {error}") from error
    stages = _stages(files, folder)
    rules = [name for name in files if name.startswith(f"{ROOT}/rules/")]
    if not stages or len(rules) != len(stages):
        raise PolicyUnavailable(
            f"{folder} holds {len(rules)} rules but its manifest lists {len(stages)}: "
            f"a rule was added or lost. Correct {_MANIFEST} or restore the file."
        )
    return Bundle(folder, files, _digest(files), stages)


def _is_loaded(path: Path) -> bool:
    if path.suffix == ".rego":
        return not path.name.endswith("_test.rego")
    return path.name == "data.json"


def _digest(files: dict[str, bytes]) -> str:
    """Return sha256 over names and contents in order of name, with lengths between."""
    digest = hashlib.sha256()
    for name in sorted(files):
        for part in (name.encode(), files[name]):
            digest.update(f"{len(part)}:".encode())
            digest.update(part)
    return f"sha256:{digest.hexdigest()}"


def _stages(files: dict[str, bytes], folder: Path) -> dict[str, frozenset[str]]:
    try:
        rows: list[dict[str, Any]] = json.loads(files[_MANIFEST])["rules"]
        return {str(row["id"]): frozenset(map(str, row["stages"])) for row in rows}
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyUnavailable(
            f"the rule manifest {_MANIFEST} in {folder} cannot be read ({error!r}). Restore it."
        ) from error
