"""Pydantic's errors, told as problems in the user's file."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from planner.errors import Problem
from planner.secret_input import secret_problems
from planner.yamlfile import YamlFile

Model = TypeVar("Model", bound=BaseModel)

Path = tuple[int | str, ...]

LARGEST_INTEGER = 10**18
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff]")
"""Control characters except tab and newline, and surrogates."""

_FIXES = {
    "missing": "Add it",
    "greater_than": "Write a larger value",
    "greater_than_equal": "Write a larger value",
    "less_than": "Write a smaller value",
    "less_than_equal": "Write a smaller value",
    "literal_error": "Use one of the values named",
    "string_pattern_mismatch": "Match the pattern (names: a-z, 0-9 and hyphens)",
    "float_type": "Write a number",
    "int_type": "Write a whole number",
    "int_from_float": "Write a whole number",
    "string_type": "Write text (in quotes if it looks like a number)",
    "bool_type": "Write true or false",
    "tuple_type": "Write a list",
    "too_short": "List at least one",
    "date_from_datetime_parsing": "Write a date as 2026-11-29",
    "date_type": "Write a date as 2026-11-29",
    "union_tag_not_found": "Add the kind field",
}


def validate(
    model: type[Model], file: YamlFile, data: Any, *, at: Path = ()
) -> tuple[Model | None, list[Problem]]:
    """Return the model built from ``data``, or every problem in it with its place."""
    if not isinstance(data, dict):
        what = f"a mapping is expected, not {type(data).__name__}"
        return None, [Problem(file.where(at), what, "Write key: value lines.")]
    # Before anything that quotes a value.
    if held := list(secret_problems(file, data, at)):
        return None, held
    odd = list(_not_plain(file, data, at))
    if odd:
        return None, odd
    try:
        return model.model_validate_json(json.dumps(data, allow_nan=False)), []
    except ValidationError as error:
        return None, [_problem(model, file, at, item) for item in error.errors()]


def nearest(name: str, known: Sequence[str], *, limit: int = 3) -> str:
    """Return a sentence naming the known names closest to ``name``."""
    lowered = {item.lower(): item for item in known}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=limit, cutoff=0.4)
    if not close:
        return f"Known: {', '.join(sorted(known)[:12])}." if known else ""
    return f"Nearest known: {', '.join(lowered[item] for item in close)}."


def _not_plain(
    file: YamlFile, value: Any, path: Path, above: tuple[int, ...] = ()
) -> Iterator[Problem]:
    """Yield what no declared file may hold, each with its place."""
    what, fix = "", "Write text, a number, true, false, a list or a mapping."
    if id(value) in above:
        what = "an alias contains itself"
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _not_plain(file, item, (*path, key), (*above, id(value)))
            else:
                shown = f"the key {key!r} is not text"
                yield Problem(file.where((*path, str(key))), shown, "Write the key as text.")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_plain(file, item, (*path, index), (*above, id(value)))
    elif isinstance(value, float) and not math.isfinite(value):
        what, fix = f"{value} is not a finite number", "Write a number."
    elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        what, fix = "the number is too large to be meant", "Write a smaller number."
    elif isinstance(value, str):
        if _UNPRINTABLE.search(value):
            what, fix = "the text holds a control character or half of a pair", "Remove it."
    elif value is not None and not isinstance(value, (bool, int, float)):
        what = f"{type(value).__name__} is no plain value"
    if what:
        yield Problem(file.where(path), what, fix)


def _problem(model: type[BaseModel], file: YamlFile, at: Path, error: Any) -> Problem:
    loc = tuple(part for part in error["loc"] if not _is_tag(model, part))
    path = (*at, *loc)
    kind = error["type"]
    message = str(error["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        key = str(loc[-1])
        return Problem(file.where(path), f"unknown key {key!r}", nearest(key, _field_names(model)))
    if kind == "missing":
        what = f"required key {str(loc[-1])!r} is missing"
        return Problem(file.where(path), what, "Add it.")
    given = error.get("input")
    shown = f" (given: {json.dumps(given, default=str)[:80]})" if _is_scalar(given) else ""
    fix = _FIXES.get(kind, "")
    return Problem(file.where(path), message + shown, f"{fix}." if fix else "")


def _is_tag(model: type[BaseModel], part: int | str) -> bool:
    return isinstance(part, str) and part in {"payg", "provisioned", "instance", "unit"}


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) or value is None


def _field_names(model: type[BaseModel]) -> list[str]:
    schema = model.model_json_schema()
    names = set(schema.get("properties", {}))
    for definition in schema.get("$defs", {}).values():
        names |= set(definition.get("properties", {}))
    return sorted(names)
