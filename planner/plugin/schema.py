"""The provider's schema, completed: types of all inputs, descriptions, what is required, enums.

The SDK infers a schema from annotations. What it cannot infer is added here from the models
that validate declared files: workloads and platform with every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.declare import json_schemas
from planner.plugin.component import TYPE
from planner.plugin.declared import camel

PREFIX = "llm-capacity:index:"
_SIMPLE = frozenset({"string", "number", "integer", "boolean"})
_RESERVED = {"Provider": "Cloud"}
"""Names that Pulumi keeps for itself, and what stands for them here."""
_VERDICTS = {
    "allow": "Nothing is wrong.",
    "warn": "It may proceed; read the warnings.",
    "deny": "The policy denies it.",
    "unavailable": "The policy could not tell.",
}
_DECISION = {
    "status": "What became of the workload; decided, as others register nothing.",
    "why": "Why this was chosen, in one sentence.",
    "option": "The id of the chosen option.",
    "kind": "Pay-as-you-go, provisioned units or self-hosted.",
    "model": "The chosen model.",
    "provider": "Who provides the capacity.",
    "region": "The region of the capacity.",
    "deploymentType": "The provider's kind of deployment; none where it is self-hosted.",
    "usdPerMonth": "What it costs a month, USD; none where a price is not known.",
}


def completed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inferred schema with everything that it lacks."""
    types = {**schema.get("types", {}), **Types().all()}
    component = schema["resources"][TYPE]
    inputs, outputs = component["inputProperties"], component["properties"]
    inputs = {
        **{key: {**item, **_told(item)} for key, item in inputs.items()},
        "workloads": {
            **_told(inputs["workloads"]),
            "type": "array",
            "items": {"$ref": _ref("Workload"), "plain": True},
            "plain": True,
        },
        "platform": {**_told(inputs["platform"]), "$ref": _ref("Platform"), "plain": True},
        "kubeconfigs": {**inputs["kubeconfigs"], **_told(inputs["kubeconfigs"]), "secret": True},
    }
    outputs = {
        **{key: {**item, **_told(item)} for key, item in outputs.items()},
        "verdict": {**_told(outputs["verdict"]), "$ref": _ref("Verdict")},
        "decisions": {
            **_told(outputs["decisions"]),
            "type": "object",
            "additionalProperties": {"$ref": _ref("Decision")},
        },
    }
    types[f"{PREFIX}Verdict"] = {
        "type": "string",
        "description": "What the policy says of a plan.",
        "enum": [{"name": k.title(), "value": k, "description": v} for k, v in _VERDICTS.items()],
    }
    types[f"{PREFIX}Decision"] = {
        "type": "object",
        "description": "What was chosen for a workload.",
        "properties": {
            key: {"type": "number" if key == "usdPerMonth" else "string", "description": text}
            for key, text in _DECISION.items()
        },
        "required": ["status", "why"],
    }
    whole = {**component, "inputProperties": inputs, "properties": outputs}
    return {
        **schema,
        "displayName": "LLM capacity",
        "description": "Capacity for declared LLM workloads, gated by policy before price.",
        "resources": {TYPE: {**whole, "description": _clean(component["description"])}},
        "types": {name: types[name] for name in sorted(types)},
    }


class Types:
    """The types of workloads and platform, from the JSON Schemas of declared files."""

    def __init__(self) -> None:
        self._types: dict[str, dict[str, Any]] = {}
        self._enums: dict[tuple[str, ...], str] = {}
        self._taken = {"Workload", "Platform", "Verdict", "Decision"}

    def all(self) -> dict[str, dict[str, Any]]:
        """Return every type by its token."""
        schemas = json_schemas()
        self._taken |= {name for schema in schemas.values() for name in schema.get("$defs", {})}
        for name, schema in (
            ("Workload", schemas["workload"]),
            ("Platform", schemas["platform"]),
        ):
            for inner, definition in {**schema.get("$defs", {}), name: schema}.items():
                self._add(inner, definition)
        return {f"{PREFIX}{name}": found for name, found in self._types.items()}

    def _add(self, name: str, schema: Mapping[str, Any]) -> None:
        if name in self._types or "properties" not in schema:
            return
        self._types[name] = {
            "type": "object",
            "description": _clean(schema["description"]),
            "properties": {
                camel(key): {
                    **self._property(f"{name}.{key}", item),
                    "description": _clean(item["description"]),
                    "plain": True,
                }
                for key, item in schema["properties"].items()
            },
            "required": sorted(camel(key) for key in schema.get("required", [])),
        }

    def _property(self, place: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the type of a value; what bounds it is checked when it is planned."""
        if "$ref" in schema:
            return {"$ref": _ref(schema["$ref"].rpartition("/")[2])}
        if "anyOf" in schema:
            kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
            return self._property(place, kinds[0]) if len(kinds) == 1 else self._any(place, kinds)
        if "oneOf" in schema:
            return self._any(place, schema["oneOf"], schema.get("discriminator"))
        if "const" in schema:
            return {"type": "string", "const": schema["const"]}
        if "enum" in schema:
            return {"$ref": _ref(self._enum(place, tuple(schema["enum"])))}
        match schema.get("type"):
            case "array":
                items = self._property(place, schema["items"])
                return {"type": "array", "items": {**items, "plain": True}}
            case "object":
                value = self._property(place, schema["additionalProperties"])
                return {"type": "object", "additionalProperties": {**value, "plain": True}}
            case str(kind) if kind in _SIMPLE:
                return {"type": kind}
        return {"$ref": "pulumi.json#/Any"}

    def _any(
        self, place: str, kinds: list[dict[str, Any]], by: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        found: dict[str, Any] = {"oneOf": [self._property(place, kind) for kind in kinds]}
        if by is not None:
            named = {key: _ref(ref.rpartition("/")[2]) for key, ref in by["mapping"].items()}
            found["discriminator"] = {"propertyName": camel(by["propertyName"]), "mapping": named}
        return found

    def _enum(self, place: str, values: tuple[str, ...]) -> str:
        """Return the name of the enum with these values, made where there is none."""
        if values not in self._enums:
            owner, _, key = place.partition(".")
            name = _RESERVED.get(_title(key)) or _title(key)
            if name in self._taken:
                name = f"{owner}{name}"
            self._taken.add(name)
            self._enums[values] = name
            self._types[name] = {
                "type": "string",
                "description": f"{_spaced(key)} of {owner}.",
                "enum": [
                    {"name": _title(value), "value": value, "description": f"{_spaced(value)}."}
                    for value in values
                ],
            }
        return self._enums[values]


def _ref(name: str) -> str:
    return f"#/types/{PREFIX}{name}"


def _told(inferred: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": _clean(inferred["description"])}


def _clean(text: str) -> str:
    return " ".join(text.split())


def _title(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_"))


def _spaced(name: str) -> str:
    words = name.replace("_", " ").replace("-", " ")
    return words[:1].upper() + words[1:]
