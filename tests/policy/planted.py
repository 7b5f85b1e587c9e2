"""Secrets of many kinds, made up here, and every place in which declared files hold text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[int | str, ...]

_NOISE = hashlib.sha512(b"nothing that anybody uses").hexdigest()
_MIXED = base64.b64encode(hashlib.sha512(b"nothing at all").digest()).decode()
_LETTERS = "".join(character for character in _MIXED if character.isalnum())
_PEM = "-----BEGIN {0}PRIVATE KEY-----\n" + _MIXED[:60] + "\n-----END {0}PRIVATE KEY-----"


def _segment(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


SECRETS: Mapping[str, tuple[str, str]] = {
    "AWS key id": ("", "AKIA" + "IOSFODNN7ABCDEFG"),
    "AWS session key id": ("used ", "ASIA" + "IOSFODNN7ABCDEFG"),
    "AWS secret": ("aws_secret_access_key=", _LETTERS[:40]),
    "bearer token": ("Authorization: Bearer ", _LETTERS[:24]),
    "basic credentials": ("Authorization: Basic ", "dXNlcjpodW50ZXIy"),
    "PEM": ("", _PEM.format("")),
    "PEM of RSA": ("", _PEM.format("RSA ")),
    "JWT": ("", ".".join([_segment('{"alg":"HS256"}'), _segment('{"sub":"1"}'), _LETTERS[:43]])),
    "GitHub token": ("", "ghp_" + _LETTERS[:36]),
    "GitHub fine-grained token": ("", "github_pat_" + _LETTERS[:22] + "_" + _LETTERS[:40]),
    "GitLab token": ("", "glpat-" + _LETTERS[:20]),
    "Slack token": ("", "xoxb-" + "123456789012-" + _LETTERS[:24]),
    "Slack hook": ("https://hooks.slack.com/services/", "T0000/B0000/" + _LETTERS[:24]),
    "Hugging Face token": ("", "hf_" + _LETTERS[:34]),
    "OpenAI key": ("", "sk-proj-" + _LETTERS[:40]),
    "older OpenAI key": ("", "sk-" + _LETTERS[:48]),
    "Google key": ("", "AIza" + _LETTERS[:35]),
    "Azure storage key": ("AccountName=x;AccountKey=", _MIXED),
    "bare Azure storage key": ("", _MIXED),
    "Azure signature": ("https://x.example/c?sv=1&sig=", _LETTERS[:43] + "%3D"),
    "Pulumi token": ("", "pul-" + _NOISE[:40]),
    "password in an address": ("https://me:", "hunter2-hunter2" + "@db.example/x"),
    "password": ("password=", "Tr0ub4dor&3xyz"),
    "password without digits": ("password=", "correcthorsebatterystaple"),
    "token as YAML would have it": ("token: ", _LETTERS[:20]),
    "secret as JSON would have it": ('{"client_secret": "', _LETTERS[:30]),
}  # fmt: skip
"""By kind: the text before it, and the value itself, which must be seen nowhere."""


def planted(kind: str) -> tuple[str, str]:
    """Return the text to plant and the part of it that must not be shown."""
    before, value = SECRETS[kind]
    # A line of a key is as telling as the key.
    return before + value, value.split("\n")[1] if "\n" in value else value.split("@")[0]


def text_places(schema: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the path of every text that a JSON Schema knows, dates and fixed words included.

    A list is entered at 0; a mapping with free keys at ``any``, and once more as ``KEY``,
    which stands for the key itself.
    """
    yield from _places(schema, schema.get("$defs", {}), ())


def _places(node: Mapping[str, Any], known: Mapping[str, Any], path: Path) -> Iterator[Path]:
    if "$ref" in node:
        yield from _places(known[node["$ref"].rpartition("/")[2]], known, path)
    for part in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _places(part, known, path)
    for name, item in node.get("properties", {}).items():
        yield from _places(item, known, (*path, name))
    if isinstance(node.get("items"), Mapping):
        yield from _places(node["items"], known, (*path, 0))
    if isinstance(node.get("additionalProperties"), Mapping):
        yield (*path, "KEY")
        yield from _places(node["additionalProperties"], known, (*path, "any"))
    if node.get("type") == "string" or "enum" in node or "const" in node:
        yield path


def with_text(data: Any, path: Path, text: str) -> Any:
    """Return a copy of plain data with ``text`` at a path, making what leads there."""
    if not path:
        return text
    first, *rest = path
    if first == "KEY":
        return {**(data if isinstance(data, dict) else {}), text: "1"}
    if isinstance(first, int):
        items = data if isinstance(data, list) and data else [None]
        return [with_text(items[0], tuple(rest), text), *items[1:]]
    made = data if isinstance(data, dict) else {}
    return {**made, first: with_text(made.get(first), tuple(rest), text)}
