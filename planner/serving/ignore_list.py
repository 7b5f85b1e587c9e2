"""Match module names against a quantisation's list of ignored modules, in bounded time.

Lists come from strangers' files and may hold regular expressions, so only those
whose matching cannot blow up are taken: no repeated group, few repeats in all.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from planner import faults
from planner.errors import InputError

MOST_ENTRIES = 50_000
MOST_PATTERNS = 500
MOST_LENGTH = 300
MOST_REPEATS = 4

_REPEATED_GROUP = re.compile(r"\)[*+{]")
_BACK_REFERENCE = re.compile(r"\\[1-9]|\(\?P=")


def entries(values: Sequence[Any]) -> tuple[str, ...]:
    """Return the list's entries; raises InputError for what cannot be matched safely."""
    if len(values) > MOST_ENTRIES:
        raise _refused(f"has {len(values):,} entries, above {MOST_ENTRIES:,}")
    found = []
    patterns = 0
    for value in values:
        if not isinstance(value, str) or len(value) > MOST_LENGTH:
            raise _refused(f"has an entry that is not a name of up to {MOST_LENGTH} characters")
        patterns += value.startswith("re:") or "*" in value
        if patterns > MOST_PATTERNS:
            raise _refused(f"has more than {MOST_PATTERNS} patterns")
        if value.startswith("re:"):
            _compiled(value[3:])
        elif value.count("*") > MOST_REPEATS:
            raise _refused(f"has a pattern of more than {MOST_REPEATS} wildcards")
        found.append(value)
    return tuple(found)


def ignored(listed: tuple[str, ...], module: str) -> bool:
    """Return whether ``module`` is on the list.

    Entries are regular expressions ("re:..."), globs, or a name or part of a name
    between dots, as the vLLM loaders of the formats read them.
    """
    names, patterns = _split(listed)
    if names and not names.isdisjoint(_parts(module)):
        return True
    return any(pattern.match(module) for pattern in patterns)


@lru_cache(maxsize=8)
def _split(listed: tuple[str, ...]) -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    names, patterns = set(), []
    for entry in listed:
        if entry.startswith("re:"):
            patterns.append(_compiled(entry[3:]))
            continue
        plain = entry.replace("model.language_model.", "model.").replace("language_model.", "")
        if "*" in plain:
            patterns.append(re.compile(fnmatch.translate(plain)))
            patterns.append(re.compile(fnmatch.translate(f"{plain}.*")))
        else:
            names.add(plain)
    return frozenset(names), tuple(patterns)


def _parts(module: str) -> set[str]:
    """Return every run of whole components of a dotted name."""
    words = module.split(".")
    count = len(words)
    return {".".join(words[i:j]) for i in range(count) for j in range(i + 1, count + 1)}


def _compiled(expression: str) -> re.Pattern[str]:
    repeats = expression.count("*") + expression.count("+") + expression.count("{")
    unsafe = _REPEATED_GROUP.search(expression) or _BACK_REFERENCE.search(expression)
    if unsafe or repeats > MOST_REPEATS:
        raise _refused("has a regular expression with repeated groups or too many repeats")
    try:
        return re.compile(expression)
    except (re.error, OverflowError, RecursionError):
        raise _refused("has a regular expression that does not compile") from None


def _refused(what: str) -> InputError:
    fix = "Correct the model's quantization_config."
    return InputError(
        [
            faults.UNKNOWN_QUANTISATION.at(
                "quantization_config", f"the list of ignored modules {what}", fix
            )
        ]
    )
