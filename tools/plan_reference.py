"""The block `keys` of docs/plan-schema.md, from the models of the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.plan import SCHEMA_VERSION
from planner.plan_schema import plan_schema
from tools.generated import with_block

PAGE = Path("docs/plan-schema.md")

_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")
_ORDER = ("Plan", "Decision", "Outcome", "Option", "SelfHosted", "Cost", "Mix", "Resources")
"""What a reader looks for first; the others follow by name."""


def reference() -> str:
    """Return every object of the plan with its keys, as Markdown."""
    schema = plan_schema()
    found = {"Plan": schema, **schema["$defs"]}
    names = [*_ORDER, *sorted(set(found) - set(_ORDER))]
    lines = [f"Schema version {SCHEMA_VERSION}."]
    for name in names:
        lines += ["", f"### {name}", "", *_told(found[name])]
    return "\n".join(lines)


def renewed(text: str) -> str:
    """Return the page with its keys as the models have them."""
    return with_block(text, "keys", reference())


def texts(root: Path) -> dict[Path, str]:
    """Return what the page has to hold."""
    return {PAGE: renewed((root / PAGE).read_text(encoding="utf-8"))}


def _told(schema: Mapping[str, Any]) -> Iterator[str]:
    about = schema.get("description", "")
    if about:
        yield _ROLE.sub(r"`\1`", about).replace("``", "`")
        yield ""
    yield "| key | type | if absent |"
    yield "|---|---|---|"
    required = set(schema.get("required", ()))
    for key, item in schema["properties"].items():
        absent = "required" if key in required else _default(item)
        yield f"| `{key}` | {_type(item).replace('|', chr(92) + '|')} | {absent} |"


def _default(item: Mapping[str, Any]) -> str:
    value = item.get("default")
    match value:
        case None if "default" in item:
            return "null"
        case None | [] | {}:
            return "empty"
        case bool():
            return str(value).lower()
        case dict():
            return "its defaults"
        case "":
            return "empty text"
        case _:
            return f"`{value}`"


def _type(item: Mapping[str, Any]) -> str:
    match item:
        case {"$ref": str(target)}:
            name = target.rsplit("/", 1)[-1]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": list(choices)}:
            return " or ".join(_type(choice) for choice in choices)
        case {"enum": list(values)}:
            return " or ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
        case {"type": "array", "prefixItems": list(parts)}:
            return f"({', '.join(_type(part) for part in parts)})"
        case {"type": "array", "items": inner}:
            return f"list of {_type(inner)}"
        case {"type": "object", "additionalProperties": dict(inner)}:
            return f"object of {_type(inner)}"
        case {"type": str(name)}:
            return {"string": "text", "object": "object"}.get(name, name)
        case _:
            return "anything"
