"""Do the tests of the policies notice a broken rule? A mutation run over the Rego.

    python -m benchmarks.mutation            # every rule and library
    python -m benchmarks.mutation cost lib   # only files whose path holds one of the words

Every mutant is tested with ``opa test --bundle`` in a copy of the policies. Mutants that do
not compile count neither way. Prints JSON; the exit code is 1 when a bar is missed.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.mutation_operators import Mutant, mutants_of

POLICIES = Path(__file__).resolve().parents[1] / "policies"
TREE = POLICIES / "llm_capacity"

BAR = 0.95
RESIDENCY_BAR = 1.0
PER_RULE = 5
IN_ALL = 100
PARALLEL = 2
TIMEOUT_SECONDS = 60

Outcome = tuple[Mutant, str]


def targets(words: list[str]) -> list[Path]:
    """Return the rules, the libraries and the entry point, without tests."""
    paths = sorted(path for path in TREE.rglob("*.rego") if not path.name.endswith("_test.rego"))
    chosen = [path.relative_to(POLICIES).as_posix() for path in paths]
    return [
        path
        for path, name in zip(paths, chosen, strict=True)
        if not words or any(word in name for word in words)
    ]


class Copy:
    """A copy of the policies that mutants may damage, one at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shutil.copytree(TREE, folder / "whole" / "llm_capacity")

    def outcome(self, mutant: Mutant) -> str:
        """Return caught, survived or invalid (it does not compile).

        A rule stands on the libraries and facts alone: its own tests are asked first,
        which is fast, and all tests only when those notice nothing.
        """
        name = mutant.file.relative_to(TREE)
        if name.parts[0] == "rules":
            first = self._tested(self._near(name), name, mutant.content)
            if first != "survived":
                return first
        return self._tested(self._folder / "whole", name, mutant.content)

    def unharmed(self) -> bool:
        """Whether the policies as they are pass their tests."""
        return _outcome(self._folder / "whole") == "survived"

    def _near(self, rule: Path) -> Path:
        """Return a bundle with one rule, its tests and what it stands on."""
        near = self._folder / rule.stem
        if not near.exists():
            for part in ("lib", "facts", "manifest"):
                shutil.copytree(TREE / part, near / "llm_capacity" / part)
            for path in (TREE / rule, (TREE / rule).with_name(f"{rule.stem}_test.rego")):
                target = near / "llm_capacity" / path.relative_to(TREE)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        return near

    def _tested(self, bundle: Path, name: Path, content: bytes) -> str:
        target = bundle / "llm_capacity" / name
        original = target.read_bytes()
        try:
            target.write_bytes(content)
            return _outcome(bundle)
        finally:
            target.write_bytes(original)


def _outcome(bundle: Path) -> str:
    """Return what ``opa test`` makes of a bundle."""
    command = ["opa", "test", "--bundle", "--fail-on-empty", "."]
    environment = os.environ | {"GOGC": "off"}
    try:
        done = subprocess.run(
            command,
            cwd=bundle,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return "caught"
    # 0: all tests pass, 2: some fail, 1: the policies do not load.
    return {0: "survived", 2: "caught"}.get(done.returncode, "invalid")


def run(paths: list[Path]) -> list[Outcome]:
    """Test every mutant of the files, in the order of the files."""
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    copies: queue.Queue[Copy] = queue.Queue()

    def tested(mutant: Mutant) -> str:
        copy = copies.get()
        try:
            return copy.outcome(mutant)
        finally:
            copies.put(copy)

    with ExitStack() as stack:
        for _ in range(PARALLEL):
            copies.put(Copy(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        if not copies.queue[0].unharmed():
            raise SystemExit("the policies do not pass their own tests: nothing to measure")
        pool = stack.enter_context(ThreadPoolExecutor(PARALLEL))
        outcomes = list(pool.map(tested, mutants))
    return list(zip(mutants, outcomes, strict=True))


def tally(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return mutants, caught and score of those that compile."""
    counts = Counter(outcome for _, outcome in outcomes if outcome != "invalid")
    total = counts.total()
    score = round(counts["caught"] / total, 4) if total else None
    return {"mutants": total, "caught": counts["caught"], "score": score}


def report(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the figures, by file and by operator, with every survivor."""
    by_file: dict[str, list[Outcome]] = {}
    by_operator: dict[str, list[Outcome]] = {}
    for mutant, outcome in outcomes:
        name = mutant.file.relative_to(POLICIES).as_posix()
        by_file.setdefault(name, []).append((mutant, outcome))
        by_operator.setdefault(mutant.operator, []).append((mutant, outcome))
    residency = [row for name, rows in by_file.items() if "/residency/" in name for row in rows]
    return {
        **tally(outcomes),
        "not_compiling": sum(outcome == "invalid" for _, outcome in outcomes),
        "residency": tally(residency),
        "by_operator": {name: tally(rows) for name, rows in by_operator.items()},
        "by_file": {name: tally(rows) for name, rows in by_file.items()},
        "survivors": [
            mutant.row(POLICIES) for mutant, outcome in outcomes if outcome == "survived"
        ],
    }


def missed(figures: dict[str, Any], whole: bool) -> list[str]:
    """Return the bars that the figures miss; how many mutants only of a whole run."""
    bars = []
    if (figures["score"] or 0.0) < BAR:
        bars.append(f"score {figures['score']} is below {BAR}")
    if figures["residency"]["mutants"] and figures["residency"]["score"] < RESIDENCY_BAR:
        bars.append(f"residency score {figures['residency']['score']} is below {RESIDENCY_BAR}")
    for name, row in figures["by_file"].items():
        if "/rules/" in name and row["mutants"] < PER_RULE:
            bars.append(f"{name} has {row['mutants']} mutants, fewer than {PER_RULE}")
    if whole and figures["mutants"] < IN_ALL:
        bars.append(f"{figures['mutants']} mutants in all, fewer than {IN_ALL}")
    return bars


def main() -> int:
    """Run, print the report, and say whether the bars hold."""
    words = sys.argv[1:]
    figures = report(run(targets(words)))
    bars = missed(figures, whole=not words)
    print(json.dumps({**figures, "bars_missed": bars}, indent=2))
    return 1 if bars else 0


if __name__ == "__main__":
    raise SystemExit(main())
