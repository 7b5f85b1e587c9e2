"""Reading a Hugging Face config.json: typed fields, bounded values, named errors.

Files come from strangers, so nothing here trusts one: numbers must be integers
within limits that no real model comes near, and what is quoted in an error is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner import faults
from planner.errors import InputError

LARGEST = 10**9
"""No width, count or length of a real config is larger."""

MOST_LAYERS = 1_000
"""Layers a config may have; the deepest released models have 126."""

MOST_QUOTED = 60
"""Characters of a value that an error repeats."""


class Fields:
    """Typed access to a config; raises InputError naming the field and the model."""

    def __init__(self, config: Any, name: str) -> None:
        """Read ``config``, the part of the file that describes the text model."""
        self.name = name[:200]
        if not isinstance(config, Mapping):
            raise self.problem(self.name.rpartition(": ")[2] or "config", "is not an object")
        self._config = config

    def has(self, key: str) -> bool:
        """Return whether ``key`` is present and not null."""
        return self._config.get(key) is not None

    def raw(self, key: str) -> Any:
        """Return the value of ``key`` or None."""
        return self._config.get(key)

    def part(self, key: str) -> Fields:
        """Return the object under ``key``."""
        return Fields(self._config.get(key), f"{self.name}: {key}")

    def integer(
        self, *keys: str, default: int | None = None, least: int = 0, most: int = LARGEST
    ) -> int:
        """Return the first present of ``keys`` as an integer of [``least``, ``most``].

        Names differ between families (``num_experts``, ``num_local_experts``).
        """
        for key in keys:
            value = self._config.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise self.problem(key, f"is {quoted(value)}, not a non-negative integer")
            if value < least:
                raise self.problem(key, f"is {value}, must be at least {least}")
            if value > most:
                raise self.problem(key, f"is above {most:,}, which no model has")
            return value
        if default is None:
            raise self.problem(keys[0], "is missing")
        return default

    def size(self, *keys: str, default: int | None = None) -> int:
        """Return a field that must be at least 1: a width, a number of heads."""
        return self.integer(*keys, default=default, least=1)

    def layers(self) -> int:
        """Return the number of decoder layers."""
        return self.integer("num_hidden_layers", least=1, most=MOST_LAYERS)

    def optional(self, *keys: str, least: int = 1) -> int | None:
        """Return the first present of ``keys`` as an integer, or None."""
        present = [key for key in keys if self.has(key)]
        return self.integer(present[0], least=least) if present else None

    def number(self, key: str, most: float) -> float:
        """Return a field as a finite number of (0, ``most``]."""
        value: Any = self._config.get(key)
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not 0 < value <= most:
            raise self.problem(key, f"is {quoted(value)}, not a number up to {most:g}")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean field."""
        value = self._config.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.problem(key, f"is {quoted(value)}, not true or false")
        return value

    def text(self, key: str, default: str = "") -> str:
        """Return a string field, cut to a bounded length."""
        value = self._config.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.problem(key, f"is {quoted(value)}, not a string")
        return value[:200]

    def sequence(self, key: str, length: int) -> list[Any] | None:
        """Return a list field with one entry a layer, or None when absent."""
        value = self._config.get(key)
        if value is None:
            return None
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != length:
            raise self.problem(key, f"needs {length} entries, one for each layer")
        return list(value)

    def names(self, key: str, length: int) -> list[str] | None:
        """Return a list of strings with one entry a layer, or None when absent."""
        found = self.sequence(key, length)
        if found is not None and not all(isinstance(entry, str) for entry in found):
            raise self.problem(key, "has entries that are not strings")
        return found

    def indices(self, key: str) -> frozenset[int]:
        """Return a list of layer numbers as a set; empty when absent."""
        value = self._config.get(key)
        if value is None:
            return frozenset()
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > MOST_LAYERS:
            raise self.problem(key, "is not a list of layer numbers")
        if not all(isinstance(entry, int) for entry in value):
            raise self.problem(key, "has entries that are not layer numbers")
        return frozenset(value)

    def problem(self, key: str, what: str) -> InputError:
        """Return the error for ``key``."""
        return InputError([faults.BAD_CONFIG.at(f"{self.name}: {key}", f"{key} {what}")])


def quoted(value: Any) -> str:
    """Return a value as an error quotes it: short, whatever it is."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return "an integer out of range"
    if isinstance(value, str):
        value = value[:MOST_QUOTED]
    elif isinstance(value, Mapping | Sequence):
        return f"a {type(value).__name__} of {len(value):,} entries"
    return repr(value)[: MOST_QUOTED + 2]


def state_bytes(value: Any) -> int:
    """Return the bytes of a recurrent state's element: 2 unless the config says float32."""
    return 4 if isinstance(value, str) and value.endswith("float32") else 2
