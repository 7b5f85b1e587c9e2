"""Hold the memory model against measured starts: python -m benchmarks.memory_accuracy.

Writes memory_accuracy.md beside this file. Rows and their measured figures stand in
memory_rows.yaml; the starts of measured_vllm_memory.csv are read from there
(../shared/data). Every row of that table and every case of the groups KV, TP, NF,
LC and ES must be used or left out with a reason.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from planner.catalog.loader import load_catalog
from planner.catalog.shapes import config_of, load_shape
from planner.serving.engine import VllmSettings, resolved
from planner.serving.kv_pool import kv_plan
from planner.serving.memory import longest_request, vllm_ledger
from planner.serving.parallelism import check_layout
from planner.serving.shape import ModelShape, shape_from_config
from planner.serving.sizing_types import Layout
from planner.units import GIB
from planner.yamlfile import read_yaml

HERE = Path(__file__).parent
SHARED = HERE.parent.parent / "shared"
ROWS = HERE / "memory_rows.yaml"
TABLE = HERE / "memory_accuracy.md"

GIVEN, ESTIMATED = 0.02, 0.08
"""Shares the KV tokens may be off: with the ledger's inputs given, and estimated."""

GROUPS = ("KV", "TP", "NF", "LC", "ES")


class Result(NamedTuple):
    """One figure: what was measured, what is computed, and how far it may be off."""

    part: str
    row: str
    what: str
    measured: float
    computed: float
    within: float

    @property
    def error(self) -> float:
        """Relative error of the computed figure."""
        return self.computed / self.measured - 1 if self.measured else math.inf

    @property
    def good(self) -> bool:
        """Whether the figure is within its bound."""
        return abs(self.error) <= self.within


def rows() -> dict[str, Any]:
    """Return the rows file."""
    return dict(read_yaml(ROWS, "benchmarks/memory_rows.yaml").data)


def measured_table(shared: Path = SHARED) -> list[dict[str, str]]:
    """Return the rows of measured_vllm_memory.csv."""
    path = shared / "data" / "measured_vllm_memory.csv"
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shape_of(name: str, data: dict[str, Any]) -> ModelShape:
    """Return a catalogued model, or one of the file's geometries."""
    geometry = data["geometries"].get(name)
    return load_shape(name) if geometry is None else shape_from_config(geometry, name)


def identities(table: list[dict[str, str]]) -> Iterator[Result]:
    """Yield the pool that each recorded ledger's own figures give."""
    for number, row in enumerate(table, start=1):
        parts = [row[key] for key in ("weights_gib", "peak_activation_gib", "non_torch_gib")]
        if not (row["gpu_total_gib"] and all(parts) and row["kv_cache_gib"]):
            continue
        share = 0.95 if "0.95" in row["note"] else float(row["gpu_memory_utilization"])
        pool = share * float(row["gpu_total_gib"]) - sum(map(float, parts))
        measured = float(row["kv_cache_gib"])
        yield Result("identity", f"csv {number}", row["model"] + ", GiB", measured, pool, GIVEN)


def pools(data: dict[str, Any]) -> Iterator[Result]:
    """Yield the tokens and requests of pools whose size is stated."""
    for row in data["pools"]:
        shape = shape_of(row["model"], data)
        if "layers" in row:
            shape = shape.model_copy(update={"order": shape.order[: row["layers"]]})
        settings = VllmSettings(
            **row["settings"], kv_cache_memory_bytes=round(row["pool_gib"] * GIB)
        )
        layout = Layout(tensor_parallel=row["tp"])
        card = load_catalog().accelerator(row.get("card", "H100"))
        found = vllm_ledger(shape, layout, card, settings=settings)
        within = row.get("within", GIVEN)
        for key, computed in (
            ("tokens", float(found.kv_tokens)),
            ("concurrency", found.max_concurrency),
        ):
            if key in row:
                what = f"{row['model']}, {key}"
                yield Result("pool", row["row"], what, float(row[key]), computed, within)


