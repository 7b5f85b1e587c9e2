"""The block `keys` of docs/configuration.md, from the models of the declared files.

Each key stands once, with type, range, unit, default and meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.declare import json_schemas
from tools.generated import with_block

PAGE = Path("docs/configuration.md")

_CODE = re.compile(r"``(.+?)``")
_UNIT = re.compile(r" \[([^\]]+)\]\.$")
_UNBOUNDED = 1e8
"""Upper bounds from here on only keep arithmetic finite: no reader needs them."""


def reference() -> str:
    """Return every object of both files with its keys, as Markdown."""
    lines: list[str] = []
    for kind, schema in json_schemas().items():
        lines += ["", f"## The {kind} file"]
        for name, item, places in _objects(schema):
            lines += ["", f"### {name}", ""]
            lines += _told(item, places)
    return "\n".join(lines).strip()


def renewed(text: str) -> str:
    """Return the page with its keys as the models have them."""
    return with_block(text, "keys", reference())


def texts(root: Path) -> dict[Path, str]:
    """Return what the page has to hold."""
    return {PAGE: renewed((root / PAGE).read_text(encoding="utf-8"))}


def split_unit(description: str) -> tuple[str, str]:
    """Return a field's meaning without its unit, and the unit; empty where it has none."""
    found = _UNIT.search(description)
    meaning = _UNIT.sub("", description).removesuffix(".")
    return " ".join(meaning.split()), found[1] if found else ""


def _objects(
    schema: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Yield each object where a reader first meets it, with the places where it stands."""
    places: dict[str, list[str]] = {}
    order: list[str] = []

    def visit(item: Mapping[str, Any], path: str) -> None:
        for key, value in item["properties"].items():
            at = f"{path}.{key}" if path else key
            for name, many in _refs(value):
                places.setdefault(name, []).append(at + ("[]" if many else ""))
                if name not in order:
                    order.append(name)
                    visit(schema["$defs"][name], at + ("[]" if many else ""))

    visit(schema, "")
    yield schema["title"], schema, []
    for name in order:
        yield name, schema["$defs"][name], list(dict.fromkeys(places[name]))


def _refs(item: Mapping[str, Any], many: bool = False) -> Iterator[tuple[str, bool]]:
    if "$ref" in item:
        yield item["$ref"].rsplit("/", 1)[-1], many
    for key in ("anyOf", "oneOf"):
        for choice in item.get(key, ()):
            yield from _refs(choice, many)
    if isinstance(items := item.get("items"), Mapping):
        yield from _refs(items, many=True)


def _told(schema: Mapping[str, Any], places: list[str]) -> Iterator[str]:
    at = f"At {', '.join(f'`{place}`' for place in places)}. " if places else ""
    about = _CODE.sub(r"`\1`", " ".join(schema["description"].split()))
    yield f"{at}{about}"
    yield ""
    yield "| key | type | unit | default | meaning |"
    yield "|---|---|---|---|---|"
    required = set(schema.get("required", ()))
    for key, item in schema["properties"].items():
        meaning, unit = split_unit(item["description"])
        default = "required" if key in required else _default(item)
        yield f"| `{key}` | {_cell(_type(item))} | {unit} | {default} | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(item: Mapping[str, Any]) -> str:
    match item:
        case {"default": bool(value)}:
            return f"`{str(value).lower()}`"
        case {"default": (float() | int() | str()) as value} if value != "":
            return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
        case {"default": dict(value)} if value:
            return "its defaults"
        case _:
            return "none"


def _type(item: Mapping[str, Any]) -> str:
    match item:
        case {"$ref": str(target)}:
            name = target.rsplit("/", 1)[-1]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            return " or ".join(_type(choice) for choice in choices if choice != {"type": "null"})
        case {"enum": list(values)}:
            return " or ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
        case {"type": "array", "items": inner}:
            least = " (at least one)" if item.get("minItems") else ""
            return f"list of {_type(inner)}{least}"
        case {"type": "object"}:
            return "map of text to text"
        case {"type": "string", "format": "date"}:
            return "date"
        case {"type": str(name)}:
            plain = {"string": "text", "boolean": "true or false"}.get(name, name)
            return " ".join([plain, *_range(item)])
        case _:
            raise ValueError(f"a type that the page cannot tell: {item}")


def _range(item: Mapping[str, Any]) -> Iterator[str]:
    above, least = item.get("exclusiveMinimum"), item.get("minimum")
    below, most = item.get("exclusiveMaximum"), item.get("maximum")
    if least is not None and most is not None and most < _UNBOUNDED:
        yield f"from {least:g} to {most:g}"
        return
    if above is not None:
        yield f"above {above:g}"
    if least is not None:
        yield f"from {least:g}"
    if below is not None:
        yield f"below {below:g}"
    if most is not None and most < _UNBOUNDED:
        yield f"up to {most:g}"
