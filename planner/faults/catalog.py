"""E3xx: names of the catalog, and the catalog's own files."""

from planner.errors import Code

UNKNOWN_NAME = Code(
    "E301",
    "a name that the catalog does not have",
    "file, line and key, or the option",
    "Use a name of the catalog, as `llm-capacity catalog` lists it.",
    "Prices, places and throughputs are looked up by name; an unknown one has no price and no "
    "place, so that nothing is planned with it.",
)
UNKNOWN_JURISDICTION = Code(
    "E302",
    "neither a country nor a group of countries",
    "file, line and key",
    "Use ISO 3166-1 alpha-2 codes, or a group of the catalog.",
    "Residency is decided country by country, so that UK (for GB) or EUROPE cannot be guessed.",
)
NOT_OFFERED = Code(
    "E303",
    "the provider does not offer this deployment type in this region",
    "file, line and key",
    "Choose a type that the region offers.",
    "Global types exist in the public cloud only, types of a zone in its regions only.",
)
AMBIGUOUS_NAME = Code(
    "E304",
    "a short name that means several things",
    "the name",
    "Write the full name, with its publisher.",
    "Models of several publishers share short names.",
)
CATALOG_FILE = Code(
    "E310",
    "a file of the catalog is missing or cannot be read as a table",
    "the catalog's file and line",
    "Restore the file, or correct it as docs/contributing-catalog.md describes.",
    "Every fact is a row of these files, with its source and date.",
)
CATALOG_ROW = Code(
    "E311",
    "a row of the catalog is malformed",
    "the catalog's file and line",
    "Correct the row; docs/contributing-catalog.md says what a column means.",
    "A row that cannot be read is a fact that is missing; nothing is planned on the rest.",
)
CATALOG_REFERENCE = Code(
    "E312",
    "a row of the catalog names what no other row has",
    "the catalog's file and line",
    "Use the name of an existing row, or add that row.",
    "Tables refer to each other by name: prices to models, models to providers, zones to regions.",
)
CATALOG_TWICE = Code(
    "E313",
    "two rows of the catalog say the same thing, or claim one name",
    "the catalog's file and line",
    "Keep one of the two.",
    "Of two prices for one thing neither is known to be right.",
)
CATALOG_CONTRADICTION = Code(
    "E314",
    "rows of the catalog contradict each other",
    "the catalog's file and line",
    "Correct the row that its source does not support.",
    "A price without a unit, a place outside of its own zone, a throughput of zero.",
)
