"""The project's folder as it was at a Git revision, beside the user's own checkout.

Files are written by ``git checkout-index`` from an index of its own: the user's index, working
tree and worktree list are left alone, and line endings and filters are those of a checkout.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner import faults
from planner.errors import InputError

DECLARED = ("stacks", "policies")
"""The folders of a project that a plan is made from."""

_OWN_ENVIRONMENT = ("GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX")
"""What a hook sets for its own repository state; here it would name the user's index."""


def commit_of(root: Path, revision: str) -> str:
    """Return the full id of the commit that a revision names; InputError without one."""
    if revision.startswith("-") or not revision.strip():
        what = f"{revision!r} is neither a file nor a Git revision"
        raise InputError([faults.BAD_AGAINST.at("--against", what)])
    words = ("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    answer = _git(root, *words)
    commit = answer.stdout.decode(errors="replace").strip()
    if answer.returncode or not commit:
        told = answer.stderr.decode(errors="replace").strip()
        what = f"{revision!r} is neither a file nor a Git revision here"
        fix = (
            f"Fetch it (`git fetch origin {revision}`, then --against FETCH_HEAD; a commit further "
            "back in a shallow clone: `git fetch --unshallow`), or name a plan.json."
        )
        if revision.endswith(".json") or "/" in (revision[0], revision[-1]):
            fix = "Check the path: it is read from the project's folder."
        raise InputError(
            [faults.BAD_AGAINST.at("--against", f"{what}: {told}" if told else what, fix)]
        )
    return commit


def head_of(root: Path) -> str | None:
    """Return the commit that is checked out, None outside of a repository."""
    try:
        answer = _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except InputError:
        return None
    return answer.stdout.decode().strip() or None if answer.returncode == 0 else None


def changed_since_commit(root: Path) -> bool:
    """Return whether what is declared, or the policies, are not as committed."""
    answer = _git(root, "--no-optional-locks", "status", "--porcelain", "--", *DECLARED)
    return bool(answer.stdout.strip())


@contextmanager
def folder_at(root: Path, commit: str) -> Iterator[Path]:
    """Yield a temporary folder with ``root`` as it was at ``commit``; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="llm-capacity-") as made:
        # The index lies outside of the files that it writes.
        index, tree = Path(made) / "index", Path(made) / "tree"
        tree.mkdir()
        extra = {"GIT_INDEX_FILE": str(index)}
        _done(root, commit, _git(root, "read-tree", commit, extra=extra))
        listed = _done(root, commit, _git(root, "ls-files", "-z", "--", ".", extra=extra))
        # Paths are those from `root`: checkout-index puts the folder's own prefix before them.
        prefix = _done(root, commit, _git(root, "rev-parse", "--show-prefix")).decode().strip()
        words = ("checkout-index", "--force", "-z", "--stdin", f"--prefix={tree}/")
        _done(root, commit, _git(root, *words, extra=extra, given=listed))
        folder = tree / prefix
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


def _done(root: Path, commit: str, answer: subprocess.CompletedProcess[bytes]) -> bytes:
    if answer.returncode:
        told = answer.stderr.decode(errors="replace").strip()
        what = f"the files of {commit[:12]} cannot be read: {told}"
        raise InputError([faults.BAD_AGAINST.at(root.as_posix(), what)])
    return answer.stdout


def _git(
    root: Path, *words: str, extra: dict[str, str] | None = None, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    env = {key: value for key, value in os.environ.items() if key not in _OWN_ENVIRONMENT}
    try:
        return subprocess.run(
            ["git", "-C", str(root), *words],
            env={**env, **(extra or {})},
            input=given,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        fix = "Install Git, or give a plan.json as the baseline."
        raise InputError([faults.BAD_AGAINST.at("git", "it is not installed", fix)]) from None
