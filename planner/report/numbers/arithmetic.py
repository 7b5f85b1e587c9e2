"""Formulas as text: worked out, and printed with the numbers in them.

Only arithmetic is understood: names, numbers, + - * / // **, comparisons and the functions
below. Nothing else of the language is reachable from a formula.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

TOLERANCE = 1e-6
"""How far, relatively, a formula may be from a plan's value: plans keep twelve digits."""

SHOWN_VALUES = 6
"""Values of a series that a printed formula shows."""


def _sum_of_products(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "sqrt": math.sqrt,
    "log": math.log,
    "log1p": math.log1p,
    "exp": math.exp,
    "expm1": math.expm1,
    "comb": math.comb,
    "sum": math.fsum,
    "sum_of_products": _sum_of_products,
}
"""What a formula may call; ``log`` is the natural one, ``comb`` the binomial coefficient."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def evaluate(formula: str, values: Mapping[str, Any]) -> Any:
    """Return what ``formula`` gives for ``values``.

    Raises ValueError for anything that is no arithmetic, KeyError for a name without a value.
    """
    return _worked_out(_parsed(formula), values)


def close(given: float, value: float) -> bool:
    """Return whether a formula's result is the plan's value, to the digits that plans keep."""
    return math.isclose(given, value, rel_tol=TOLERANCE, abs_tol=1e-9)


def with_numbers(formula: str, values: Mapping[str, Any]) -> str:
    """Return ``formula`` with each name that has a value replaced by it."""

    def said(match: re.Match[str]) -> str:
        name = match[0]
        return number(values[name]) if name in values else name

    return _NAME.sub(said, formula)


def number(value: object) -> str:
    """Return a value as a formula shows it: whole numbers whole, others to six digits."""
    if isinstance(value, tuple):
        shown = [number(item) for item in value[:SHOWN_VALUES]]
        more = len(value) - len(shown)
        return f"[{'; '.join(shown)}{f'; and {more:,} more' if more else ''}]"
    if not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return f"{value:,.0f}"
    if 1_000 <= abs(value) < 1e15:
        return f"{value:,.2f}"
    return f"{value:.6g}"


@cache
def _parsed(formula: str) -> ast.expr:
    try:
        return ast.parse(formula, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"no formula: {formula!r}") from error


def _worked_out(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=bool() | str() | bytes() | None):
            raise ValueError("a formula holds numbers only")
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_worked_out(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_worked_out(left, values), _worked_out(right, values))
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(
            type(op) in _COMPARE for op in ops
        ):
            sides = [_worked_out(side, values) for side in (left, *rest)]
            return all(_COMPARE[type(op)](sides[at], sides[at + 1]) for at, op in enumerate(ops))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_worked_out(item, values) for item in args))
        case _:
            raise ValueError(f"no arithmetic: {ast.dump(node)[:80]}")