def longest(data: dict[str, Any]) -> Iterator[Result]:
    """Yield what refused requests needed and the longest that fit."""
    for row in data["longest"]:
        settings = VllmSettings(**row["settings"])
        filled = resolved(settings, load_catalog().accelerator("H100"), None)
        plan = kv_plan(shape_of(row["model"], data), row["tp"], filled)
        length = row["settings"]["max_model_len"]
        needed = plan.request_blocks(length) * plan.block_bytes / GIB
        what = f"{row['model']}, GiB for {length:,} tokens"
        yield Result("pool", row["row"], what, float(row["needed_gib"]), needed, GIVEN)
        if "longest" in row:
            found = longest_request(plan, round(row["pool_gib"] * GIB), length)
            what = f"{row['model']}, longest request"
            yield Result("pool", row["row"], what, float(row["longest"]), float(found), GIVEN)


def starts(data: dict[str, Any], table: list[dict[str, str]]) -> Iterator[Result]:
    """Yield whole ledgers with everything but model, card and settings estimated."""
    for row in data["starts"]:
        found = vllm_ledger(
            shape_of(row["model"], data),
            layout_of(row),
            load_catalog().accelerator(row["card"]),
            settings=VllmSettings(**row["settings"]),
        )
        what = f"{row['model']} {layout_of(row).label}"
        if "tokens" in row:
            measured, computed = float(row["tokens"]), float(found.kv_tokens)
            yield Result("start", row["row"], f"{what}, tokens", measured, computed, ESTIMATED)
            continue
        stated = row.get("kv_gib") or table[int(row["row"].split()[1]) - 1]["kv_cache_gib"]
        pool = found.kv_pool_bytes / GIB
        yield Result("start", row["row"], f"{what}, GiB", float(stated), pool, ESTIMATED)


def verdicts(data: dict[str, Any]) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield (row, model, served, said to fit) of every start with an outcome."""
    served = [{**row, "fits": True} for row in data["starts"][:8]]
    for row in (*served, *data["verdicts"]):
        found = vllm_ledger(
            shape_of(row["model"], data),
            layout_of(row),
            load_catalog().accelerator(row["card"]),
            settings=VllmSettings(**row["settings"]),
        )
        yield row["row"], f"{row['model']} on {row['card']}", row["fits"], found.fits


def degrees(data: dict[str, Any]) -> Iterator[tuple[str, str, int, bool, bool]]:
    """Yield (row, model, degree, loads, said to be legal) of every known degree."""
    for row in data["degrees"]:
        shape = shape_of(row["model"], data)
        if changes := row.get("changes"):
            shape = shape_from_config({**config_of(row["model"]), **changes}, row["model"])
        for loads, listed in ((True, row["legal"]), (False, row["illegal"])):
            for degree in listed:
                layout = Layout(tensor_parallel=degree)
                refused = check_layout(shape, layout, gpus_per_node=64, interconnect="nvlink")
                yield row["row"], row["model"], degree, loads, refused is None


def layout_of(row: dict[str, Any]) -> Layout:
    """Return a row's layout."""
    return Layout(
        tensor_parallel=row["tp"],
        pipeline_parallel=row.get("pp", 1),
        expert_parallel=row.get("expert_parallel", False),
    )


def figures(data: dict[str, Any], table: list[dict[str, str]]) -> list[Result]:
    """Return every figure compared."""
    return [*identities(table), *pools(data), *longest(data), *starts(data, table)]


def unaccounted(data: dict[str, Any], table: list[dict[str, str]], shared: Path) -> list[str]:
    """Return the rows and cases that are neither used nor left out with a reason."""
    parts = ("starts", "pools", "longest", "verdicts", "degrees")
    listed = [row for part in parts for row in data[part]]
    said = " ".join([*(row["row"] for row in listed), *data["left_out"], *data["tested"]]) + " "
    said = said.translate(str.maketrans("(),", "   "))
    cases = json.loads((shared / "cases" / "cases.json").read_text(encoding="utf-8"))
    names = [f"csv {number}" for number in range(1, len(table) + 1)]
    names += [case["id"] for case in cases if case["id"][:2] in GROUPS]
    return [name for name in names if f"{name} " not in said]


