"""The third question: is what the engine would register what the plan decided?

Resources as Pulumi holds them, of a running engine or of an exported state, and resources
as the plan wants them become the same plain rows: a type, what identifies the thing in the
real world, every property as one field, and the texts in which a secret could stand. Rules
compare the rows and never see Pulumi.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from planner.base import Frozen
from planner.policy.document import NO_TERMS, Terms, head, plain
from planner.policy.leaves import SECRET, Leaf, leaves_of

IDENTITY: Mapping[str, tuple[str, ...]] = {
    "azure-native:cognitiveservices:Account": ("accountName",),
    "azure-native:cognitiveservices:Deployment": ("accountName", "deploymentName"),
    "azure-native:containerservice:AgentPool": ("resourceName", "agentPoolName"),
    "aws:bedrock/provisionedModelThroughput:ProvisionedModelThroughput": ("provisionedModelName",),
    "aws:bedrock/inferenceProfile:InferenceProfile": ("name",),
    "aws:eks/nodeGroup:NodeGroup": ("clusterName", "nodeGroupName"),
    "gcp:container/nodePool:NodePool": ("project", "location", "cluster", "name"),
    "gcp:projects/service:Service": ("project", "service"),
    "gcp:monitoring/alertPolicy:AlertPolicy": ("project", "displayName"),
}
"""Properties that name a thing outside of Pulumi; others go by their name in the program."""

PROVIDER_FIELDS = {"kubernetes": "clusterIdentifier", "aws": "region"}
"""What a provider settles about everything made through it: the cluster, the region."""

WORKLOAD_FIELDS = (
    "tags.workload",
    "userLabels.workload",
    "metadata.labels.llm-capacity.dev/workload",
)
"""Where a resource says which workload it is for."""

# Names are the identity; Pulumi's own label comes and goes with the way of applying.
_NOT_COMPARED = re.compile(
    r"apiVersion|kind|metadata\.(name|namespace)|status(\..*)?"
    r"|metadata\.labels\.app\.kubernetes\.io/managed-by"
)
_ON_THE_WAY_TO_PODS = frozenset(
    {
        "args",
        "chart",
        "command",
        "containers",
        "image",
        "initContainers",
        "jobTemplate",
        "limits",
        "requests",
        "resourceClaims",
        "resources",
        "spec",
        "template",
        "values",
    }
)
_LISTS_OF_PODS = frozenset(
    {"args", "command", "containers", "initContainers", "limits", "requests", "resourceClaims"}
)
_ASKS = frozenset({"limits", "requests"})
_VERSION = re.compile(r"(^|/|_)v\d[0-9a-z]*$")


class RawResource(NamedTuple):
    """A resource as the engine or a state file has it; ``provider`` is its provider's inputs."""

    urn: str
    type: str
    name: str
    properties: Mapping[str, Any]
    provider: Mapping[str, Any] | None = None


class Text(Frozen):
    """A string in which a secret could stand; None where it is marked or not known."""

    path: str
    place: str
    name: str | None
    text: str | None
    state: str


class Row(Frozen):
    """A resource as rules see it.

    ``identity`` is None when it is not known before the change. ``fields`` maps paths to
    scalars, ``unknown`` lists the paths whose value is not known yet. ``asks`` are the
    resources that its containers ask for, ``runs`` what they run; ``opaque`` says that some
    of these cannot be read.
    """

    type: str
    identity: str | None
    subject: str
    workload: str | None
    fields: dict[str, Any]
    urn: str
    unknown: tuple[str, ...]
    asks: tuple[str, ...]
    runs: tuple[str, ...]
    opaque: bool
    texts: tuple[Text, ...]


class PlannedRow(Frozen):
    """A resource as the plan wants it.

    ``free`` fields may have any value or none, ``optional`` ones the plan's or none;
    ``scope`` is what a waiver may name of the workload's option, such as its model.
    """

    type: str
    identity: str
    subject: str
    workload: str | None
    fields: dict[str, Any]
    free: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    scope: dict[str, str] = Field(default_factory=dict)


def row_of(raw: RawResource) -> Row:
    """Return the row of a resource; whatever cannot be read in it counts as unknown."""
    base = base_type(raw.type)
    package = base.partition(":")[0]
    leaves = list(leaves_of(raw.properties))
    compared = [leaf for leaf in leaves if not _NOT_COMPARED.fullmatch(leaf.path)]
    if package in PROVIDER_FIELDS:
        settled = PROVIDER_FIELDS[package]
        # A resource that names its own region goes there, whatever its provider says.
        given = raw.properties.get(settled) or (raw.provider or {}).get(settled)
        compared = [leaf for leaf in compared if leaf.path != settled]
        compared += leaves_of({settled: given}, "provider")
    fields = {
        leaf.path: SECRET if leaf.state == "secret" else leaf.value
        for leaf in compared
        if leaf.state != "unknown"
    }
    return Row(
        type=base,
        identity=_identity(base, raw),
        subject=f"{raw.type}::{raw.name}",
        workload=next((str(fields[path]) for path in WORKLOAD_FIELDS if path in fields), None),
        fields=fields,
        urn=raw.urn,
        unknown=tuple(sorted(leaf.path for leaf in compared if leaf.state == "unknown")),
        asks=tuple(sorted({leaf.keys[-1] for leaf in leaves if _is_ask(leaf)})),
        runs=tuple(sorted({str(leaf.value) for leaf in leaves if _is_run(leaf)})),
        opaque=any(leaf.state != "plain" and _may_hide_pods(leaf) for leaf in leaves),
        texts=tuple(_texts(leaves, base)),
    )


