"""Parse the catalog's data files into rows, strictly, with file and line in every error."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from planner import faults
from planner.base import Frozen
from planner.catalog import rows
from planner.errors import InputError, Problem

RowT = TypeVar("RowT", bound=Frozen)
Parser = Callable[[str], object]

_DATE = re.compile(r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$")
_LIST_COLUMNS = {"models": "model", "regions": "region", "deployment_types": "deployment_type"}


class Placed(NamedTuple, Generic[RowT]):
    """A row and where it stands."""

    where: str
    row: RowT


def _text(value: str) -> str:
    return value


def _maybe(parse: Parser) -> Parser:
    return lambda value: parse(value) if value else None


def _words(value: str) -> tuple[str, ...]:
    return tuple(value.split())


def _flag(value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError("write true or false")
    return value == "true"


_NUMBER, _COUNT = float, int
_PARSERS: Mapping[str, Parser] = {
    "availability": _NUMBER,
    "aliases": _words,
    "bandwidth_bytes_per_s": _NUMBER,
    "batch_input_usd_per_mtok": _maybe(_NUMBER),
    "batch_output_usd_per_mtok": _maybe(_NUMBER),
    "batch_type": _maybe(_text),
    "bf16_flops": _NUMBER,
    "cached_input_usd_per_mtok": _maybe(_NUMBER),
    "cached_input_weight": _NUMBER,
    "countries": _words,
    "cuda_visible_bytes": _COUNT,
    "fp4_flops": _maybe(_NUMBER),
    "flex_cached_input_usd_per_mtok": _maybe(_NUMBER),
    "flex_input_usd_per_mtok": _maybe(_NUMBER),
    "flex_output_usd_per_mtok": _maybe(_NUMBER),
    "fp8_flops": _maybe(_NUMBER),
    "gpus": _COUNT,
    "header": _maybe(_text),
    "input_tokens_per_minute": _NUMBER,
    "input_usd_per_mtok": _NUMBER,
    "max_prompt_tokens": _maybe(_COUNT),
    "members": _maybe(_words),
    "memory_bytes": _COUNT,
    "memory_gib": _NUMBER,
    "minimum_units": _COUNT,
    "model_version": _maybe(_text),
    "nvlink_bytes_per_s": _maybe(_NUMBER),
    "output_usd_per_mtok": _NUMBER,
    "output_weight": _NUMBER,
    "priority_cached_input_usd_per_mtok": _maybe(_NUMBER),
    "priority_input_usd_per_mtok": _maybe(_NUMBER),
    "priority_output_usd_per_mtok": _maybe(_NUMBER),
    "regions": _words,
    "spillover": _flag,
    "step_units": _COUNT,
    "target": _maybe(_text),
    "target_output_tokens_per_s": _maybe(_NUMBER),
    "term_months": _COUNT,
    "unpromised": _words,
    "usd_per_hour": _NUMBER,
    "usd_per_unit_month": _NUMBER,
    "vcpu": _COUNT,
    "zone": _maybe(_text),
    "zones": _words,
}
"""How a column's text becomes a value; every other column is text."""

CSV_FILES: Mapping[str, type[Frozen]] = {
    "regions.csv": rows.Region,
    "zones.csv": rows.Zone,
    "geographies.csv": rows.Geography,
    "deployment_types.csv": rows.DeploymentType,
    "accelerators.csv": rows.Accelerator,
    "instances.csv": rows.Instance,
    "instance_prices.csv": rows.InstancePrice,
    "payg_prices.csv": rows.PaygPrice,
    "provisioned_units.csv": rows.ProvisionedUnit,
    "provisioned_prices.csv": rows.ProvisionedPrice,
    "promises.csv": rows.Promise,
    "overflow.csv": rows.Overflow,
    "residency_beyond_inference.csv": rows.BeyondInference,
}


