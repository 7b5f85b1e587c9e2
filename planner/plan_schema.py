"""The JSON Schema of a plan's file, for editors and for readers in other languages."""

from __future__ import annotations

from typing import Any

from planner.plan import SCHEMA_VERSION, Plan
from planner.plan_reading import DIGESTS


def plan_schema() -> dict[str, Any]:
    """Return the schema of ``plan.json``: the plan's own fields, and the digests beside them."""
    schema = Plan.model_json_schema(mode="serialization")
    sha256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    schema["properties"]["schema_version"] |= {"minimum": 1, "maximum": SCHEMA_VERSION}
    schema["properties"] |= dict.fromkeys(DIGESTS, sha256)
    schema["required"] = sorted({*schema["required"], *DIGESTS})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
