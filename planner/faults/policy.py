"""E5xx: the policy engine, the policies, their verdicts, and waivers."""

from planner.errors import EXIT_DENIED, EXIT_POLICY_UNAVAILABLE, Code

OPA_MISSING = Code(
    "E501",
    "no policy engine is installed",
    "policy engine",
    "Install Open Policy Agent 1.21.3 or later on PATH (`llm-capacity setup` and `llm-capacity "
    "env` bring it), or set "
    "policy.url to a central server.",
    "Nothing is planned without an answer of the policies.",
    EXIT_POLICY_UNAVAILABLE,
)
OPA_TOO_OLD = Code(
    "E502",
    "the policy engine is too old, or hides its version",
    "policy engine",
    "Install Open Policy Agent 1.21.3 or later.",
    "Before 1.21.3 the check of a bundle's signature could be bypassed (GHSA-g2pf-6v5v-qcc8).",
    EXIT_POLICY_UNAVAILABLE,
)
OPA_FAILED = Code(
    "E503",
    "the local policy engine did not start or did not end",
    "policy engine, with what it said",
    "Run again; if it stays, correct what the engine's own words name.",
    "A local engine is started for each run on a free port of this machine.",
    EXIT_POLICY_UNAVAILABLE,
)
POLICIES_FAIL_CHECK = Code(
    "E504",
    "the policies do not pass their own check",
    "policy engine, with the file and line that it names",
    "Correct the Rego at the place named: `opa check --strict policies` says the same.",
    "Policies are checked strictly and with the capabilities of capabilities.json: no rule may "
    "reach the network or the clock.",
    EXIT_POLICY_UNAVAILABLE,
)
NO_ANSWER = Code(
    "E505",
    "the policy engine cannot be reached or refuses to answer",
    "policy engine",
    "Check policy.url, the network and the token; run again.",
    "No answer is never taken for an approval.",
    EXIT_POLICY_UNAVAILABLE,
)
UNUSABLE_ANSWER = Code(
    "E506",
    "the policy engine gave an answer that is incomplete or malformed",
    "policy engine",
    "Check that policy.url is an OPA with these policies and nothing in between.",
    "An answer has to name the rules that were evaluated and every option that was asked about.",
    EXIT_POLICY_UNAVAILABLE,
)
OTHER_POLICIES = Code(
    "E507",
    "the policy engine serves other policies than those that were verified",
    "policy engine",
    "Serve that bundle and no other with a revision, or update policy.bundle.",
    "A signature proves nothing about policies that are not the ones asked.",
    EXIT_POLICY_UNAVAILABLE,
)
BAD_TOKEN = Code(
    "E508",
    "the token for the policy server holds a character that no token has",
    "the environment variable",
    "Set the variable again, without spaces or line ends.",
    "The token itself is never shown.",
    EXIT_POLICY_UNAVAILABLE,
)
BAD_CA_BUNDLE = Code(
    "E509",
    "the file of certificate authorities cannot be used",
    "policy.ca_bundle",
    "Give a PEM file with the certificate of the authority.",
    "A server whose certificate cannot be checked is not asked.",
    EXIT_POLICY_UNAVAILABLE,
)
NO_POLICIES = Code(
    "E510",
    "there are no policies beside the package or in the project",
    "policies",
    "Run from a clone, install a wheel that carries them, or set policy.url.",
    "An installation without policies must not look like one that allows everything.",
    EXIT_POLICY_UNAVAILABLE,
)
DAMAGED_POLICIES = Code(
    "E511",
    "policies or their manifest cannot be used",
    "the folder, the bundle or the file",
    "Restore the file, or build the bundle with `llm-capacity bundle`.",
    "The manifest lists every rule, so that a rule that was lost or slipped in is noticed.",
    EXIT_POLICY_UNAVAILABLE,
)
BAD_SIGNATURE = Code(
    "E512",
    "the signature of the policy bundle does not hold, or nothing verifies it",
    "the bundle, or the settings below policy",
    "Use the bundle as it was signed with the key that belongs to it, or sign it again.",
    "Key, name of the key and bundle have to agree: half of the settings proves nothing.",
    EXIT_POLICY_UNAVAILABLE,
)
BAD_VERIFICATION_KEY = Code(
    "E513",
    "the key that verifies the policy bundle cannot be used",
    "policy.verification_key",
    "Give the public half of the key as PEM.",
    "A private key is refused: it has no business where bundles are verified.",
    EXIT_POLICY_UNAVAILABLE,
)
BAD_QUESTION = Code(
    "E514",
    "a question that the policy engine must not be asked",
    "policy gate",
    "Report it: options and question come from one run and have to agree.",
    "A verdict that belongs to no option, or to two, is nobody's.",
    EXIT_POLICY_UNAVAILABLE,
)
POLICY_FILE = Code(
    "E517",
    "a file of the policy settings cannot be read",
    "the setting below policy",
    "Check the path, and that it names that file.",
    "Nothing is asked of policies whose bundle or key is not there.",
    EXIT_POLICY_UNAVAILABLE,
)
CANNOT_TELL = Code(
    "E515",
    "the policies could not tell whether the plan is allowed",
    "the stack, with a line for each finding",
    "Declare what the finding names, or correct its spelling.",
    "A question without an answer, such as a regime that no rule knows, bars the plan as a "
    "denial does.",
    EXIT_POLICY_UNAVAILABLE,
)
BAD_OWNERS = Code(
    "E516",
    "the list of waivable rules or of waiver approvers cannot be used",
    "the file among the policies",
    "Correct the file that the message names.",
    "Without it no waiver can be verified, and an unverified one must not count.",
    EXIT_POLICY_UNAVAILABLE,
)
DENIED = Code(
    "E520",
    "the policies deny the plan",
    "the stack, with a line for each finding",
    "Follow the remedy of each finding, or have the rule waived where it can be (docs/waivers.md).",
    "Each finding names its rule, what was observed and expected, and the clause behind it; "
    "docs/policies has a page for each rule.",
    EXIT_DENIED,
)
STATE_DENIED = Code(
    "E521",
    "what runs is not what the stack's plan allows",
    "the stack, with the findings",
    "Remove or change the resources named, or plan again and have that plan approved.",
    "An audit holds the exported state against today's plan, resource by resource.",
    EXIT_DENIED,
)
BAD_WAIVER = Code(
    "E530",
    "a waiver file cannot be read",
    "the file",
    "Correct it as docs/waivers.md describes, or remove it.",
    "A waiver that cannot be read counts for nothing, and is not skipped in silence.",
)
BAD_REVIEWS = Code(
    "E531",
    "the Git host's reviews cannot be read",
    "the file of --reviews, with the key",
    "Give the reviews as docs/waivers.md describes.",
    "Reviews say who approved a waiver; an unreadable list approves nothing.",
)
UNKNOWN_ROLE = Code(
    "E532",
    "the project's owner list names a role by which no rule may be waived",
    "policies/waivers/owners.yaml, with line and key",
    "Use a role of a rule's `waivable_by` (docs/policies names them).",
    "The list says who holds a role; which role may waive a rule is for the rule to say.",
)
BAD_PROJECT_OWNERS = Code(
    "E533",
    "the project's owner list names somebody twice, or a key that verifies nothing",
    "policies/waivers/owners.yaml, with line and key",
    "Correct the row that the message names (docs/waivers.md).",
    "One person under two names could ask as the first and approve as the second.",
)
SECOND_OWNERS = Code(
    "E534",
    "the project has an owner list beside policies that bring their own",
    "policies/waivers/owners.yaml",
    "Remove the file, or name its approvers in the policies.",
    "Who answers for the policies has said who may waive them, or signed that nobody may.",
)
