"""The comment steps of the example pipelines, run as they are against a host that is pretended."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from ruamel.yaml import YAML

from tools.shell_env import PROJECT

MARK = "<!-- llm-capacity: bank-au -->"
NO_NEWS = f"{MARK}\nNothing changes against the base any more.\n"

FAKES = {
    # Writes what it is told to, and ends as it is told to.
    ".venv/bin/llm-capacity": 'echo "export PATH=$PWD/bin:$PATH"',
    "bin/llm-capacity": 'printf "%s" "$FAKE_COMMENT"; exit "$FAKE_CODE"',
    "bin/gh": """
case "$*" in
  *--paginate*) printf '%s' "$FAKE_ID" ;;
  *PATCH*) echo "update ${4##*/}" >> calls; cat comment.md > posted ;;
  *"pr comment"*) echo "create" >> calls; cat comment.md > posted ;;
  *) exit 9 ;;
esac""",
    "bin/curl": """
for last; do :; done
case "$*" in
  *"sort=asc"*) if [ -n "$FAKE_ID" ]; then
      printf '[{"id": 1, "body": "other"}, {"id": %s, "body": "%s\\\\nold"}]' "$FAKE_ID" "$MARK"
    else printf '[]'; fi ;;
  *"--request PUT"*) echo "update ${last##*/}" >> calls; cat comment.md > posted ;;
  *"--request POST"*) echo "create" >> calls; cat comment.md > posted ;;
  *) exit 9 ;;
esac""",
}


class Done(NamedTuple):
    code: int
    calls: list[str]
    posted: str


def steps(host: str) -> list[str]:
    """The shell texts of the check job that write and post the comment, each a shell's own."""
    read = YAML(typ="safe", pure=True)
    folder = PROJECT / "examples" / "pipelines"
    if host == "github":
        job = read.load(folder / "github-actions.yml")["jobs"]["check"]
        return [step["run"] for step in job["steps"] if step.get("name") == "Comment"]
    job = read.load(folder / "gitlab-ci.yml")["check"]
    write = [line for line in job["script"] if " comment " in line or "comment.code" in line]
    return ['eval "$(.venv/bin/llm-capacity env)"\n' + "\n".join(write),
            'export PATH="$PWD/bin:$PATH"\n' + "\n".join(job["after_script"])]  # fmt: skip


def run(host: str, folder: Path, *, comment: str, code: int, existing: str) -> Done:
    for name, text in FAKES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)
    env = {
        "PATH": os.environ["PATH"],
        "STACK": "bank-au",
        "BASE": "abc",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "abc",
        "COMMENTS": "repos/o/r/issues",
        "NUMBER": "7",
        "COMMENT_TOKEN": "none",
        "FAKE_COMMENT": comment,
        "FAKE_CODE": str(code),
        "FAKE_ID": existing,
    }
    codes = [
        subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=env, check=False).returncode
        for text in steps(host)
    ]
    calls, posted = folder / "calls", folder / "posted"
    return Done(
        codes[0],
        calls.read_text().splitlines() if calls.exists() else [],
        posted.read_text() if posted.exists() else "",
    )


@pytest.mark.parametrize("host", ["github", "gitlab"])
@pytest.mark.parametrize(
    ("comment", "code", "existing", "calls", "posted"),
    [
        (f"{MARK}\nnews\n", 0, "", ["create"], f"{MARK}\nnews\n"),
        (f"{MARK}\nnews\n", 0, "42", ["update 42"], f"{MARK}\nnews\n"),
        # A denial is told, and still ends the job.
        (f"{MARK}\nDENY\n", 5, "42", ["update 42"], f"{MARK}\nDENY\n"),
        (f"{MARK}\nBLOCKED\n", 10, "", ["create"], f"{MARK}\nBLOCKED\n"),
        ("", 0, "", [], ""),
        ("", 0, "42", ["update 42"], NO_NEWS),
        # Of a run that broke, nobody may read that nothing changes.
        ("", 1, "42", [], ""),
        ("", 137, "42", [], ""),
        ("", 1, "", [], ""),
    ],
)
def test_one_comment_is_kept_up_to_date(
    host: str, comment: str, code: int, existing: str, calls: list[str], posted: str, tmp_path: Path
) -> None:
    done = run(host, tmp_path, comment=comment, code=code, existing=existing)
    assert done == (code, calls, posted)
