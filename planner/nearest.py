"""What was meant by a name that is not known: the nearest of those that are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_FEW = 30
"""As many names can be listed whole."""


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Return up to ``count`` known names that resemble ``name``, the nearest first.

    Upper and lower case are the same, and what stands before a name's last slash may be left out.
    """
    folded = {item.casefold(): item for item in known}
    tails = {item.rsplit("/", 1)[1]: full for item, full in folded.items() if "/" in item}
    matches = difflib.get_close_matches(name.casefold(), [*folded, *tails], n=count, cutoff=0.6)
    return tuple(dict.fromkeys(folded.get(match) or tails[match] for match in matches))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return what to write in place of ``name``: the nearest names, or all where they are few.

    Empty where no name is near and there are many.
    """
    names = tuple(known)
    near = nearest(name, names)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Use one of: {', '.join(names)}." if names and len(names) <= _FEW else ""
