"""Checks the properties of a resource, as they are on the wire, against typed arguments."""

from __future__ import annotations

import collections.abc
import difflib
import enum
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi import _types as sdk_types

# Fixed by Pulumi's wire protocol.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


@dataclass(frozen=True)
class Failure:
    """One wrong property: its path as on the wire, and what is wrong with it."""

    path: str
    reason: str


def check_resource(properties: Mapping[str, Any], arguments: type) -> list[Failure]:
    """Everything that is wrong with `properties` as arguments of a resource, by path."""
    return list(_object(properties, arguments, ""))


def plain(value: Any) -> Any:
    """`value` out of its secret or output envelope; an output without value is unknown."""
    while isinstance(value, Mapping) and value.get(SIGNATURE_KEY) in (SECRET, OUTPUT):
        value = value.get("value", UNKNOWN)
    return value


def _object(value: Mapping[str, Any], cls: type, path: str) -> Iterator[Failure]:
    wire_names = {
        wire: python for python, wire in sdk_types.input_type_py_to_pulumi_names(cls).items()
    }
    hints: Mapping[str, Any] = sdk_types.input_type_types(cls)
    for name, inner in sorted(value.items()):
        where = f"{path}.{name}" if path else name
        if name not in wire_names:
            yield Failure(where, _no_such(name, wire_names, cls))
        else:
            yield from _value(inner, hints.get(name, Any), where)
    for name in _required(cls):
        if plain(value.get(name)) is None:
            yield Failure(f"{path}.{name}" if path else name, "is required and missing")


def _required(cls: type) -> list[str]:
    names = sdk_types.input_type_py_to_pulumi_names(cls)
    parameters = inspect.signature(cls).parameters
    return [
        wire
        for python, wire in names.items()
        if python in parameters and parameters[python].default is inspect.Parameter.empty
    ]


def _no_such(name: str, wire_names: Mapping[str, str], cls: type) -> str:
    """The names that exist are matched in both spellings, and shown in both."""
    spellings = {python: wire for wire, python in wire_names.items()}
    spellings.update({wire: wire for wire in wire_names})
    close = difflib.get_close_matches(name, spellings, n=1, cutoff=0.5)
    what = cls.__name__.removesuffix("Args")
    if not close:
        return f"{what} has no such property; it has {', '.join(sorted(wire_names))}"
    wire = spellings[close[0]]
    python = wire_names[wire]
    both = wire if wire == python else f"{wire} ({python} in Python)"
    return f"{what} has no such property; did you mean {both}?"


def _value(value: Any, hint: Any, path: str) -> Iterator[Failure]:
    value = plain(value)
    if value is None or value == UNKNOWN:
        return
    members = list(_members(hint))
    if not members:
        return
    found = [list(_one(value, member, path)) for member in members]
    if not all(found):
        return
    shaped = [
        failures
        for member, failures in zip(members, found, strict=True)
        if _shape_fits(value, member)
    ]
    if len(shaped) == 1:
        yield from shaped[0]
        return
    expected = " or ".join(dict.fromkeys(_describe(member) for member in members))
    yield Failure(path, f"must be {expected}, not {_shown(value)}")


def _one(value: Any, hint: Any, path: str) -> Iterator[Failure]:
    """Failures of a plain, known value against one member of a union."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    wrong = Failure(path, f"must be {_describe(hint)}, not {_shown(value)}")
    if _is_list(hint):
        if not isinstance(value, list):
            yield wrong
        elif arguments:
            for index, item in enumerate(value):
                yield from _value(item, arguments[0], f"{path}[{index}]")
    elif _is_map(hint):
        if not isinstance(value, Mapping):
            yield wrong
        elif len(arguments) == 2:
            for key, item in sorted(value.items()):
                yield from _value(item, arguments[1], f"{path}.{key}")
    elif origin is typing.Literal:
        if value not in arguments:
            yield wrong
    elif sdk_types.is_input_type(hint):
        if isinstance(value, Mapping):
            yield from _object(value, hint, path)
        else:
            yield wrong
    elif not _is_scalar(value, hint):
        yield wrong


def _is_scalar(value: Any, hint: Any) -> bool:
    if not isinstance(hint, type):
        return True  # a hint that is not understood rules nothing out
    if issubclass(hint, enum.Enum):
        return any(member.value == value for member in hint)
    if hint is bool:
        return isinstance(value, bool)
    if hint in (int, float):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (hint is float or float(value).is_integer())
    if hint is str:
        return isinstance(value, str)
    return True


def _members(hint: Any) -> Iterator[Any]:
    """The members of a union that a wire value can belong to; none where anything goes."""
    if hint is Any or isinstance(hint, (str, typing.ForwardRef)):
        return
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        yield hint
        return
    for member in typing.get_args(hint):
        origin = typing.get_origin(member)
        if member is type(None) or typing.is_typeddict(member):
            continue
        if member is pulumi.Output or origin in (pulumi.Output, collections.abc.Awaitable):
            continue
        yield from _members(member)


def _shape_fits(value: Any, hint: Any) -> bool:
    if isinstance(value, list):
        return _is_list(hint)
    if isinstance(value, Mapping):
        return _is_map(hint) or sdk_types.is_input_type(hint)
    return False


def _is_list(hint: Any) -> bool:
    return hint is list or typing.get_origin(hint) in (list, collections.abc.Sequence)


def _is_map(hint: Any) -> bool:
    return hint is dict or typing.get_origin(hint) in (dict, collections.abc.Mapping)


def _describe(hint: Any) -> str:
    if _is_list(hint):
        return "a list"
    if _is_map(hint):
        return "a map"
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(repr(item) for item in typing.get_args(hint))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return "one of " + ", ".join(str(member.value) for member in hint)
    names = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}
    return names.get(hint) or f"an object ({getattr(hint, '__name__', hint)})"


def _shown(value: Any) -> str:
    """The kind of a value, never its text: it may be confidential."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, (int, float)):
        return f"the number {value:g}"
    return (
        "a string"
        if isinstance(value, str)
        else ("a list" if isinstance(value, list) else "an object")
    )
