"""The blocks of README.md that show real output.

Digests are left out, because they change with every catalog row.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree

from tools.generated import with_block
from tools.shell_env import PROJECT

README = Path("README.md")
PINNED = "pin: {model: gpt-4.1-mini, deployment_type: GlobalStandard}\n"
DENIAL_LINES = 13


def shown() -> dict[str, str]:
    """The output of each block, by name, as the command line prints it now."""
    planned = _run(PROJECT, "plan")
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder)
        for name in ("stacks", "policies"):
            copytree(PROJECT / name, clone / name)
        with (clone / "stacks" / "bank-au" / "adviser-assist.yaml").open("a") as file:
            file.write(PINNED)
        denied = _run(clone, "check")
    lines = [line for line in planned.splitlines() if " digest " not in line]
    return {"plan": "\n".join(lines), "denial": "\n".join(denied.splitlines()[:DENIAL_LINES])}


def renewed(text: str, blocks: dict[str, str]) -> str:
    """README's text with every block replaced by its output."""
    for name, output in blocks.items():
        text = with_block(text, f"output: {name}", f"```text\n{output}\n```")
    return text


def texts(root: Path) -> dict[Path, str]:
    """Return what README.md has to hold; needs OPA on PATH."""
    return {README: renewed((root / README).read_text(encoding="utf-8"), shown())}


def _run(root: Path, command: str) -> str:
    arguments = [command, "--stack", "bank-au", "--root", str(root)]
    answer = subprocess.run(
        [sys.executable, "-m", "planner", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if not answer.stdout:
        raise SystemExit(answer.stderr)
    return answer.stdout
