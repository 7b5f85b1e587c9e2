"""Where things lie in a project's folder, told without reading what they say."""

from __future__ import annotations

import re
from pathlib import Path

CONFIG_FOLDER = "stacks"

SCHEMAS_FOLDER = "stacks/.schemas"
"""The JSON Schemas that the first line of a declared file names, for editors."""

PACK = "policies/pulumi"
"""The policy pack inside of a project that has its own policies."""

PACK_ROOT_VARIABLE = "LLM_CAPACITY_ROOT"
"""Environment variable with the project's folder, for a pack that does not lie in it."""

PACK_VARIABLE = "LLM_CAPACITY_PACK"
"""Environment variable with the policy pack's folder, for `--policy-pack`."""

_HERE = Path(__file__).resolve().parent
_FOLDER = re.compile(r"^\s+[\"']?llm-capacity:folder[\"']?:\s*[\"']?([\w.-]+)", re.MULTILINE)


def stack_names(root: Path) -> list[str]:
    """Return the stacks of the project: those with a file ``stacks/Pulumi.NAME.yaml``."""
    files = (root / CONFIG_FOLDER).glob("Pulumi.*.yaml")
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in files)


def project_above(root: Path) -> str:
    """Return the way to a project in a folder above, as the end of a sentence; "" without one."""
    for count, folder in enumerate(root.resolve().parents, start=1):
        if stack_names(folder):
            way = folder if root.is_absolute() else root.joinpath(*[".."] * count)
            return f", or name the project above: `--root {way.as_posix()}`"
    return ""


def folder_of(root: Path, stack: str) -> Path:
    """Return the folder of a stack's declared files, which may not exist."""
    file = root / CONFIG_FOLDER / f"Pulumi.{stack}.yaml"
    try:
        match = _FOLDER.search(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        match = None
    return root / CONFIG_FOLDER / (match.group(1) if match else stack)


def own_policies(root: Path) -> Path | None:
    """Return the folder of the project's own policies; None where the installed ones apply.

    A folder that holds waivers alone is no set of policies: waivers are judged by the installed
    ones. Anything else in it makes it one, an incomplete one too, which the engine refuses.
    """
    folder = root / "policies"
    if not folder.is_dir() or {path.name for path in folder.iterdir()} == {"waivers"}:
        return None
    return folder


def has_own_pack(root: Path) -> bool:
    """Tell whether the project brings its own policies, and the pack with them."""
    return (root / PACK).is_dir()


def pack_folder(root: Path) -> Path:
    """Return the policy pack for a project: its own, else the one that is installed."""
    if has_own_pack(root):
        return root / PACK
    inside, clone = _HERE / "policy" / PACK, _HERE.parent / PACK
    return inside if inside.is_dir() else clone
