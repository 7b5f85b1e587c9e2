"""What the rules about options read, as the manifest says it, rule by rule."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, Self, get_args

from planner import faults
from planner.errors import PolicyUnavailable

Whole = Literal["none", "pinned", "all"]


@dataclass(frozen=True)
class Fields:
    """Fields of an option, of its spill target and of its workload.

    ``workload`` among an option's is the name of its workload, which counts only where the
    rest of the question mentions it, as an agreement may. ``whole`` says which options the
    rules must see as they are: none, those that are pinned, as pins are compared with one
    another, or all.
    """

    option: tuple[str, ...] = ()
    spill: tuple[str, ...] = ()
    workload: tuple[str, ...] = ()
    whole: Whole = "none"

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the fields of a rule of the manifest: all, if it does not say."""
        stated = row.get("reads")
        if stated is None:
            return cls(whole="all")
        parts = ("option", "spill", "workload")
        if not set(parts) <= set(stated) <= {*parts, "whole"}:
            raise ValueError(f"reads of {row.get('id')} must name {', '.join(parts)}")
        if (whole := stated.get("whole", "none")) not in get_args(Whole):
            raise ValueError(f"{row.get('id')} reads {whole!r} whole")
        option, spill, workload = (tuple(map(str, stated[part])) for part in parts)
        return cls(option, spill, workload, whole)

    @classmethod
    def union(cls, several: Iterable[Fields]) -> Self:
        """Return every field of ``several``, which need not be seen whole."""
        rows = [(fields.option, fields.spill, fields.workload) for fields in several]
        option, spill, workload = (
            tuple(sorted({*chain(*part)})) for part in zip(*rows, strict=True)
        )
        return cls(option, spill, workload)

    @property
    def named(self) -> bool:
        """Whether the name of the workload is among them."""
        return "workload" in self.option

    def of_option(self, option: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is read of an option, absent fields left absent."""
        part = _part(option, self.option)
        if isinstance(spill := part.get("spill"), Mapping):
            part["spill"] = _part(spill, self.spill)
        return part

    def of_workload(self, workload: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is read of a workload, absent fields left absent."""
        return _part(workload, self.workload)


@dataclass(frozen=True)
class Reads:
    """The rules of stage ``options`` by the fields that they read."""

    rules: Mapping[Fields, tuple[str, ...]]

    @classmethod
    def of_manifest(cls, content: bytes) -> Reads | None:
        """Return what a manifest says that its rules read; None when no rule says it."""
        try:
            rows = [row for row in json.loads(content)["rules"] if "options" in row["stages"]]
            rules: dict[Fields, tuple[str, ...]] = {}
            for row in rows:
                fields = Fields.of_row(row)
                rules[fields] = (*rules.get(fields, ()), str(row["id"]))
        except (KeyError, TypeError, ValueError) as error:
            what = f"it does not say what its rules read ({error})"
            raise PolicyUnavailable(
                faults.DAMAGED_POLICIES.at("rule manifest", what, "Correct `reads`.")
            ) from error
        return cls(rules) if any("reads" in row for row in rows) else None


def _part(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names if name in row}
