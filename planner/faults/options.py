"""E2xx: options and arguments of a command."""

from planner.errors import EXIT_INFEASIBLE, Code

NO_PROJECT = Code(
    "E201",
    "the project's folder is not there",
    "--root",
    "Name the project's folder: the one with stacks/ in it.",
    "Without --root it is the folder that the command is run in.",
)
BAD_STACK_NAME = Code(
    "E202",
    "a name that no stack can have",
    "--stack",
    "Use up to 100 letters, digits, dots, hyphens and underscores.",
    "The name becomes part of file names and of object names.",
)
NO_SUCH_STACK = Code(
    "E203",
    "there is no such stack",
    "the name of the stack",
    "Use one of the stacks that the message names, or create its folder in stacks/.",
    "A stack is a folder in stacks/, by its own name or by llm-capacity:folder of its Pulumi "
    "configuration.",
)
BAD_TIME = Code(
    "E204",
    "a time that cannot be read, or outside of the years 2000 to 2199",
    "--at",
    "Write 2026-11-29 or 2026-11-29T12:00Z.",
    "Waivers are judged at this moment; equal inputs and an equal moment give an equal plan.",
)
NO_SUCH_WORKLOAD = Code(
    "E205",
    "the stack has no such workload",
    "the argument that names the workload",
    "Use one of the workloads that the message names.",
    "A workload's name is that in its file, not the file's own.",
)
BAD_BASELINE = Code(
    "E206",
    "the plan to compare with is another stack's or of another version, or cannot be read",
    "--baseline, or the path that it names",
    "Give the plan.json of an earlier run of this version.",
    "The plan in force says what shrinks, what is replaced and which protection is lowered; a "
    "comparison with half a plan would hide it.",
)
BAD_NUMBER = Code(
    "E207",
    "an option's number is malformed or outside its range",
    "the option",
    "Give a number within the range; the message names the nearest.",
    "The ranges are those in which the published figures hold.",
)
OPTION_MISPLACED = Code(
    "E208",
    "an option that does not apply here",
    "the option",
    "Leave the option out, or use it where the message says.",
    "An option that changes nothing would let a wrong figure look considered.",
)
BAD_CHOICE = Code(
    "E209",
    "an option's value is none that is supported",
    "the option",
    "Use one of the values that the message names.",
    "`llm-capacity COMMAND --help` lists the choices of every option.",
)
NO_FIGURES = Code(
    "E210",
    "the provider publishes no figures for this, and none are given",
    "the option that would name or replace them",
    "Choose one with figures, or give those that your account manager quotes.",
    "A throughput that nobody publishes is never estimated: it is the user's input.",
)
BAD_POLICY_URL = Code(
    "E211",
    "the address of the policy server cannot be used",
    "policy.url",
    "Write https://HOST[:PORT], without credentials, path or query.",
    "A decision rests on the answer of this server; plain http is for this machine only.",
)
BAD_BUNDLE_OPTION = Code(
    "E212",
    "a key or a path for signing a bundle cannot be used",
    "--key, --key-id or --out",
    "Give a private key in PEM, a name for it, and a file that may be written.",
    "A signed bundle proves which policies were asked, as long as its key is that of the "
    "policies' owner.",
)
FOREIGN_FOLDER = Code(
    "E213",
    "the folder to write holds files that are not of an earlier render",
    "the folder",
    "Name another folder, or empty this one yourself.",
    "A render replaces the whole folder; what somebody else put there is never deleted.",
)
NOT_SET_UP = Code(
    "E214",
    "the tools beside Python are not set up",
    "set-up",
    "Run `llm-capacity setup`; in a clone of the project `make setup`.",
    "pulumi, opa and the plugins are found or built once, and kept for later clones.",
)
NO_SUCH_CODE = Code(
    "E215",
    "there is no error with this code",
    "the argument CODE",
    "Use a code of `llm-capacity errors`.",
    "Codes are never given to another kind of error, so one from an old log still means the same.",
)
QUOTA_TOO_SMALL = Code(
    "E216",
    "the quota does not allow the units that the load needs",
    "--quota",
    "Ask the provider for more quota, or lower the load.",
    "Units are bought in steps and from a minimum on: the size is the smallest that carries the "
    "load.",
    EXIT_INFEASIBLE,
)
WOULD_OVERWRITE = Code(
    "E217",
    "a file of the new stack is there already",
    "the file",
    "Name another --stack or another --root, or remove the file yourself.",
    "`llm-capacity init` writes everything or nothing, and nothing over what is there.",
)
NO_REPORT_EXTRA = Code(
    "E218",
    "what draws the report is not installed",
    "report, or --format html",
    'Run `pip install "llm-capacity[report]"`.',
    "The charting libraries are large, and every other command works without them.",
)
NO_SUCH_NUMBER = Code(
    "E219",
    "the workload has no number of this name",
    "the argument NUMBER",
    "Use a name that `llm-capacity explain WORKLOAD --numbers` lists.",
    "Which numbers there are follows from what was chosen: only own machines have a KV cache.",
)
