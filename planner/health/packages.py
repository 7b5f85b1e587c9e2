"""The Python side: this Python, llm-capacity, and the packages of its extras."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping

from planner.health.checks import Check
from planner.toolchain.pins import PYTHON_MINIMUM, format_version

DISTRIBUTION = "llm-capacity"

EXTRAS = {
    "azure": "previews and changes of Azure resources",
    "aws": "previews and changes of AWS resources",
    "gcp": "previews and changes of Google Cloud resources",
    "policy": "policy packs of your own on Pulumi's SDK",
    "report": "the HTML report with charts",
}
"""The extras that users choose, and what each is for."""

_PIN = re.compile(r"^([A-Za-z0-9._-]+)\s*([^;]*?)\s*;\s*extra\s*==\s*['\"]([a-z]+)['\"]$")


def python_checks() -> Iterator[Check]:
    """Check this Python and the installed llm-capacity."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    enough = sys.version_info >= PYTHON_MINIMUM
    yield Check(
        name="python",
        status="ok" if enough else "wrong",
        needed_for="everything",
        version=version,
        wanted=f">= {format_version(PYTHON_MINIMUM)}",
        place=sys.executable,
        fix="" if enough else "install a newer Python, and llm-capacity with it",
    )
    yield Check(
        name=DISTRIBUTION,
        status="ok",
        needed_for="everything",
        version=importlib.metadata.version(DISTRIBUTION),
    )


def extra_checks(*, clone: bool, environ: Mapping[str, str]) -> Iterator[Check]:
    """Check the packages of every extra; ``clone``: this runs from a set-up clone."""
    for line in importlib.metadata.requires(DISTRIBUTION) or ():
        match = _PIN.match(line)
        if match is None or match[3] not in EXTRAS:
            continue
        name, wanted, extra = match.groups()
        found = _version(name)
        pinned = wanted.removeprefix("==") if wanted.startswith("==") else None
        right = found is not None and pinned in (None, found)
        yield Check(
            name=f"{extra}: {name}",
            status="ok" if right else "optional" if found is None else "wrong",
            needed_for=EXTRAS[extra],
            version=found,
            wanted=wanted,
            fix="" if right else install_command(name + wanted, clone=clone, environ=environ),
        )


def install_command(requirement: str, *, clone: bool, environ: Mapping[str, str]) -> str:
    """Return the command that puts a package beside this llm-capacity, however it came."""
    if clone:
        return "make setup"
    package = shlex.quote(requirement)
    if "pipx" in sys.prefix.split("/"):
        return f"pipx inject {DISTRIBUTION} {package}"
    if importlib.util.find_spec("pip") is None and shutil.which("uv", path=environ.get("PATH", "")):
        return f"uv pip install --python {shlex.quote(sys.executable)} {package}"
    return f"{shlex.quote(sys.executable)} -m pip install {package}"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
