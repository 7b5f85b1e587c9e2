"""`python -m tools.plan_reference`: renew the keys in docs/plan-schema.md, or --check them.

What lies between `<!-- keys -->` and `<!-- end -->` is written from the models of the plan.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.plan import SCHEMA_VERSION
from planner.plan_schema import plan_schema

PAGE = Path(__file__).resolve().parents[1] / "docs" / "plan-schema.md"

_BLOCK = re.compile(r"<!-- keys -->.*?<!-- end -->", re.DOTALL)
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
    block = f"<!-- keys -->\n{reference()}\n<!-- end -->"
    return _BLOCK.sub(lambda _: block, text)


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


def main(arguments: list[str]) -> int:
    """Write the page anew, or with --check end with 1 where it differs."""
    text = PAGE.read_text(encoding="utf-8")
    current = renewed(text)
    if "--check" in arguments:
        return int(current != text)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
