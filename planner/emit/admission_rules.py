"""What the guard on a cluster refuses: one rule of CEL each, with its reason in words."""

from __future__ import annotations

from planner.emit.admission_cel import REGION_LABEL, Guarded, Rule, names_of, text
from planner.emit.labels import (
    CLASSIFICATION_LABEL,
    POOL_LABEL,
    TIER_LABEL,
    WORKLOAD_LABEL,
)
from planner.emit.pool_terms import SPOT_TAINT

_PINNED = "^[^@]+@sha256:[0-9a-f]{64}$"
_TRUST = "(?i)trust[-_]remote[-_]code"
_DISTRUST = "--no-trust-remote-code"


def rules_of(guarded: Guarded) -> tuple[Rule, ...]:
    """Return the rules in the order in which they are told."""
    return (*_placement(guarded), *_supply(guarded))


def _concerned(expression: str, *needed: str) -> str:
    """Return a rule for what the guard is about; where ``needed`` fails, another rule speaks."""
    unless = " || ".join(f"!variables.{name}" for name in ("concerned", *needed))
    return f"{unless} || {expression}"


def _first(fault: str, told: str) -> str:
    """Return the words about the first pod with a fault."""
    return f"variables.pods.filter(p, {fault}).map(p, {told})[0]"


def _placement(guarded: Guarded) -> tuple[Rule, ...]:
    namespace_fault = "!(p.tier in variables.namespaceTiers[request.namespace])"
    tier_fault = "variables.poolTiers[p.pool] != p.tier"
    region_fault = "!(variables.poolRegions[p.pool] in variables.regions[p.workload])"
    return (
        Rule(
            "!variables.concerned || variables.planned",
            f"what uses GPUs here must carry the labels {WORKLOAD_LABEL}, {TIER_LABEL} and "
            f"{CLASSIFICATION_LABEL} of a workload of the plan",
            '"no workload of the plan has these labels: " + variables.pods.map(p, '
            f"{text(WORKLOAD_LABEL + '=')} + p.workload + {text(', ' + TIER_LABEL + '=')} + p.tier"
            f" + {text(', ' + CLASSIFICATION_LABEL + '=')} + p.classification)"
            '.join("; ") + ". Declare the workload, plan and apply"',
        ),
        Rule(
            _concerned(f"variables.pods.all(p, !({namespace_fault}))", "planned"),
            "each tier has a namespace of its own",
            _first(
                namespace_fault,
                '"tier " + p.tier + " has no place in namespace " + request.namespace',
            ),
        ),
        Rule(
            "!variables.concerned || variables.pooled",
            f"what uses GPUs here must select a pool of the plan by the nodeSelector {POOL_LABEL}",
            # The names stand in the text: CEL goes through a map in any order.
            text(
                f"the nodeSelector {POOL_LABEL} must name a pool of the plan: "
                + ", ".join(sorted(guarded.pool_tiers))
            ),
        ),
        Rule(
            _concerned(f"variables.pods.all(p, !({tier_fault}))", "planned", "pooled"),
            "batch never runs on an interactive pool, nor interactive on a batch pool",
            _first(
                tier_fault,
                '"tier " + p.tier + " may not run on pool " + p.pool + ", which is for "'
                " + variables.poolTiers[p.pool]",
            ),
        ),
        Rule(
            _concerned(f"variables.pods.all(p, !({region_fault}))", "planned", "pooled"),
            "a workload stays inside of its residency",
            _first(
                region_fault,
                '"workload " + p.workload + " (" + p.classification + ") may not be in "'
                ' + variables.poolRegions[p.pool] + ": its residency admits "'
                ' + (variables.regions[p.workload].size() == 0 ? "no pool of the plan"'
                ' : variables.regions[p.workload].join(", "))',
            ),
        ),
        _region_required(),
        Rule(
            _concerned(
                'variables.pods.all(p, p.spec.?priorityClassName.orValue("") == '
                'variables.priorityClasses[?p.tier].orValue("-"))',
                "planned",
            ),
            "a tier's pods carry the PriorityClass of the tier: otherwise the wrong ones give way",
            '"the PriorityClass must be that of the tier: " + variables.pods.map(p, '
            'variables.priorityClasses[?p.tier].orValue("none here")).join(", ")',
        ),
        Rule(
            _concerned(
                'variables.pods.all(p, p.tier == "batch" || !p.spec.?tolerations.orValue([])'
                f'.exists(x, x.?key.orValue("") in ["", {text(SPOT_TAINT)}]))'
            ),
            "only batch runs on nodes that the cloud may take back",
            f"{text(f'only batch may tolerate {SPOT_TAINT}, or every taint')}",
        ),
        Rule(
            # A pod has a node from its scheduling on, which is no creation.
            _concerned(
                '(object.kind == "Pod" && request.operation == "UPDATE")'
                " || variables.pods.all(p, !has(p.spec.nodeName))"
            ),
            "the scheduler places pods: a nodeName passes by every selector",
            text("nodeName must not be set: the scheduler places pods by their selector"),
        ),
    )


