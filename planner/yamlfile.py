"""One YAML 1.2 reader for every file a user writes: safe, bounded, with positions."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode
from ruamel.yaml.parser import Parser

from planner import faults
from planner.errors import Code, InputError

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_ALIASES = 50


class _PlainConstructor(SafeConstructor):
    """Leaves dates as the text they were written in."""


_PlainConstructor.add_constructor(
    "tag:yaml.org,2002:timestamp", _PlainConstructor.construct_yaml_str
)


class _OutOfBounds(Exception):
    """What is too much in a file, and the way out."""


class _BoundedParser(Parser):
    """Stops at too deep a nesting and at too many aliases, before anything is built."""

    _depth = 0
    _aliases = 0

    def get_event(self) -> Any:
        """Return the next event, counted."""
        event = super().get_event()
        if isinstance(event, AliasEvent):
            self._aliases += 1
        elif isinstance(event, CollectionStartEvent):
            self._depth += 1
        elif isinstance(event, CollectionEndEvent):
            self._depth -= 1
        if self._depth > MAX_DEPTH:
            raise _OutOfBounds(f"nested deeper than {MAX_DEPTH} levels", "Flatten the file.")
        if self._aliases > MAX_ALIASES:
            raise _OutOfBounds(f"more than {MAX_ALIASES} aliases", "Write the values out.")
        return event


class YamlFile:
    """A parsed file: its plain data, its bytes, and where each value stands."""

    def __init__(self, label: str, raw: bytes, data: Any, node: Node | None) -> None:
        """Keep what :func:`read_yaml` found; ``label`` names the file in messages."""
        self.label = label
        self.raw = raw
        self.data = data
        self._node = node

    def where(self, path: tuple[int | str, ...]) -> str:
        """Return ``file:line (dotted.path)`` of the value at ``path``."""
        node, line = self._node, 1
        for part in path:
            child = _child(node, part)
            if child is None:
                break
            node = child
        if node is not None:
            line = node.start_mark.line + 1
        dotted = ".".join(str(part) for part in path)
        return f"{self.label}:{line} ({dotted})" if dotted else f"{self.label}:{line}"


def read_yaml(path: Path, label: str) -> YamlFile:
    """Read one document.

    Raises InputError for a missing, over-large, too deep or malformed file,
    duplicate keys, more than one document, or too many aliases.
    """
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise _refused(faults.FILE_UNREADABLE, label, "not a regular file")
        size = found.st_size
        if size > MAX_BYTES:
            what, fix = f"the file has {size:,} bytes", f"Keep it below {MAX_BYTES:,}."
            raise _refused(faults.FILE_OUT_OF_BOUNDS, label, what, fix)
        raw = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise _refused(faults.FILE_UNREADABLE, label, reason) from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start}"
        raise _refused(faults.NOT_YAML, label, what, "Save the file as UTF-8.") from None
    try:
        # Composed once: the same nodes give the data and the lines.
        constructor, _ = _yaml().get_constructor_parser(text)
        node = constructor.composer.get_single_node()
        data = None if node is None else constructor.construct_document(node)
    except _OutOfBounds as bound:
        raise _refused(faults.FILE_OUT_OF_BOUNDS, label, *bound.args) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{label}:{mark.line + 1}" if mark is not None else label
        what = str(error.problem or "malformed YAML")
        raise _refused(faults.NOT_YAML, where, what) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise _refused(faults.NOT_YAML, label, f"malformed YAML: {error}") from None
    return YamlFile(label, raw, data, node)


def _yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _PlainConstructor
    yaml.Parser = _BoundedParser
    return yaml


def _child(node: Node | None, part: int | str) -> Node | None:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return value  # type: ignore[no-any-return]
    elif isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]  # type: ignore[no-any-return]
    return None


def _refused(code: Code, where: str, what: str, fix: str = "") -> InputError:
    return InputError([code.at(where, what, fix)])
