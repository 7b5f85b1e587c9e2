"""Pydantic's errors, told as problems in the user's file."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from planner import faults
from planner.errors import Code, Problem
from planner.nearest import suggestion
from planner.secret_input import secret_problems
from planner.yamlfile import YamlFile

Model = TypeVar("Model", bound=BaseModel)

Path = tuple[int | str, ...]

_MADE_OF: dict[type, str] = {type(None): "nothing", list: "a list", str: "text"}
"""What a file holds in place of a mapping."""

LARGEST_INTEGER = 10**18
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff]")
"""Control characters except tab and newline, and surrogates."""

_KINDS: dict[str, tuple[Code, str]] = {
    "greater_than": (faults.OUT_OF_RANGE, "Write a larger value."),
    "greater_than_equal": (faults.OUT_OF_RANGE, "Write a larger value."),
    "less_than": (faults.OUT_OF_RANGE, "Write a smaller value."),
    "less_than_equal": (faults.OUT_OF_RANGE, "Write a smaller value."),
    "too_short": (faults.OUT_OF_RANGE, "List at least one."),
    "too_long": (faults.OUT_OF_RANGE, "List fewer."),
    "string_too_short": (faults.OUT_OF_RANGE, "Write a longer text."),
    "string_too_long": (faults.OUT_OF_RANGE, "Write a shorter text."),
    "finite_number": (faults.NOT_PLAIN, "Write a number."),
    "literal_error": (faults.NOT_A_CHOICE, "Use one of the values named."),
    "enum": (faults.NOT_A_CHOICE, "Use one of the values named."),
    "union_tag_invalid": (faults.NOT_A_CHOICE, "Use one of the kinds named."),
    "union_tag_not_found": (faults.MISSING_KEY, "Add the kind field."),
    "string_pattern_mismatch": (faults.BAD_NAME, ""),
    "float_type": (faults.WRONG_TYPE, "Write a number."),
    "float_parsing": (faults.WRONG_TYPE, "Write a number."),
    "int_type": (faults.WRONG_TYPE, "Write a whole number."),
    "int_parsing": (faults.WRONG_TYPE, "Write a whole number."),
    "int_from_float": (faults.WRONG_TYPE, "Write a whole number."),
    "string_type": (faults.WRONG_TYPE, "Write text (in quotes if it looks like a number)."),
    "bool_type": (faults.WRONG_TYPE, "Write true or false."),
    "bool_parsing": (faults.WRONG_TYPE, "Write true or false."),
    "tuple_type": (faults.WRONG_TYPE, "Write a list."),
    "list_type": (faults.WRONG_TYPE, "Write a list."),
    "dict_type": (faults.WRONG_TYPE, "Write a mapping."),
    "model_type": (faults.WRONG_TYPE, "Write a mapping."),
    "model_attributes_type": (faults.WRONG_TYPE, "Write a mapping."),
    "date_from_datetime_parsing": (faults.BAD_DATE, ""),
    "date_from_datetime_inexact": (faults.BAD_DATE, ""),
    "date_parsing": (faults.BAD_DATE, ""),
    "date_type": (faults.BAD_DATE, ""),
    "datetime_parsing": (faults.BAD_DATE, ""),
    "datetime_type": (faults.BAD_DATE, ""),
}
"""Pydantic's kinds of error as ours, with the way out where the kind alone tells it.

The words of a validator of ours (value_error) say what contradicts what.
"""


def validate(
    model: type[Model], file: YamlFile, data: Any, *, at: Path = ()
) -> tuple[Model | None, list[Problem]]:
    """Return the model built from ``data``, or every problem in it with its place."""
    if not isinstance(data, dict):
        what = f"a mapping is expected, not {_MADE_OF.get(type(data), 'a single value')}"
        return None, [faults.NOT_A_MAPPING.at(file.where(at), what)]
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


def _not_plain(
    file: YamlFile, value: Any, path: Path, above: tuple[int, ...] = ()
) -> Iterator[Problem]:
    """Yield what no declared file may hold, each with its place."""
    what, fix = "", ""
    if id(value) in above:
        what = "an alias contains itself"
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _not_plain(file, item, (*path, key), (*above, id(value)))
            else:
                shown = f"the key {key!r} is not text"
                where = file.where((*path, str(key)))
                fix = "Write the key as text; within a number stands no comma (5000)."
                yield faults.NOT_PLAIN.at(where, shown, fix)
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
        yield faults.NOT_PLAIN.at(file.where(path), what, fix)


def _problem(model: type[BaseModel], file: YamlFile, at: Path, error: Any) -> Problem:
    loc = tuple(part for part in error["loc"] if not _is_tag(model, part))
    path = (*at, *loc)
    kind = error["type"]
    message = str(error["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        key = str(loc[-1])
        what, fix = f"unknown key {key!r}{_odd_letters(key)}", suggestion(key, _field_names(model))
        return faults.UNKNOWN_KEY.at(file.where(path), what, fix)
    if kind == "missing":
        what = f"required key {str(loc[-1])!r} is missing"
        return faults.MISSING_KEY.at(file.where(path), what)
    given = error.get("input")
    said = json.dumps(given, default=str, ensure_ascii=False)[:80]
    shown = f" (given: {said})" if _is_scalar(given) else ""
    code, fix = _KINDS.get(kind, (faults.INCONSISTENT, ""))
    return code.at(file.where(path), message + shown, fix)


def _odd_letters(key: str) -> str:
    """Name the letters outside of ASCII: a lookalike cannot be told from the key by eye."""
    odd = [f"U+{ord(sign):04X} {unicodedata.name(sign, '')}" for sign in key if ord(sign) > 127]
    return f" (with {', '.join(text.strip() for text in odd[:3])})" if odd else ""


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
