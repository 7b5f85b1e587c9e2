"""Model shapes as catalog data, and from a config.json of the user's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from planner import faults
from planner.base import Frozen
from planner.errors import InputError
from planner.nearest import nearest
from planner.serving.shape import ModelShape, shape_from_config
from planner.yamlfile import read_yaml

SHAPES_FILE = Path(__file__).parent / "data" / "model_shapes.yaml"
MAX_CONFIG_BYTES = 1_000_000


class ShapeRow(Frozen):
    """One model: the fields of its config.json that sizing needs.

    ``like`` names the row whose geometry it shares; ``config`` then holds only
    what differs. A list of one entry a layer may be written as
    ``{pattern: [...], times: n}``, or as a list of such runs.
    """

    name: str
    like: str | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    licence: str
    source: str


class RefusedRow(Frozen):
    """A released model that is refused by name; the reason is in ``config``'s reader."""

    name: str
    config: dict[str, Any]
    source: str


@cache
def _sections() -> dict[str, Any]:
    sections: dict[str, Any] = read_yaml(SHAPES_FILE, "catalog/data/model_shapes.yaml").data
    return sections


@cache
def refused_rows() -> tuple[RefusedRow, ...]:
    """Return the models that are known and cannot be sized."""
    return tuple(RefusedRow.model_validate(row) for row in _sections()["refused"])


@cache
def shape_rows() -> tuple[ShapeRow, ...]:
    """Return every row of the catalog, in file order."""
    return tuple(ShapeRow.model_validate(row) for row in _sections()["models"])


@cache
def load_shape(name: str) -> ModelShape:
    """Return the shape of a catalogued model.

    Names are case-insensitive and the organisation before the slash may be left
    out. Raises InputError with the nearest names for an unknown model, with the
    reason for one that is refused.
    """
    wanted = name.strip().lower()
    for refused in refused_rows():
        if wanted in (refused.name.lower(), refused.name.lower().rpartition("/")[2]):
            return shape_from_config(refused.config, refused.name)
    return shape_from_config(config_of(name), _row(name).name)


def config_of(name: str) -> dict[str, Any]:
    """Return the config fields of a catalogued model, its ``like`` row merged in."""
    row = _row(name)
    base = config_of(row.like) if row.like else {}
    return {**base, **{key: _expanded(value) for key, value in row.config.items()}}


def known_models() -> tuple[str, ...]:
    """Return the full names of the models with a shape."""
    return tuple(row.name for row in shape_rows())


def shape_from_file(path: Path, name: str | None = None) -> ModelShape:
    """Return the shape of a Hugging Face config.json.

    A ``hf_quant_config.json`` beside it (NVIDIA modelopt checkpoints) gives the
    weight format. ``name`` is the folder's by default.
    """
    config = _read_json(path)
    beside = path.with_name("hf_quant_config.json")
    if "quantization_config" not in config and beside.exists():
        config["quantization_config"] = {"quant_method": "modelopt", **_read_json(beside)}
    return shape_from_config(config, name or path.parent.name)


def _row(name: str) -> ShapeRow:
    wanted = name.strip().lower()
    full = {row.name.lower(): row for row in shape_rows()}
    if wanted in full:
        return full[wanted]
    matches = [row for key, row in full.items() if key.rpartition("/")[2] == wanted]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(row.name for row in matches)
        raise InputError(
            [
                faults.AMBIGUOUS_NAME.at(
                    name, "several publishers have it", f"Write one of: {names}."
                )
            ]
        )
    known = sorted(known_models())
    names = ", ".join(nearest(wanted.rpartition("/")[2], known) or known)
    raise InputError(
        [faults.NO_SHAPE.at(name, "no shape of this model is known", f"Nearest: {names}.")]
    )


def _expanded(value: Any) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {"pattern", "times"}:
            return [_expanded(item) for item in value["pattern"]] * int(value["times"])
        return {key: _expanded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        runs = [isinstance(item, Mapping) and set(item) == {"pattern", "times"} for item in value]
        if value and all(runs):
            return [entry for run in value for entry in _expanded(run)]
    return value


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            reason = "is not a file" if path.exists() else "No such file"
            raise InputError([faults.BAD_CONFIG_FILE.at(str(path), reason)])
        with path.open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
        if len(content) > MAX_CONFIG_BYTES:
            what = f"is larger than {MAX_CONFIG_BYTES:,} bytes"
            raise InputError([faults.BAD_CONFIG_FILE.at(str(path), what)])
        data = json.loads(content.decode("utf-8"))
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise InputError(
            [faults.BAD_CONFIG_FILE.at(str(path), reason, "Check the path and its rights.")]
        ) from None
    except (ValueError, RecursionError) as error:
        what = f"not JSON: {str(error)[:200]}"
        raise InputError(
            [faults.BAD_CONFIG_FILE.at(str(path), what, "Correct the JSON.")]
        ) from None
    if not isinstance(data, dict):
        raise InputError([faults.BAD_CONFIG_FILE.at(str(path), "not an object")])
    return data
