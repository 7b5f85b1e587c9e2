"""What several pages say in the same words: anchors, what was chosen, where a choice turns."""

from __future__ import annotations

import hashlib
import re

from planner.decision import Decision, Outcome
from planner.report.text import option_words
from planner.units import counted, format_share

_ANCHOR = re.compile(r"[A-Za-z0-9_-]+")


def anchor(*parts: str) -> str:
    """Return an id for an element: the parts with dots between, made safe where one is not.

    No workload's name has a dot, so ``anchor("cost", "chat", "table")`` is the id of nothing
    else. What had to be changed carries a digest.
    """
    joined = ".".join(parts)
    if all(_ANCHOR.fullmatch(part) for part in parts):
        return joined
    mark = hashlib.sha256(joined.encode()).hexdigest()[:8]
    return ".".join("-".join(_ANCHOR.findall(part)) or "x" for part in parts) + f".{mark}"


def chosen_words(decision: Decision) -> str:
    """Return what was chosen for a workload, or why nothing was."""
    if decision.chosen is None:
        return f"{decision.status}: {decision.explanation}"
    return option_words(decision.chosen)


def floor_words(outcome: Outcome | None) -> str | None:
    """Return an outcome's floor in a few words; None where it has none."""
    floor = outcome.cost.floor if outcome and outcome.cost else None
    if outcome is None or floor is None or not floor.step.units:
        return None
    noun = "replica" if outcome.option.kind == "self_hosted" else "unit"
    above = "spills" if outcome.option.spill else "waits or is refused"
    return (
        f"{counted(floor.step.units, noun)}, {format_share(floor.use_share)} used; "
        f"{format_share(floor.spill_share)} {above}"
    )


def flip_words(decision: Decision) -> str:
    """Return where the runner-up would win: by demand, by output fraction."""
    flip = decision.flip
    if decision.chosen is None or flip is None:
        return "no runner-up to flip to"
    if flip.demand_factor == 1.0:
        return "the runner-up is cheaper already; what is live is kept for the gain band"
    found = []
    if flip.demand_factor is not None:
        found.append(f"demand x {flip.demand_factor:.3g}")
    if flip.output_fraction is not None:
        found.append(f"output fraction {flip.output_fraction:.3g}")
    return "at " + " or ".join(found) if found else "nowhere in the range tried"


def runner_up_words(decision: Decision) -> str | None:
    """Return the runner-up in words; None where there is none."""
    found = (outcome for outcome in decision.others if outcome.option.id == decision.runner_up)
    outcome = next(found, None)
    return None if outcome is None else option_words(outcome)
