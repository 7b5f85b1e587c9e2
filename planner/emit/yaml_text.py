"""Manifests as YAML text that every reader takes the same way.

Written out by hand: block style, one value a line. A general emitter takes twenty times as
long, which for a few hundred workloads is minutes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9._/-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def to_yaml(value: Any) -> str:
    """Return plain data as YAML that reads the same under YAML 1.1 and 1.2.

    kubectl reads YAML 1.1, where a bare NO is false: every string that is not
    plainly a word is quoted. Raises TypeError for what is no plain data.
    """
    return "\n".join([*_lines(value, ""), ""])


def _lines(value: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a value that stands by itself."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _entry(f"{indent}{_scalar(str(key))}:", item, indent)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for item in value:
            first, *rest = _lines(item, f"{indent}  ")
            yield f"{indent}- {first.lstrip(' ')}"
            yield from rest
    else:
        yield f"{indent}{_scalar(value)}"


def _entry(head: str, item: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a mapping's entry: a list stands below its key, not indented more."""
    if isinstance(item, Mapping) and item:
        yield head
        yield from _lines(item, f"{indent}  ")
    elif isinstance(item, Sequence) and not isinstance(item, str) and item:
        yield head
        yield from _lines(item, indent)
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int():
            return str(value)
        case float():
            return _float(value)
        case Mapping():
            return "{}"
        case Sequence():
            return "[]"
    raise TypeError(f"{type(value).__name__} cannot be written as YAML")


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    # A JSON string is a YAML one, but for characters that YAML does not take as they are.
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _float(value: float) -> str:
    """Return a number with a point: YAML 1.1 takes 1e-07 for a text."""
    text = json.dumps(value, allow_nan=False)
    mantissa, e, exponent = text.partition("e")
    return text if "." in mantissa or not e else f"{mantissa}.0e{exponent}"
