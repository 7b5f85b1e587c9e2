"""The beginning of a rule: it denies everything until its condition is written."""

from __future__ import annotations

import re
from pathlib import Path

from planner.toolchain.progress import SetupError
from tools.rule_pages import Rule, facts_table

_PLACE = re.compile(r"([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*)")
_ID = re.compile(r"[A-Z]+-\d{3}")

_RULE = """\
# METADATA
# title: What holds when the rule is met
# description: What is compared with what, and where the bounds come from.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: {id}
#   severity: high
#   stages: [plan]
#   waivable_by: []
#   remedy: What the reader has to do.
#   citation:
#     document: The document that the rule rests on
#     clause: The clause of it
package llm_capacity.rules.{category}.{name}

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {{
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is not shown to meet {id}", [document.value(decision, "workload")]),
	"observed": {{"owner": document.value(decision, "owner")}},
	"expected": "what the rule asks for",
	"evidence": sprintf("/decisions/%d/owner", [index]),
}}) if {{
	some index, decision in input.decisions
	not shown(decision)
}}

# What is not shown to be right is denied; write here what shows it.
shown(_) := false
"""

_TEST = """\
package llm_capacity_test.{category}.{name}

import data.llm_capacity.rules.{category}.{name} as subject
import data.llm_capacity_test.fixtures

test_allows_what_is_right if {{
	count(subject.findings) == 0 with input as fixtures.planning({{}})
}}

test_denies_what_is_wrong if {{
	found := subject.findings with input as fixtures.planning({{"owner": null}})
	fixtures.verdicts(found) == {{"deny"}}
	fixtures.well_formed(found, "{id}")
}}

test_missing_fields_deny if {{
	found := subject.findings with input as fixtures.planning_without(["owner"])
	fixtures.verdicts(found) == {{"deny"}}
	fixtures.well_formed(found, "{id}")
}}

test_unknown_is_unavailable if {{
	found := subject.findings with input as fixtures.planning({{"owner": 7}})
	fixtures.verdicts(found) == {{"unavailable"}}
	fixtures.well_formed(found, "{id}")
}}
"""

_PAGE = """\
# {id}: {title}

{facts}
## What it checks
What is compared with what, field by field, and what a missing or unknown field means.

## Why
What happens where the rule is not kept.

## Avoid
```
owner: null
```

## Prefer
```
owner: a team that answers
```

## Remedy
What the reader has to do.

## Citation
The document that the rule rests on, the clause of it.

## Exceptions
None. This rule cannot be waived.
"""


def scaffold(place: str, id: str) -> dict[Path, str]:
    """Return the files of a new rule at ``CATEGORY/NAME``, as paths from the project's folder."""
    found = _PLACE.fullmatch(place)
    if found is None:
        raise SetupError(f"{place!r} is no CATEGORY/NAME in lower case, such as cost/budget")
    if not _ID.fullmatch(id):
        raise SetupError(f"{id!r} is no rule id such as RES-001")
    category, name = found.groups()
    file = f"policies/llm_capacity/rules/{category}/{name}.rego"
    rule = Rule(
        id=id,
        title="What holds when the rule is met",
        severity="high",
        stages=("plan",),
        waivable_by=(),
        citation="The document that the rule rests on: The clause of it",
        file=file,
    )
    names = {"id": id, "category": category, "name": name}
    return {
        Path(file): _RULE.format(**names),
        Path(file.replace(".rego", "_test.rego")): _TEST.format(**names),
        Path(f"docs/policies/{id}.md"): _PAGE.format(
            id=id, title=rule.title, facts=facts_table(rule)
        ),
    }
