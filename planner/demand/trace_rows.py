"""The rows of a trace: which columns it has, and what each of its lines says."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from planner import faults
from planner.errors import Code, Problem

COLUMN_NAMES: dict[str, frozenset[str]] = {
    "timestamp": frozenset({"timestamp", "time", "timestamps"}),
    "input tokens": frozenset(
        {"contexttokens", "inputtokens", "prompttokens", "inputlength", "requesttokens"}
        | {"numprefilltokens"}
    ),
    "output tokens": frozenset(
        {"generatedtokens", "outputtokens", "completiontokens", "outputlength"}
        | {"responsetokens", "numdecodetokens"}
    ),
}
"""Accepted header names, letters and digits only, lower case: those of the Azure
LLM inference (TIMESTAMP, ContextTokens, GeneratedTokens), BurstGPT, Mooncake and
Vidur traces, and the plain ones."""


class Request(NamedTuple):
    """A request: its moment in seconds from any origin, and its tokens."""

    seconds: float
    input_tokens: int
    output_tokens: int


def bad_trace(where: str, what: str, fix: str, code: Code = faults.BAD_TRACE) -> Problem:
    """Return a problem of a trace; ``where`` is its name, with a line where one is meant."""
    return code.at(f"trace {where}" if where else "trace", what, fix)


def trace_rows(text: TextIO, name: str) -> Iterator[Request | Problem]:
    """Yield each request of a trace, or what is wrong with its row; ``name`` is the file's."""
    reader = csv.reader(text, strict=True)
    try:
        header = next(reader, None)
        columns = _columns(header or [])
        if isinstance(columns, str):
            yield bad_trace(name, columns, "Name the columns in the first line.")
            return
        dated: bool | None = None
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            parsed = _parse(row, columns)
            if isinstance(parsed, str):
                yield bad_trace(
                    f"{name}:{reader.line_num}",
                    parsed,
                    "Correct or drop the row.",
                    faults.BAD_TRACE_ROW,
                )
                continue
            request, is_date = parsed
            if dated is not None and is_date != dated:
                what = "mixes date-times with seconds"
                yield bad_trace(
                    f"{name}:{reader.line_num}",
                    what,
                    "Use one kind of timestamp.",
                    faults.BAD_TRACE_ROW,
                )
                continue
            dated = is_date
            yield request
    except csv.Error as error:
        yield bad_trace(
            f"{name}:{reader.line_num}",
            f"is no CSV ({error})",
            "Correct the row.",
            faults.BAD_TRACE_ROW,
        )


def _columns(header: list[str]) -> tuple[int, int, int] | str:
    names = [re.sub(r"[^a-z0-9]", "", cell.lower()) for cell in header]
    found = []
    for column, accepted in COLUMN_NAMES.items():
        places = [index for index, cell in enumerate(names) if cell in accepted]
        if len(places) != 1:
            return f"has {'no' if not places else 'more than one'} column for {column}"
        found.append(places[0])
    return found[0], found[1], found[2]


def _parse(row: list[str], columns: tuple[int, int, int]) -> tuple[Request, bool] | str:
    if max(columns) >= len(row):
        return f"has {len(row)} cells, too few"
    stamp, prompt, output = (row[column].strip() for column in columns)
    instant = _seconds(stamp)
    if instant is None:
        return f"has the timestamp {stamp[:40]!r}, neither a date-time nor seconds"
    tokens = []
    for cell in (prompt, output):
        if not re.fullmatch(r"\d{1,9}(\.0+)?", cell, re.ASCII):
            return f"has {cell[:40]!r} where a count of tokens belongs"
        tokens.append(int(cell.split(".")[0]))
    seconds, is_date = instant
    return Request(seconds, tokens[0], tokens[1]), is_date


def _seconds(stamp: str) -> tuple[float, bool] | None:
    if re.fullmatch(r"\d{1,12}(\.\d+)?", stamp, re.ASCII):
        return float(stamp), False
    try:
        moment = dt.datetime.fromisoformat(stamp)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=dt.UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)).total_seconds(), True
