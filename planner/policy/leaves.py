"""Properties of a Pulumi resource as a flat list of leaves, each with a path of its own.

Secrets and values that a preview does not know keep their place in the list and lose their
value. Items of a list are told apart by their name where each has one, and a command line
becomes its flags: reordering either is no change, and a change is named by what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

MARKER = "4dabf18193072939515e22adb298388d"
"""The key by which Pulumi tells a special value from an object."""

SECRET_KIND = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - Pulumi's name for the kind
"""The kind of special value that is a secret: encrypted in state, masked in output."""

UNKNOWN_VALUES = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""What stands for a value that a preview does not know (pulumi-policy 1.21, proxy.py)."""

SECRET = "[secret]"  # noqa: S105 - what stands for one
"""What Pulumi writes for a secret where it analyses a state without the key to it."""

State = Literal["plain", "secret", "unknown"]

_COMMANDS = ("command", "args")
_NAMES = ("name", "key")


class Leaf(NamedTuple):
    """One scalar: its path, the keys of that path, its value and whether that may be read.

    ``value`` is None where ``state`` is not plain. An empty object or list is a leaf.
    """

    path: str
    keys: tuple[str, ...]
    value: Any
    state: State


def leaves_of(value: Any, path: str = "", keys: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Yield the leaves of ``value`` in the order of its keys; absent (null) ones are left out."""
    if value is None:
        return
    if isinstance(value, str) and value in UNKNOWN_VALUES:
        yield Leaf(path, keys, None, "unknown")
    elif isinstance(value, str) and value == SECRET:
        yield Leaf(path, keys, None, "secret")
    elif isinstance(value, Mapping):
        yield from _of_object(value, path, keys)
    elif isinstance(value, list | tuple):
        yield from _of_list(value, path, keys)
    else:
        yield Leaf(path, keys, value, "plain")


def _of_object(value: Mapping[str, Any], path: str, keys: tuple[str, ...]) -> Iterator[Leaf]:
    if MARKER in value:
        # Assets, references and whatever comes later cannot be compared: they are not known.
        state: State = "secret" if value[MARKER] == SECRET_KIND else "unknown"
        yield Leaf(path, keys, None, state)
        return
    # The bridge to Terraform keeps notes of its own under names such as __defaults.
    own = {str(key): item for key, item in value.items() if not str(key).startswith("__")}
    if not own:
        yield Leaf(path, keys, "{}", "plain")
    for key in sorted(own):
        yield from leaves_of(own[key], f"{path}.{key}" if path else key, (*keys, key))


def _of_list(value: Sequence[Any], path: str, keys: tuple[str, ...]) -> Iterator[Leaf]:
    if not value:
        yield Leaf(path, keys, "[]", "plain")
    elif keys and keys[-1] in _COMMANDS:
        yield from _of_command(value, path, keys)
    else:
        for label, item in zip(_labels(value), value, strict=True):
            yield from leaves_of(item, f"{path}[{label}]", (*keys, label))


def _labels(items: Sequence[Any]) -> list[str]:
    """Return what tells the items apart: their names where these differ, else their places."""
    for name in _NAMES:
        found = [item.get(name) if isinstance(item, Mapping) else None for item in items]
        if all(isinstance(label, str) for label in found) and len(set(found)) == len(found):
            return [str(label) for label in found]
    return [str(index) for index in range(len(items))]


def _of_command(words: Sequence[Any], path: str, keys: tuple[str, ...]) -> Iterator[Leaf]:
    """Yield words by their place and flags by their name; a flag given again is another one."""
    seen: dict[str, int] = {}
    position, index = 0, 0
    while index < len(words):
        word, index = words[index], index + 1
        if not isinstance(word, str) or not word.startswith("--"):
            label = f"[{position}]"
            position += 1
            yield from leaves_of(word, path + label, (*keys, label))
            continue
        flag, equals, value = word.partition("=")
        flag = flag.replace("_", "-")
        given: Any = value if equals else ""
        if not equals and index < len(words) and not _is_flag(words[index]):
            given, index = words[index], index + 1
        seen[flag] = seen.get(flag, 0) + 1
        label = flag if seen[flag] == 1 else f"{flag}#{seen[flag]}"
        yield from leaves_of(given, f"{path} {label}", (*keys, label))


def _is_flag(word: Any) -> bool:
    return isinstance(word, str) and word.startswith("--")
