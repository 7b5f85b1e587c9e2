"""Large amounts in words of three digits: 3.12 B tokens, 835 TFLOP/s."""

from __future__ import annotations

from collections.abc import Sequence

DIGITS = 3

_TOKENS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_RATES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))


def tokens_words(tokens: float) -> str:
    """Return a count of tokens with three digits: 3.12 B, 951 M, 12."""
    number, suffix = _scaled(tokens, _TOKENS)
    return f"{number} {suffix}" if suffix else number


def rate_words(per_second: float, unit: str) -> str:
    """Return a rate with three digits and the prefix of its unit: 835 TFLOP/s."""
    number, prefix = _scaled(per_second, _RATES)
    return f"{number} {prefix}{unit}"


def _scaled(amount: float, scales: Sequence[tuple[float, str]]) -> tuple[str, str]:
    # Rounded first, so that 999,600 is 1.00 M and not 1,000 k.
    amount = float(f"{amount:.{DIGITS}g}")
    for scale, suffix in scales:
        value = amount / scale
        if value >= 1:
            whole = len(str(int(value)))
            return f"{value:,.{max(0, DIGITS - whole)}f}", suffix
    return f"{amount:,.0f}", ""
