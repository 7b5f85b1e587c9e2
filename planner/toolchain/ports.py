"""Which provider answers at which port, as PULUMI_DEBUG_PROVIDERS writes it: NAME:PORT,..."""

from __future__ import annotations

from collections.abc import Mapping


def attachment(ports: Mapping[str, int]) -> str:
    """Ports by package as the engine takes them: azure-native:5,aws:6."""
    return ",".join(f"{name}:{port}" for name, port in ports.items())


def ports_of(text: str) -> dict[str, int]:
    """The ports by package in a line that :func:`attachment` made.

    Raises:
        ValueError: the line is something else.
    """
    pairs = [entry.split(":") for entry in text.strip().split(",")]
    if any(len(pair) != 2 or not pair[0] or not pair[1].isdigit() for pair in pairs):
        raise ValueError(f"{text!r} is no list of NAME:PORT")
    return {name: int(port) for name, port in pairs}


def attached(current: str, ports: Mapping[str, int]) -> str:
    """`current` (a value of PULUMI_DEBUG_PROVIDERS) with ours in it, and what else it had."""
    others = [entry for entry in current.split(",") if entry]
    kept = [entry for entry in others if entry.split(":")[0] not in ports]
    return ",".join([*kept, *(f"{name}:{port}" for name, port in ports.items())])
