"""Blast radius: what will be made, resized, replaced or destroyed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from planner.canonical import plain
from planner.capacity import COMMITTED_FIELDS, Resources
from planner.comparing.types import Action, BlastRadius, BlastRow
from planner.diff import scale_down_warnings

Key = tuple[str, ...]
Kind = Literal["account", "node pool", "server", "deployment", "purchase", "cluster"]


class _Terms(NamedTuple):
    """How rows of one kind are told apart, and which changes are more than an update.

    ``replacing`` are fields that no provider changes in place: another value is another thing.
    """

    kind: Kind
    rows: str
    key: tuple[str, ...]
    replacing: tuple[str, ...]
    sizes: tuple[str, ...]
    covered: tuple[str, ...] = ()
    """The fields that count, all where none are named."""


_KINDS = (
    _Terms("account", "accounts", ("provider", "name"), ("region", "account_id"), ()),
    _Terms("cluster", "sites", ("name",), (), ()),
    _Terms(
        "node pool",
        "node_pools",
        ("cluster", "name"),
        ("cloud", "region", "kind", "instance", "accelerator", "gpus_per_node", "zones", "spot"),
        ("min_nodes", "max_nodes"),
    ),
    _Terms("server", "servers", ("cluster", "name"), ("namespace",), ("replicas", "scaling")),
    _Terms(
        "deployment",
        "deployments",
        ("provider", "account", "name"),
        ("kind", "model", "deployment_type", "region", "resource_group"),
        ("capacity",),
    ),
    _Terms(
        "purchase",
        "purchases",
        ("workload", "provider", "account", "deployment_type", "unit"),
        ("region", "model", "model_id", "term_months"),
        ("units",),
        COMMITTED_FIELDS,
    ),
)


def blast_radius(old: Resources, new: Resources) -> BlastRadius:
    """Return what going from ``old`` to ``new`` does, gravest first, and what it cannot undo."""
    before, after = plain(old), plain(new)
    rows = [
        row
        for terms in _KINDS
        for row in _rows(terms, _by_key(terms, before), _by_key(terms, after))
    ]
    order = ("destroy", "replace", "resize", "update", "create")
    return BlastRadius(
        rows=tuple(sorted(rows, key=lambda row: (order.index(row.action), row.kind, row.name))),
        warnings=tuple(scale_down_warnings(old, new)),
    )


def _by_key(terms: _Terms, resources: Mapping[str, Any]) -> dict[Key, dict[str, Any]]:
    found: dict[Key, dict[str, Any]] = {}
    for row in resources[terms.rows]:
        kept = {name: row[name] for name in terms.covered} if terms.covered else row
        key = tuple(str(row[name]) for name in terms.key)
        # Rows of one name are numbered: none hides another.
        number = 2
        while key in found:
            key = (*key[: len(terms.key)], str(number))
            number += 1
        found[key] = kept
    return found


def _rows(
    terms: _Terms, old: Mapping[Key, dict[str, Any]], new: Mapping[Key, dict[str, Any]]
) -> Iterator[BlastRow]:
    for key in sorted({*old, *new}):
        name = "/".join(key)
        if key not in new:
            yield BlastRow(action="destroy", kind=terms.kind, name=name)
        elif key not in old:
            yield BlastRow(action="create", kind=terms.kind, name=name, what=_made(new[key]))
        elif old[key] != new[key]:
            fields = sorted(
                field
                for field in {*old[key], *new[key]}
                if old[key].get(field) != new[key].get(field)
            )
            yield BlastRow(
                action=_action(terms, key, fields),
                kind=terms.kind,
                name=name,
                what=", ".join(_change(field, old[key], new[key]) for field in fields),
            )


def _action(terms: _Terms, key: Key, fields: list[str]) -> Action:
    replacing = set(terms.replacing)
    if terms.kind == "deployment" and key[0] == "aws":
        # Every change of a Bedrock purchase makes new units: see planner.diff.
        replacing |= {"model_arn", "term_months", "capacity"}
    if replacing & set(fields):
        return "replace"
    return "resize" if set(terms.sizes) & set(fields) else "update"


def _made(row: Mapping[str, Any]) -> str:
    """Return what is made, by the fields that people know it by."""
    known = ("instance", "model", "deployment_type", "region", "capacity", "replicas", "max_nodes")
    return ", ".join(f"{name} {row[name]}" for name in known if row.get(name) is not None)


def _change(field: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    before, after = old.get(field), new.get(field)
    scalar = (str, int, float, bool, type(None))
    if isinstance(before, scalar) and isinstance(after, scalar):
        return f"{field} {_said(before)} to {_said(after)}"
    return field


def _said(value: object) -> str:
    return "none" if value is None or value == "" else str(value)