def render(data: dict[str, Any], table: list[dict[str, str]]) -> str:
    """Return the report as Markdown."""
    found = figures(data, table)
    fits, legal = list(verdicts(data)), list(degrees(data))
    lines = [
        "# Memory against measured starts",
        "",
        "Written by `python -m benchmarks.memory_accuracy`; do not edit. Rows: memory_rows.yaml.",
        "`csv n` is row n of measured_vllm_memory.csv, other names are practitioner cases.",
        "",
        *_summary(found, fits, legal),
    ]
    titles = {
        "identity": "Ledgers that close on their own figures (bound 2%)",
        "pool": "Pools of a stated size: what they hold (bound 2% unless said)",
        "start": "Whole ledgers, everything estimated (bound 8%)",
    }
    for part, title in titles.items():
        lines += ["", f"## {title}", "", "| row | figure | measured | computed | error | |"]
        lines += ["| --- | --- | ---: | ---: | ---: | --- |"]
        lines += [_line(one) for one in found if one.part == part]
    lines += ["", "## Served or refused", "", "| row | start | measured | said |"]
    lines += ["| --- | --- | --- | --- |"]
    words = {True: "served", False: "refused"}
    lines += [f"| {row} | {what} | {words[was]} | {words[said]} |" for row, what, was, said in fits]
    lines += ["", "## Tensor-parallel degrees", "", "| row | model | loads | refused | wrong |"]
    lines += ["| --- | --- | --- | --- | --- |", *_degree_lines(legal)]
    lines += ["", "## Held by a test of its own", "", "| row | test |", "| --- | --- |"]
    lines += [f"| {row} | {test} |" for row, test in data["tested"].items()]
    lines += ["", "## Left out", "", "| row | why |", "| --- | --- |"]
    lines += [f"| {row} | {why} |" for row, why in data["left_out"].items()]
    lines += ["", "## Remaining misses", ""]
    misses = [one for one in found if not one.good]
    lines += [f"- {m.row}, {m.what}: {m.error:+.1%}. {data['misses'][m.row]}" for m in misses]
    return "\n".join(lines) + "\n"


def _summary(found: list[Result], fits: list[Any], legal: list[Any]) -> list[str]:
    def share(part: Iterable[str]) -> str:
        chosen = [one for one in found if one.part in part]
        worst = max(abs(one.error) for one in chosen)
        inside = sum(one.good for one in chosen)
        return f"{inside} of {len(chosen)} within the bound, worst {worst:.1%}"

    wrong_fit = [row for row, _, was, said in fits if said and not was]
    wrong_refusal = [row for row, _, was, said in fits if was and not said]
    right = sum(loads == said for *_, loads, said in legal)
    return [
        f"- Inputs given: {share(('identity', 'pool'))}.",
        f"- Everything estimated: {share(('start',))}.",
        f"- Legality: {right} of {len(legal)} degrees as the engine.",
        f'- False "fits": {len(wrong_fit)} of {len(fits)}; false refusals: {len(wrong_refusal)}.',
    ]


def _line(one: Result) -> str:
    def number(value: float) -> str:
        return f"{value:,.2f}" if value < 1_000 else f"{value:,.0f}"

    bound = "" if one.within in (GIVEN, ESTIMATED) else f" (bound {one.within:.0%})"
    mark = "miss" if not one.good else "ok"
    cells = (one.row, one.what, number(one.measured), number(one.computed), f"{one.error:+.1%}")
    return f"| {' | '.join(cells)} | {mark}{bound} |"


def _degree_lines(legal: list[tuple[str, str, int, bool, bool]]) -> list[str]:
    lines = []
    for row, model in dict.fromkeys((one[0], one[1]) for one in legal):
        mine = [one for one in legal if one[:2] == (row, model)]
        loads = ", ".join(str(one[2]) for one in mine if one[3])
        refused = ", ".join(str(one[2]) for one in mine if not one[3]) or "-"
        wrong = ", ".join(str(one[2]) for one in mine if one[3] != one[4]) or "none"
        lines.append(f"| {row} | {model} | {loads} | {refused} | {wrong} |")
    return lines


def main() -> int:
    """Write the table; fail if a row is unaccounted for or a miss has no explanation."""
    data, table = rows(), measured_table()
    if missing := unaccounted(data, table, SHARED):
        print(f"not accounted for: {', '.join(missing)}", file=sys.stderr)
        return 1
    text = render(data, table)
    TABLE.write_text(text, encoding="utf-8")
    print("\n".join(text.split("\n")[5:10]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