def planned_row(
    raw: RawResource,
    *,
    workload: str | None = None,
    changes: Mapping[str, Any] | None = None,
    free: Sequence[str] = (),
    optional: Sequence[str] = (),
    scope: Mapping[str, str] | None = None,
) -> PlannedRow:
    """Return the row that the plan wants, from the resource that it should come out as.

    ``changes`` are fields as the plan itself has them, whatever ``raw`` says.
    """
    row = row_of(raw)
    if row.identity is None or row.unknown:
        raise ValueError(f"{row.subject}: a plan holds plain values")
    fields = row.fields | dict(changes or {})
    return PlannedRow(
        type=row.type,
        identity=row.identity,
        subject=row.subject,
        workload=workload,
        fields={path: value for path, value in fields.items() if path not in free},
        free=tuple(sorted(free)),
        optional=tuple(sorted(optional)),
        scope=dict(scope or {}),
    )


def base_type(token: str) -> str:
    """Return a type without the API version in it: one thing has one name.

    ``kubernetes:apps/v1:Deployment`` is ``kubernetes:apps:Deployment``, and a package that
    azure-native makes for one version of a module counts as the module.
    """
    package, _, rest = token.partition(":")
    module, _, kind = rest.rpartition(":")
    if package.startswith("azure-native_"):
        package, module = "azure-native", package.removeprefix("azure-native_")
    return f"{package}:{_VERSION.sub('', module)}:{kind}"


def resources_document(
    planned: Sequence[PlannedRow],
    resources: Sequence[Row],
    *,
    stack: str,
    as_of: dt.date,
    evaluated_at: dt.datetime,
    complete: bool,
    terms: Terms = NO_TERMS,
) -> dict[str, Any]:
    """Return the question about resources; ``complete`` says that these are the whole stack."""
    return {
        **head("resources", stack, as_of, evaluated_at, terms),
        "complete": complete,
        "planned": [_exact(row) for row in planned],
        "resources": [_exact(row) for row in resources],
    }


def _exact(row: Row | PlannedRow) -> dict[str, Any]:
    document: dict[str, Any] = plain(row)
    return document


def _identity(base: str, raw: RawResource) -> str | None:
    """Return what names the thing for its provider; None when that is not known yet."""
    if base.startswith("kubernetes:") and isinstance(raw.properties.get("metadata"), Mapping):
        metadata = raw.properties["metadata"]
        # Clusters of one stack have namespaces and classes of the same names.
        cluster = (raw.provider or {}).get(PROVIDER_FIELDS["kubernetes"], "")
        parts = [cluster, metadata.get("namespace", ""), metadata.get("name", "")]
    elif base in IDENTITY:
        parts = [raw.properties.get(name, "") for name in IDENTITY[base]]
    else:
        parts = [raw.name]
    known = [leaf for part in parts for leaf in leaves_of(part)]
    if any(leaf.state != "plain" for leaf in known):
        return None
    return "/".join(str(leaf.value) for leaf in known if leaf.value != "") or None


def _is_ask(leaf: Leaf) -> bool:
    """Tell whether a leaf is a container's request or limit, or a claim to a device."""
    return len(leaf.keys) > 1 and (
        leaf.keys[-2] in _ASKS or "resourceClaims" in leaf.keys[:-1] or "claims" in leaf.keys[-3:-1]
    )


def _is_run(leaf: Leaf) -> bool:
    """Tell whether a leaf says what runs: an image, a chart, a word of a command."""
    if leaf.state != "plain" or not isinstance(leaf.value, str):
        return False
    return leaf.keys[-1:] in (("image",), ("chart",)) or _is_word(leaf)


def _is_word(leaf: Leaf) -> bool:
    return len(leaf.keys) > 1 and leaf.keys[-2] in ("command", "args")


def _may_hide_pods(leaf: Leaf) -> bool:
    """Tell whether what cannot be read could be containers, what they run or ask for."""
    last, holder = ("", "", *leaf.keys)[-1], ("", "", *leaf.keys)[-2]
    return not leaf.keys or last in _ON_THE_WAY_TO_PODS or holder in _LISTS_OF_PODS


def _texts(leaves: Sequence[Leaf], base: str) -> Iterator[Text]:
    for leaf in leaves:
        if leaf.state != "plain" or isinstance(leaf.value, str):
            place, name = _place(leaf, base)
            yield Text(path=leaf.path, place=place, name=name, text=leaf.value, state=leaf.state)


def _place(leaf: Leaf, base: str) -> tuple[str, str | None]:
    """Return where a text stands, and the name that it has there."""
    keys = leaf.keys
    if len(keys) > 2 and keys[-3] == "env" and keys[-1] == "value":
        return "env", keys[-2]
    if _is_word(leaf):
        return "args", keys[-1] if keys[-1].startswith("--") else None
    if base == "kubernetes:core:Secret" and keys[:1] in (("data",), ("stringData",)):
        return "secret", keys[-1]
    if base == "kubernetes:core:ConfigMap" and keys[:1] in (("data",), ("binaryData",)):
        return "config", keys[-1]
    return "property", keys[-1] if keys else None
