"""The words in which the guard's rules are written: tables of the plan, and parts of an object.

Expressions are CEL as API servers from 1.30 on take it. A literal of a list or a map has one
type there, so each table is a map of its own. What an expression cannot read is an error, and
an error refuses the object.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planner.emit.labels import (
    CLASSIFICATION_LABEL,
    GPU_RESOURCE,
    POOL_LABEL,
    TIER_LABEL,
    WORKLOAD_LABEL,
)

REGION_LABEL = "topology.kubernetes.io/region"
_ACCELERATORS = r"^(nvidia\\.com/|amd\\.com/gpu)"
"""Of the resources that policy data governs, those that pools of a plan have."""


@dataclass(frozen=True)
class Guarded:
    """What a cluster's guard knows of the plan.

    Attributes:
        namespaces: the tiers of each namespace.
        tiers: the tier of each self-hosted workload, on whichever cluster.
        classifications: its classification.
        regions: the regions of the plan's pools that its residency admits.
        pool_tiers: the tier of each pool of this cluster.
        pool_regions: its region.
        priority_classes: the PriorityClass of each tier.
        unpinned_images: images that the plan itself runs without a digest.
    """

    namespaces: Mapping[str, tuple[str, ...]]
    tiers: Mapping[str, str]
    classifications: Mapping[str, str]
    regions: Mapping[str, tuple[str, ...]]
    pool_tiers: Mapping[str, str]
    pool_regions: Mapping[str, str]
    priority_classes: Mapping[str, str]
    unpinned_images: tuple[str, ...]


class Rule(NamedTuple):
    """What must hold, why in words, and the words with the object's own values in them."""

    expression: str
    message: str
    told: str


def text(value: str) -> str:
    """Return a string as CEL writes it."""
    return json.dumps(value)


def names_of(values: Collection[str]) -> str:
    """Return names as a list, in their order."""
    return f"[{', '.join(text(value) for value in sorted(values))}]"


def variables_of(guarded: Guarded) -> dict[str, str]:
    """Return the variables of the policy, each of which may use those before it."""
    return {
        "tiers": _table(guarded.tiers),
        "classifications": _table(guarded.classifications),
        "regions": _lists(guarded.regions),
        "poolTiers": _table(guarded.pool_tiers),
        "poolRegions": _table(guarded.pool_regions),
        "namespaceTiers": _lists(guarded.namespaces),
        "priorityClasses": _table(guarded.priority_classes),
        "templates": _TEMPLATES,
        "pods": _PODS,
        "asks": _ASKS,
        "lands": _LANDS,
        # Nothing else is the guard's business.
        "concerned": "variables.asks || variables.lands",
        "planned": (
            "variables.pods.all(p, p.workload in variables.tiers"
            " && p.tier == variables.tiers[p.workload]"
            " && p.classification == variables.classifications[p.workload])"
        ),
        "pooled": "variables.pods.all(p, p.pool in variables.poolTiers)",
    }


def _table(values: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{text(k)}: {text(v)}' for k, v in sorted(values.items()))}}}"


def _lists(values: Mapping[str, Collection[str]]) -> str:
    return f"{{{', '.join(f'{text(k)}: {names_of(v)}' for k, v in sorted(values.items()))}}}"


_GROUP = "dyn(object).spec.leaderWorkerTemplate"

_TEMPLATES = (
    'object.kind == "Pod" ? [dyn(object)]'
    ' : object.kind == "CronJob" ? [dyn(dyn(object).spec.jobTemplate.spec.template)]'
    f' : object.kind == "LeaderWorkerSet" ? [dyn({_GROUP}.workerTemplate)]'
    f" + (has({_GROUP}.leaderTemplate) ? [dyn({_GROUP}.leaderTemplate)] : [])"
    " : [dyn(dyn(object).spec.template)]"
)
"""The pods that the object is or makes: their metadata and specs."""


def _label(key: str) -> str:
    return f't.?metadata.?labels[?{text(key)}].orValue("")'


_PODS = (
    "variables.templates.map(t, {"
    f'"workload": dyn({_label(WORKLOAD_LABEL)}), '
    f'"tier": dyn({_label(TIER_LABEL)}), '
    f'"classification": dyn({_label(CLASSIFICATION_LABEL)}), '
    f'"pool": dyn(t.spec.?nodeSelector[?{text(POOL_LABEL)}].orValue("")), '
    '"containers": dyn(t.spec.containers + t.spec.?initContainers.orValue([])'
    " + t.spec.?ephemeralContainers.orValue([])), "
    '"spec": dyn(t.spec)})'
)
"""What rules read of each pod; an absent label is an empty text."""


def _accelerated(field: str) -> str:
    return f'c.?resources.?{field}.orValue({{}}).exists(k, k.matches("{_ACCELERATORS}"))'


_ASKS = (
    "variables.pods.exists(p, p.spec.?resourceClaims.orValue([]).size() > 0 || "
    f"p.containers.exists(c, {_accelerated('limits')} || {_accelerated('requests')}))"
)
"""Whether a container asks for an accelerator, or the pod claims a device."""

_LANDS = (
    'variables.pods.exists(p, p.pool != "" || p.spec.?tolerations.orValue([]).exists(x, '
    f'x.?key.orValue("") in ["", {text(GPU_RESOURCE)}]))'
)
"""Whether a pod could land on a GPU node without asking for a GPU."""