def read_csv(name: str, text: str, model: type[RowT]) -> tuple[Placed[RowT], ...]:
    """Return the rows of a CSV file; list columns (``regions``) give a row for each item.

    Raises InputError listing every bad row with its file and line.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[Placed[RowT]] = []
    problems: list[Problem] = []
    try:
        header = next(reader, [])
        _check_header(name, header, model)
        for cells in reader:
            where = f"{name}:{reader.line_num}"
            if len(cells) != len(header):
                what = f"the row has {len(cells)} cells, the header {len(header)}"
                problems.append(faults.CATALOG_ROW.at(where, what))
                continue
            for values in _expanded(dict(zip(header, cells, strict=True)), model):
                try:
                    found.append(Placed(where, build(model, _parsed(values), where)))
                except InputError as error:
                    problems.extend(error.problems)
                    break
    except csv.Error as error:
        problems.append(
            faults.CATALOG_FILE.at(f"{name}:{reader.line_num}", f"malformed CSV: {error}")
        )
    if problems:
        raise InputError(problems)
    return tuple(found)


def build(model: type[RowT], values: Mapping[str, object], where: str) -> RowT:
    """Return the validated row: types, numbers not negative, a source and a date.

    Raises InputError placed at ``where``.
    """
    try:
        row = model(**values)
    except ValidationError as error:
        raise InputError(
            [
                faults.CATALOG_ROW.at(
                    where, f"{'.'.join(map(str, item['loc'])) or 'row'}: {item['msg']}"
                )
                for item in error.errors(include_url=False)
            ]
        ) from None
    problems = [faults.CATALOG_ROW.at(where, what) for what in _faults(row)]
    if problems:
        raise InputError(problems)
    return row


def read_yaml(name: str, text: str) -> dict[str, Any]:
    """Return the mapping in a YAML file; duplicate keys are errors.

    Raises InputError with the file and line.
    """
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        what = str(error.problem or "malformed YAML").splitlines()[0]
        raise InputError([faults.CATALOG_FILE.at(f"{name}:{line}", what)]) from None
    if not isinstance(data, dict):
        raise InputError([faults.CATALOG_FILE.at(f"{name}:1", "the file must hold a mapping")])
    return data


def read_mapping(
    name: str, text: str, section: object, model: type[RowT]
) -> tuple[Placed[RowT], ...]:
    """Return the rows of a YAML mapping from each row's name to its other fields.

    Raises InputError listing every bad entry with its file and line.
    """
    if not isinstance(section, dict):
        raise InputError(
            [faults.CATALOG_FILE.at(f"{name}:1", f"no mapping of {model.__name__} rows")]
        )
    found: list[Placed[RowT]] = []
    problems: list[Problem] = []
    for key, entry in section.items():
        where = f"{name}:{line_of(text, str(key))}"
        values = entry if isinstance(entry, dict) else {"value": entry}
        try:
            row = build(model, {"name": key, **{k: _tupled(v) for k, v in values.items()}}, where)
        except InputError as error:
            problems.extend(error.problems)
        else:
            found.append(Placed(where, row))
    if problems:
        raise InputError(problems)
    return tuple(found)


def line_of(text: str, key: str) -> int:
    """Return the line on which the mapping's ``key`` starts, else 1."""
    pattern = re.compile(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*:")
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern.match(line):
            return number
    return 1


def _check_header(name: str, header: Sequence[str], model: type[Frozen]) -> None:
    known = set(model.model_fields)
    columns = [
        column if column in known else _LIST_COLUMNS.get(column, column) for column in header
    ]
    unknown = [column for column in columns if column not in known]
    twice = sorted({column for column in columns if columns.count(column) > 1})
    missing = [
        field
        for field, info in model.model_fields.items()
        if info.is_required() and field not in columns
    ]
    problems = [
        faults.CATALOG_FILE.at(
            f"{name}:1", f"{what}: {', '.join(fields)}", "Use the columns of the row model."
        )
        for what, fields in (
            ("unknown columns", unknown),
            ("repeated columns", twice),
            ("missing columns", missing),
        )
        if fields
    ]
    if problems:
        raise InputError(problems)


def _expanded(values: dict[str, str], model: type[Frozen]) -> Iterator[dict[str, str]]:
    """Yield the row once for each item of its list columns."""
    for column, field in _LIST_COLUMNS.items():
        if column in values and column not in model.model_fields:
            rest = {key: value for key, value in values.items() if key != column}
            for item in values[column].split() or [""]:
                yield from _expanded({**rest, field: item}, model)
            return
    yield values


def _parsed(values: Mapping[str, str]) -> dict[str, object]:
    """Parse each cell; text that is no number stays text, which the row model refuses."""
    parsed: dict[str, object] = {}
    for column, cell in values.items():
        try:
            parsed[column] = _PARSERS.get(column, _text)(cell)
        except ValueError:
            parsed[column] = cell
    return parsed


def _tupled(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _faults(row: Frozen) -> Iterator[str]:
    for field, value in row:
        if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
            yield f"{field}: {value} is negative"
        if isinstance(value, str) and not value and field != "effective_from":
            yield f"{field}: is blank"
        if field in ("as_of", "price_date", "effective_from") and not _is_date(field, value):
            yield f"{field}: {value!r} is not a date (YYYY, YYYY-MM or YYYY-MM-DD)"


def _is_date(field: str, value: object) -> bool:
    blank = field == "effective_from" and value == ""
    return blank or (isinstance(value, str) and _DATE.match(value) is not None)
