"""E4xx: models as they are served, and what cannot serve at all."""

from planner.errors import EXIT_INFEASIBLE, Code

NO_SHAPE = Code(
    "E401",
    "no shape of this model is known",
    "the name of the model",
    "Use a model whose shape is known, or give its config.json.",
    "Weights and KV cache are computed from the model's layers; without them no size is known.",
)
BAD_CONFIG_FILE = Code(
    "E402",
    "a model's config.json cannot be read",
    "the file",
    "Give a model's config.json.",
    "The file is that of the model's repository, one JSON object.",
)
BAD_CONFIG = Code(
    "E403",
    "a field of a model's config.json is missing or malformed",
    "the model and the field",
    "Correct the model's config.json.",
    "A field that is guessed would be memory that is not there.",
)
UNKNOWN_ARCHITECTURE = Code(
    "E404",
    "the model's architecture is not understood",
    "the model",
    "Choose a model of a type that the message names.",
    "Every family caches keys and values in its own way; for one that is not known no KV cache "
    "is computed.",
)
UNKNOWN_QUANTISATION = Code(
    "E405",
    "the model's quantisation is not understood",
    "quantization_config of the model",
    "Choose weights in a format that the message names.",
    "The bytes of a weight follow from the format and its exceptions.",
)
REQUEST_TOO_LONG = Code(
    "E410",
    "a request can never be admitted",
    "the request",
    "Shorten the prompt or the answer, or raise the server's longest context.",
    "An engine that can never hold a request refuses it at once; it is not queued.",
    EXIT_INFEASIBLE,
)
NOTHING_SERVES = Code(
    "E411",
    "no admissible option meets the demand and the objectives of a workload",
    "the stack, with a line for each workload",
    "Change what the workload's line names: the nearest options are listed with what they lack.",
    "Policies are asked before prices: what they bar is not among the options that are left.",
    EXIT_INFEASIBLE,
)
