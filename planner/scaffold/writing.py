"""Write a first project: everything or nothing, and nothing over what is there."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from planner import faults
from planner.catalog.loader import Catalog
from planner.declare import json_schemas, load_stack
from planner.errors import InputError
from planner.files import write_whole
from planner.project import SCHEMAS_FOLDER, stack_names
from planner.scaffold.answers import Answers
from planner.scaffold.texts import first_files, project_files, stack_files


def start(root: Path, answers: Answers, catalog: Catalog) -> list[Path]:
    """Write the project's folder, or one more stack into it; return what was written.

    Files that every project has are kept where they are as this would write them. The declared
    files are read as planning reads them before anything is written.

    Raises InputError where a file would be overwritten, or where planning would refuse the
    answers; OSError where writing fails, after taking back what was written.
    """
    new = stack_files(answers)
    fixed = project_files()
    _refuse_overwriting(root, answers.stack, fixed, new)
    refuse_unusable(answers, catalog)
    wanted = {**fixed, **new, **schema_files()}
    wanted |= {path: text for path, text in first_files().items() if not (root / path).exists()}
    changed = {path: text for path, text in wanted.items() if _now(root / path) != text}
    return _write_all(root, changed)


def schema_files() -> dict[str, str]:
    """Return the JSON Schemas that the files' first lines name, by path in the project."""
    return {
        f"{SCHEMAS_FOLDER}/{name}.schema.json": json.dumps(schema, sort_keys=True, indent=2) + "\n"
        for name, schema in sorted(json_schemas().items())
    }


def _refuse_overwriting(root: Path, stack: str, fixed: dict[str, str], new: dict[str, str]) -> None:
    taken = [path for path in new if (root / path).exists()]
    taken += [path for path, text in fixed.items() if _now(root / path) not in (None, text)]
    if taken or stack in stack_names(root):
        raise InputError(
            [
                faults.WOULD_OVERWRITE.at(path, "the file is there already")
                for path in taken or [f"stacks/Pulumi.{stack}.yaml"]
            ]
        )


def refuse_unusable(answers: Answers, catalog: Catalog) -> None:
    """Read what the answers would write as planning reads it; InputError where it would refuse."""
    with tempfile.TemporaryDirectory(prefix="llm-capacity-init-") as folder:
        for path, text in stack_files(answers).items():
            write_whole(Path(folder) / path, text)
        load_stack(Path(folder), answers.stack, catalog)


def _now(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _write_all(root: Path, files: dict[str, str]) -> list[Path]:
    before = {path: _now(root / path) for path in files}
    made = _missing_folders(root, files)
    try:
        for path, text in files.items():
            write_whole(root / path, text)
    except BaseException:
        for path, old in before.items():
            if old is None:
                (root / path).unlink(missing_ok=True)
            else:
                write_whole(root / path, old)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        raise
    return [root / path for path in files]


def _missing_folders(root: Path, files: dict[str, str]) -> list[Path]:
    """Return the folders that writing will make, the deepest first."""
    needed = {folder for path in files for folder in (root / path).parents}
    missing = [folder for folder in needed if not folder.exists()]
    return sorted(missing, key=lambda folder: len(folder.parts), reverse=True)
