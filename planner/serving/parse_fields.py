"""Reading a Hugging Face config.json: typed fields, every problem reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.errors import InputError, Problem


class Fields:
    """Typed access to a config; raises InputError naming the field and the model."""

    def __init__(self, config: Mapping[str, Any], name: str) -> None:
        """Read ``config``, the part of the file that describes the text model."""
        self._config = config
        self.name = name

    def has(self, key: str) -> bool:
        """Return whether ``key`` is present and not null."""
        return self._config.get(key) is not None

    def raw(self, key: str) -> Any:
        """Return the value of ``key`` or None."""
        return self._config.get(key)

    def integer(self, *keys: str, default: int | None = None) -> int:
        """Return the first present of ``keys`` as a non-negative integer.

        Names differ between families (``num_experts``, ``num_local_experts``).
        """
        for key in keys:
            value = self._config.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise self.problem(key, f"is {value!r}, not a non-negative integer")
            return value
        if default is None:
            raise self.problem(keys[0], "is missing")
        return default

    def optional(self, *keys: str) -> int | None:
        """Return the first present of ``keys`` as an integer, or None."""
        present = [key for key in keys if self.has(key)]
        return self.integer(present[0]) if present else None

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean field."""
        value = self._config.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.problem(key, f"is {value!r}, not true or false")
        return value

    def sequence(self, key: str, length: int) -> list[Any] | None:
        """Return a list field with one entry a layer, or None when absent."""
        value = self._config.get(key)
        if value is None:
            return None
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != length:
            raise self.problem(key, f"needs {length} entries, one for each layer")
        return list(value)

    def problem(self, key: str, what: str) -> InputError:
        """Return the error for ``key``."""
        return InputError(
            [Problem(f"{self.name}: {key}", f"{key} {what}", "Correct the model's config.json.")]
        )


def state_bytes(value: Any) -> int:
    """Return the bytes of a recurrent state's element: 2 unless the config says float32."""
    return 4 if str(value or "").endswith("float32") else 2
