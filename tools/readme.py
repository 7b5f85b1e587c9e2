"""`python -m tools.readme`: renew the real output that README.md shows, or check it with --check.

A block lies between `<!-- output: NAME -->` and `<!-- end -->`; digests are left out, because
they change with every catalog row.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree

from tools.shell_env import PROJECT

README = PROJECT / "README.md"
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

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- output: {name} -->\n```text\n{blocks[name]}\n```\n<!-- end -->"

    return re.sub(r"<!-- output: (?P<name>\w+) -->.*?<!-- end -->", block, text, flags=re.DOTALL)


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


def main(arguments: list[str]) -> int:
    """Write README.md anew, or with --check end with 1 where it differs."""
    text = README.read_text()
    current = renewed(text, shown())
    if "--check" in arguments:
        return int(current != text)
    README.write_text(current)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
