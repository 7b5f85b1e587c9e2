"""Which flags and metrics a release of vLLM has: one table, data/vllm_releases.yaml.

Everything that names a flag or a metric of vLLM is checked against it, because a removed
flag stops a server from starting and a renamed metric makes an autoscaler blind in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from planner import faults
from planner.base import Frozen
from planner.errors import PlannerError
from planner.workload import Date
from planner.yamlfile import read_yaml

FILE = Path(__file__).parent / "data" / "vllm_releases.yaml"
METRIC = re.compile(r"vllm:[a-z0-9_]+")

Version = Annotated[str, Field(pattern=r"^\d+\.\d+$")]
Release = tuple[int, int]


class Known(Frozen):
    """A release whose flags and metrics were read."""

    release: Version
    source: str
    as_of: Date


class Row(Frozen):
    """A flag or a metric, and the releases that have it."""

    name: str
    since: Version = "0.0"
    removed: Version | None = None
    replaced_by: str | None = None
    default: str | None = None
    source: str
    as_of: Date

    def is_in(self, release: Release) -> bool:
        """Tell whether ``release`` has it."""
        gone = self.removed is not None and release >= parsed(self.removed)
        return parsed(self.since) <= release and not gone


class Table(Frozen):
    """The whole table."""

    releases: tuple[Known, ...]
    flags: tuple[Row, ...]
    metrics: tuple[Row, ...]


class Unknown(NamedTuple):
    """A flag or metric that a release does not have, and what to use in its place."""

    name: str
    instead: str | None


@cache
def table() -> Table:
    """Return the table as read from its file."""
    data = read_yaml(FILE, "emit/data/vllm_releases.yaml").data
    return Table.model_validate(data, strict=False)


def parsed(version: str) -> Release:
    """Return the major and minor number of a release such as 0.33.0."""
    parts = version.removeprefix("v").split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        what = f"{version!r} is not a release number such as 0.33.0"
        raise PlannerError(faults.UNSUPPORTED_RELEASE.at("vLLM version", what)) from None


def known_release(version: str, where: str) -> Release:
    """Return the release of ``version``; raises PlannerError where nobody has read it."""
    release = parsed(version)
    known = [item.release for item in table().releases]
    if release not in {parsed(item) for item in known}:
        what = f"the flags of vLLM {version} are not known here"
        fix = f"Set the cluster's serving.vllm_version to one of: {', '.join(known)}."
        raise PlannerError(faults.UNSUPPORTED_RELEASE.at(where, what, fix))
    return release


def has_flag(flag: str, release: Release) -> bool:
    """Tell whether `vllm serve` of ``release`` takes ``flag``."""
    return any(row.name == flag and row.is_in(release) for row in table().flags)


def unknown_flags(words: list[str], release: Release) -> list[str]:
    """Return the flags among ``words`` that ``release`` does not take, in their order."""
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [flag for flag in flags if not has_flag(flag, release)]


def unknown_metrics(query: str, release: Release) -> Iterator[Unknown]:
    """Yield the metrics of vLLM in a query that ``release`` does not export."""
    rows = {row.name: row for row in table().metrics}
    for name in dict.fromkeys(METRIC.findall(query)):
        # A histogram is asked for by its parts.
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        row = rows.get(name) or rows.get(base)
        if row is None or not row.is_in(release):
            yield Unknown(name, row.replaced_by if row else None)
