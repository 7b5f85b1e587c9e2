"""E6xx: approvals, records, archives and states: what a plan is held against."""

from planner.errors import EXIT_DIFFERS, Code

BAD_APPROVAL = Code(
    "E601",
    "there is no approval to hold the run against, or it is of another plan",
    "the file",
    "Write it with `llm-capacity approval`, or name it with --approval.",
    "An approval names a plan by its capacity digest, and what was previewed by its own.",
)
BAD_UPDATE_PLAN = Code(
    "E602",
    "an update plan or a state of Pulumi cannot be read",
    "the file",
    "Give the file that `pulumi preview --save-plan` or `pulumi stack export` wrote.",
    "Only what is digested can be approved; a file that lacks its resources has no digest.",
)
PLAN_DIFFERS = Code(
    "E603",
    "the plan is not the one that was approved",
    "the stack, with a line for each difference",
    "Approve the new digest, or restore what changed.",
    "Catalog, policies, demand or declared files have changed since; nobody has agreed to this "
    "plan.",
    EXIT_DIFFERS,
)
NOT_APPROVED = Code(
    "E609",
    "a change of a stack that requires an approval, and no approval is named",
    "the stack",
    "Have the plan approved, and name its capacity digest in the stack's configuration.",
    "With policy.approval: required, leaving the digest out opens nothing; a preview goes without.",
    EXIT_DIFFERS,
)
PLAN_UNREADABLE = Code(
    "E604",
    "a plan that was written earlier cannot be read",
    "the file, and the field where there is one",
    "Give the plan.json that an earlier run wrote to out/STACK/, as it was written.",
    "A plan that is cut short or was edited no longer says what was decided; its evidence digest "
    "tells.",
)
PLAN_TOO_NEW = Code(
    "E605",
    "a plan was written by a newer release",
    "the file or the stack",
    "Update llm-capacity, or plan again with this release.",
    "A field that this release does not know may change what the others mean; docs/plan-schema.md "
    "has the rule.",
)
BAD_AGAINST = Code(
    "E606",
    "what the plan is to be compared with cannot be found or read",
    "--against, or the file, revision or stack that it names",
    "Name a plan.json, a Git revision, or `deployed`.",
    "A comparison with something else, or with a part of it, would hide what changes.",
)
BAD_AMOUNT = Code(
    "E607",
    "an amount that a change of cost is held against cannot be read",
    "the option",
    "Write an amount in USD a month, such as 500, or a share of the old cost, such as 10%.",
    "A threshold that is misread lets every change pass.",
)
COST_CHANGED = Code(
    "E608",
    "the cost changes by more than the threshold, or it cannot be told by how much",
    "the stack",
    "Read the difference, and have the change agreed or the threshold changed.",
    "Where a workload has no known cost on a side, the change may be any amount.",
    EXIT_DIFFERS,
)
RECORD_UNREADABLE = Code(
    "E610",
    "a record of decisions, or an archive, cannot be used",
    "the file, or the line given",
    "Name a policy-record.jsonl of this version, or an archive with the files beside it.",
    "A record names its archive, an archive its parts; what is missing or damaged is not "
    "replaced by anything else.",
)
RECORD_BROKEN = Code(
    "E611",
    "the chain of a decision record is broken",
    "the record and its line",
    "Keep the file as it is, and compare it with a copy or with the attestations.",
    "Each record names the one before it: a line that was edited, removed or moved shows.",
    EXIT_DIFFERS,
)
BAD_RECORD_KEY = Code(
    "E612",
    "the key that signs or verifies records cannot be used",
    "the environment variable or the file",
    "Give an ed25519 key in PEM without a passphrase.",
    "The private half signs what is recorded, the public half verifies a replay.",
)
BAD_ATTESTATION = Code(
    "E613",
    "an attestation does not hold",
    "the attestation",
    "Use the attestation as it was written, with the public half of the key that signed it.",
    "An attestation that is malformed or signed by somebody else proves nothing about its record.",
    EXIT_DIFFERS,
)
REPLAY_DIFFERS = Code(
    "E614",
    "a recorded decision does not stand when it is asked again",
    "the decision, with a line for each difference",
    "Find out which of record, archive or policies was changed; keep all three.",
    "The same question to the same policies has the same answer, years later too.",
    EXIT_DIFFERS,
)
BAD_STATE = Code(
    "E620",
    "an exported state cannot be used",
    "the file",
    "Write it with: pulumi stack export --file FILE.",
    "An audit reads version 3 of Pulumi's state, of one stack.",
)
EMPTY_STATE = Code(
    "E621",
    "an exported state that holds nothing",
    "the file",
    "Run `pulumi up` first; if the stack was applied, export its state again.",
    "Nothing is there that could differ from the plan. It is no pass either: a state that was "
    "lost looks the same.",
)
