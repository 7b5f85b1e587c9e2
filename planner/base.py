"""The frozen model every stage's values derive from."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: immutable, unknown fields are errors, no silent type coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Declared(Frozen):
    """A part of a declared file: the text below each field is what editors and docs show.

    A unit stands in brackets at the end of that text: ``[tokens/min]``.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)
