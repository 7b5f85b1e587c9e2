"""E1xx: the files that a user writes, and any other file that is read or written."""

from planner.errors import EXIT_FAULT, Code

FILE_UNREADABLE = Code(
    "E101",
    "a file or folder is not there or cannot be read",
    "the path, as the file or the option names it",
    "Check the path and its rights.",
    "The operating system's own reason is quoted: no such file, a folder where a file is "
    "expected, no permission.",
)
FILE_UNWRITABLE = Code(
    "E102",
    "a file or folder cannot be written",
    "the path that was to be written",
    "Name a place that you may write to, or give its folder write permission and space.",
    "Results go to out/ below the project's folder, or where --out says. Nothing half-written "
    "is left: files are replaced whole.",
)
FILE_OUT_OF_BOUNDS = Code(
    "E103",
    "a file is larger or deeper than any declared file needs to be",
    "the file",
    "Make the file smaller: split it, write aliases out, or flatten what is nested.",
    "Size, nesting and aliases are bounded before a file is parsed, so that no file can exhaust "
    "the memory of a pipeline.",
)
NOT_YAML = Code(
    "E104",
    "a file is not one well-formed YAML document in UTF-8",
    "file and line",
    "Correct the YAML at that line: indentation, quotes, duplicate keys.",
    "Files are YAML 1.2, one document each. A key that stands twice is refused: which of the "
    "two was meant cannot be known.",
)
NOT_A_MAPPING = Code(
    "E105",
    "a mapping of keys to values is expected",
    "file, line and key",
    "Write lines of the form key: value.",
    "Workload and platform files are mappings at their top; `llm-capacity schema` writes their "
    "schemas for an editor.",
)
UNKNOWN_KEY = Code(
    "E106",
    "a key that no declared file has",
    "file, line and key",
    "Correct the key, or remove it: the keys are listed in docs/configuration.md.",
    "Unknown keys are refused rather than ignored: a misspelt residency would otherwise protect "
    "nothing.",
)
MISSING_KEY = Code(
    "E107",
    "a required key is missing",
    "file, line and key",
    "Add the key.",
    "What has no safe default has to be declared.",
)
WRONG_TYPE = Code(
    "E108",
    "a value of another type is expected",
    "file, line and key",
    "Write a value of the type that the message names.",
    "No value is converted: text that looks like a number stays text.",
)
OUT_OF_RANGE = Code(
    "E109",
    "a value is outside its range",
    "file, line and key",
    "Write a value within the range that the message names.",
    "The range is that of the key's meaning, such as a share from 0 to 1.",
)
NOT_A_CHOICE = Code(
    "E110",
    "a value is none of those that the key takes",
    "file, line and key",
    "Use one of the values that the message names.",
    "The choices are listed with each key in docs/configuration.md.",
)
BAD_NAME = Code(
    "E111",
    "text does not have the form that the key asks for",
    "file, line and key",
    "Write it in the form that the message names (names: a-z, 0-9 and hyphens).",
    "Names become the names of cloud and Kubernetes objects, whose alphabets are small.",
)
BAD_DATE = Code(
    "E112",
    "a value is no date",
    "file, line and key",
    "Write a date as 2026-11-29.",
    "Dates are ISO 8601; a moment is written with its time zone.",
)
INCONSISTENT = Code(
    "E113",
    "a value, or several together, that the declaration does not allow",
    "file, line and key",
    "Correct the value that the message names, so that it holds what is asked for.",
    "Values that contradict each other, such as a p50 above its p95 or two keys of which only one "
    "may stand: which of them was meant is not guessed.",
)
NOT_PLAIN = Code(
    "E114",
    "a value that cannot stand in a declared file",
    "file, line and key",
    "Write plain text, a finite number, true, false, a list or a mapping.",
    "Control characters, infinite numbers, keys that are not text and aliases that contain "
    "themselves would not survive the way to the policy engine unchanged.",
)
HOLDS_SECRET = Code(
    "E115",
    "a file holds what looks like a secret",
    "file, line and key; the value itself is not shown",
    "Remove it and revoke it: what is declared here is copied to plans and records.",
    "What a file has held has been read by others; a secret store is named instead.",
)
DECLARED_TWICE = Code(
    "E116",
    "a name is declared twice",
    "file, line and key",
    "Give each its own name.",
    "Decisions, waivers and orders refer to things by name.",
)
NO_PLATFORM = Code(
    "E117",
    "a stack's folder has no platform.yaml",
    "the folder of the stack",
    "Declare the platform in platform.yaml of that folder.",
    "The platform says where capacity may be: regimes, accounts, clusters, prices as of a date.",
)
NO_WORKLOAD = Code(
    "E118",
    "a stack declares no workload",
    "the folder of the stack",
    "Add a YAML file for each workload.",
    "Every YAML file of the folder besides platform.yaml is one workload.",
)
BAD_STACK_CONFIG = Code(
    "E119",
    "the stack's Pulumi configuration holds a value of ours that cannot be used",
    "stacks/Pulumi.NAME.yaml",
    "Correct the value under the key that the message names.",
    "llm-capacity:folder names a folder in stacks/, llm-capacity:signed-purchases lists digests "
    "of orders.",
)
NOT_DECLARED = Code(
    "E120",
    "a file refers to something that the stack does not declare",
    "file, line and key",
    "Use a name that the stack declares, or declare it.",
    "Accounts, clusters and workloads are referred to by the names that they are declared with.",
)
BAD_TRACE = Code(
    "E121",
    "a trace cannot be used",
    "the trace, with the row where one is at fault",
    "Give a CSV file with a row for each request, spanning a full minute at least.",
    "The demand curve is taken from the trace, minute by minute; docs/configuration.md lists its "
    "columns.",
)
BAD_TRACE_ROW = Code(
    "E122",
    "a row of a trace is malformed",
    "the trace and its line",
    "Correct the row or remove it.",
    "A row that is skipped would be demand that nobody plans for.",
)
MIX_DISAGREES = Code(
    "E123",
    "the stated share of output tokens is not that of the declared or traced lengths",
    "traffic.output_fraction, with file and line",
    "Write the share that the message names, or correct the lengths.",
    "Output tokens cost several times as much as input, so a wrong share is a wrong cost.",
)
RATE_IN_FUTURE = Code(
    "E124",
    "a negotiated rate is dated after the date that the platform plans as of",
    "file and rates[INDEX].date",
    "Move as_of forward, or give the rate that holds on it.",
    "A rate that does not hold yet is never used, and never silently left out.",
)
NO_POLICY_FILE = Code(
    "E125",
    "a file that the platform's policy settings name is not there",
    "platform.yaml and the key below policy",
    "Write a path from the project's folder.",
    "Without its certificate, bundle or key a policy engine cannot be trusted, so that nothing "
    "is asked.",
)
SYSTEM_FAULT = Code(
    "E199",
    "the operating system refused something",
    "the file or the address, where the system names one",
    "Correct what the message names, and run again; report it if nothing is wrong there.",
    "What is raised by the system outside of reading and writing files of the user, such as a "
    "full process table.",
    EXIT_FAULT,
)
