"""docs/numbers.md: the explained numbers of the example stacks, which are planned for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import fill

from planner.report.numbers.curves import POINT_RULES
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.explanations import RUNNER_UP, explanations
from planner.report.numbers.totals import TOTAL
from planner.running import StackRun, run_stack

PAGE = Path("docs/numbers.md")
STACKS = ("bank-au", "dev", "saas-global")
_WIDTH = 100

_HEAD = """# The numbers of a plan

Each number that a plan, `explain` or the report shows has a name, a formula and terms whose
sources are known. `llm-capacity explain WORKLOAD --numbers --stack NAME` lists those of a
workload, `llm-capacity explain WORKLOAD NUMBER --stack NAME` prints one with the numbers in it,
`--depth` walks down its terms to declared keys and catalog rows. WORKLOAD `total` is the stack.
Those of the runner-up are told like those of what was chosen, under `runner_up/`.
In the HTML report the numbers of tables lead to the page "How the numbers were made".

How exact a number is: `exact` is arithmetic on declared and published figures, `modelled` has a
model behind it, `measured` is somebody's measurement, `declared` and `published` are as the file
or the catalog's row says. A number found by a search has no formula: its conditions say what it
satisfies and its neighbour does not. What the models leave out is in
[how a decision is made](explanation/how-a-decision-is-made.md).

Formulas are arithmetic as Python writes it (`//` divides and drops the rest, `**` is a power);
`sum_of_products(a, b)` adds up the products of two series, `comb(n, k)` counts choices of k
among n. A test works every formula of the example stacks out and compares it with the plan.

This page is written from the explained numbers of the example stacks by `make docs`.
"""

_GENERAL = (
    (f"^{RUNNER_UP}", ""),
    (r"^layout/TP\d+/", "layout/TPn/"),
    (r"/layer_\d+$", "/layer_n"),
    (r"^others/.+/(\w+)$", r"others/OPTION/\1"),
    (r"^pools/[^/]+/[^/]+/", "pools/CLUSTER/POOL/"),
    (r"^quotas/.+/(\w+)$", r"quotas/ACCOUNT/TYPE/MODEL/\1"),
)

_SUMS = {
    "fixed_usd_per_month": "the workloads",
    "variable_usd_per_month": "the workloads",
    "provisioned_units": "the workloads",
    "nodes": "the pools",
    "gpus": "the pools",
    "pools/CLUSTER/POOL/max_nodes": "the workloads on the pool, spares among them",
}
"""Totals, and what they add up."""

_CATALOG = {
    "Accelerator": "the card",
    "Instance": "the machine type",
    "InstancePrice": "the machine's price",
    "PaygPrice": "a pay-as-you-go price",
    "Promise": "an availability that is promised",
    "ProvisionedPrice": "a unit's price",
    "ProvisionedUnit": "what a unit carries",
    "model": "the model's shape",
}
"""Rows of the catalog in words, by what their name begins with."""

_SPECIFIC = ("exit/", "purchase/", "others/")
"""Kinds whose rule tells of one option or one model."""


def page_text(runs: Iterable[StackRun]) -> str:
    """Return the page for the kinds of number that these runs have."""
    stack: dict[str, list[Explained]] = {}
    workload: dict[str, list[Explained]] = {}
    for run in runs:
        numbers = explanations(run.plan, run.stack, run.catalog)
        for found in numbers.values():
            kinds = stack if found.group == TOTAL else workload
            kinds.setdefault(general(found.kind), []).append(found)
    parts = [_HEAD, "## The stack (`total`)\n", *_entries(stack)]
    parts += ["## A workload\n", *_entries(workload), "## Points of curves\n"]
    parts.append("The report's curves are worked out again at other inputs.\n")
    parts += [
        f"### {rule.title}\n\n`{rule.formula}`\n\n{_filled(f'{rule.rule}.')}\n"
        for rule in POINT_RULES
    ]
    return "\n".join(parts)


def texts(root: Path) -> dict[Path, str]:
    """Return what the page has to hold; needs OPA on PATH."""
    return {PAGE: page_text(run_stack(root, name, write=False) for name in STACKS)}


def general(kind: str) -> str:
    """Return a kind without what names one stack's layouts, options, pools or quotas."""
    for pattern, name in _GENERAL:
        kind = re.sub(pattern, name, kind)
    return kind


def _entries(kinds: Mapping[str, list[Explained]]) -> Iterator[str]:
    for kind in sorted(kinds):
        found = kinds[kind]
        first = found[0]
        exactness = ", ".join(sorted({item.exactness for item in found}))
        yield f"### `{kind}`\n"
        units = sorted({item.unit for item in found})
        unit = f"{units[0]}; " if len(units) == 1 and units[0] else ""
        yield _filled(f"{_title(first)} ({unit}{exactness}).") + "\n"
        yield "\n".join(dict.fromkeys(line for item in found for line in _ways(item))) + "\n"


def _title(found: Explained) -> str:
    """Return a title without what names one stack's parts."""
    title = re.sub(r"\b(degree|kind) \d+", r"\1 n", found.title)
    title = re.sub(r"\b[A-Z]{3}, unrec", "the stack's currency, unrec", title)
    if found.kind.startswith("others/"):
        title = re.sub(r"What \S+ ", "What an option ", title)
    if found.kind.startswith("pools/"):
        title = re.sub(r"pool \S+ on \S+?(,|$)", r"a pool\1", title)
    if found.kind.startswith("quotas/"):
        title = re.sub(r"Quota of \S+ in \S+", "Quota", title)
    return title


def _ways(found: Explained) -> Iterator[str]:
    """Yield how a number comes about: a line for its formula, one for what a search met."""
    if found.group == TOTAL and (summed := _SUMS.get(general(found.kind))):
        yield f"- the sum over {summed}"
        return
    formula = re.sub(r"_\d+\b", "_n", found.formula)
    rule = found.rule if not found.kind.startswith(_SPECIFIC) else ""
    if formula and formula != "0":
        yield f"- `{formula}`" + (f": {rule}" if rule else "") + _where(found.terms)
    elif rule:
        yield f"- {rule}"
    for condition in found.conditions:
        comparison = re.sub(r"total_\d", "total_of_another", condition.formula)
        yield f"- searched: `{comparison}`" + _where(condition.terms)


def _where(terms: Iterable[Term]) -> str:
    """Return in words where a formula's terms come from, numbers of the plan left out."""
    said = []
    for term in terms:
        name = re.sub(r"_\d+$", "_n", term.symbol)
        match term.origin:
            case "declared":
                key = re.sub(r"\[[^\]]*\]", "[]", term.ref.partition(" ")[2])
                said.append(f"`{name}` is declared as `{key}`")
            case "catalog":
                said.append(f"`{name}` is of the catalog: {_CATALOG[term.ref.split()[0]]}")
            case "constant":
                said.append(f"`{name}`: {term.source}")
            case _:
                continue
    return f" ({'; '.join(dict.fromkeys(said))})" if said else ""


def _filled(text: str) -> str:
    return fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
