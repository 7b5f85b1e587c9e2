"""Formulas: only arithmetic is worked out, and numbers stand where their names stood."""

from __future__ import annotations

import pytest

from planner.report.numbers.arithmetic import evaluate, number, with_numbers


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("a + b * 2", 13),
        ("(a + b) / 4 - 1", 1),
        ("7 // 2 + 2 ** 3", 11),
        ("-a + max(a, b) + min(a, b)", 5),
        ("ceil(b / 2) + floor(b / 2) + round(2.6)", 8),
        ("comb(b, 2)", 10),
        ("sum(each) + sum_of_products(each, each)", 20),
        ("sqrt(16) + log(exp(3)) + expm1(0) + log1p(0)", 7),
        ("a <= b", True),
        ("a < b < 4", False),
        ("a >= b", False),
        ("b == 5", True),
    ],
)
def test_arithmetic(formula: str, value: float) -> None:
    assert evaluate(formula, {"a": 3, "b": 5, "each": (1, 2, 3)}) == pytest.approx(value)


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')",
        "a.real",
        "[a]",
        "a if b else 1",
        "'text'",
        "True",
        "lambda: 1",
        "max(a, b, key=a)",
        "open(a)",
        "a @ b",
        "a in b",
        "a +",
    ],
)
def test_nothing_but_arithmetic(formula: str) -> None:
    with pytest.raises(ValueError, match=r"no arithmetic|no formula|numbers only"):
        evaluate(formula, {"a": 1, "b": 2})


def test_a_name_without_a_value() -> None:
    with pytest.raises(KeyError):
        evaluate("a + c", {"a": 1})


def test_numbers_in_place_of_names() -> None:
    values = {"pool": 17_639_261_124, "block": 2_621_440.0, "share": 0.12345678, "usd": 4_469.7}
    assert with_numbers("pool // block", values) == "17,639,261,124 // 2,621,440"
    assert with_numbers("max(share, usd)", values) == "max(0.123457, 4,469.70)"
    # A name inside a longer one stays.
    assert with_numbers("pool_bytes + pool", {"pool": 1}) == "pool_bytes + 1"


def test_a_series_is_cut() -> None:
    assert number((1, 2, 3)) == "[1; 2; 3]"
    assert number(tuple(range(10))) == "[0; 1; 2; 3; 4; 5; and 4 more]"