def _region_required() -> Rule:
    label = text(REGION_LABEL)
    terms = (
        "p.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
        ".?nodeSelectorTerms.orValue([])"
    )
    selected = f'p.spec.?nodeSelector[?{label}].orValue("") in variables.regions[p.workload]'
    # Terms are alternatives, so each of them has to say it.
    required = (
        f"{terms}.size() > 0 && {terms}.all(m, m.?matchExpressions.orValue([]).exists(e, "
        f'e.key == {label} && e.operator == "In" && '
        "e.values.all(v, v in variables.regions[p.workload])))"
    )
    fault = f"!(({selected}) || ({required}))"
    return Rule(
        _concerned(f"variables.pods.all(p, !({fault}))", "planned"),
        f"pods must require a node whose {REGION_LABEL} is inside of the workload's residency",
        _first(
            fault,
            f'"workload " + p.workload + {text(f" must require {REGION_LABEL} in ")}'
            ' + "[" + variables.regions[p.workload].join(", ") + "]'
            ', by node affinity or nodeSelector"',
        ),
    )


def _supply(guarded: Guarded) -> tuple[Rule, ...]:
    own = f" || i in {names_of(guarded.unpinned_images)}" if guarded.unpinned_images else ""
    images = (
        '(p.containers.map(c, c.?image.orValue("")) + p.spec.?volumes.orValue([])'
        '.filter(v, has(v.image)).map(v, v.image.?reference.orValue("")))'
    )
    pinned = f"i.matches({text(_PINNED)}){own}"
    unpinned = f"{images}.exists(i, !({pinned}))"
    words = (
        "(c.?command.orValue([]) + c.?args.orValue([])"
        " + c.?env.orValue([]).map(e, e.name)"
        ' + c.?env.orValue([]).map(e, e.?value.orValue("")))'
    )
    return (
        Rule(
            _concerned(f"variables.pods.all(p, !{unpinned})"),
            "images must be pinned by digest: REPOSITORY@sha256:DIGEST",
            _first(
                unpinned,
                f'"images must be pinned by digest: " + {images}.filter(i, !({pinned})).join(", ")',
            ),
        ),
        Rule(
            _concerned(
                f"variables.pods.all(p, p.containers.all(c, {words}.all(w, "
                f"w == {text(_DISTRUST)} || !w.matches({text(_TRUST)}))))"
            ),
            "no server runs code that came with a model: take out what trusts remote code",
            text("no server runs code that came with a model: take out what trusts remote code"),
        ),
        Rule(
            _concerned(
                "variables.pods.all(p, p.spec.?volumes.orValue([]).all(v, !has(v.hostPath)))"
            ),
            "no hostPath: a node's disk is shared by workloads of every classification",
            text("no hostPath: a node's disk is shared by workloads of every classification"),
        ),
    )
