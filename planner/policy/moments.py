"""Moments as people write them: always with a zone, always kept in UTC."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from pydantic import BeforeValidator


def moment(value: Any) -> dt.datetime:
    """Return a date (its first moment in UTC) or an exact moment; ValueError for the rest."""
    if isinstance(value, str) and len(value.strip()) == 10:
        value = dt.date.fromisoformat(value.strip())
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime.combine(value, dt.time(), dt.UTC)
    return exact_moment(value)


def exact_moment(value: Any) -> dt.datetime:
    """Return a moment with its zone in UTC; ValueError for a date alone and the rest."""
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value.strip())
    if not isinstance(value, dt.datetime):
        raise ValueError("write a date such as 2027-01-31")
    if value.tzinfo is None:
        raise ValueError("a time needs its zone, such as 2027-01-31T12:00:00Z")
    try:
        return value.astimezone(dt.UTC)
    except OverflowError:
        raise ValueError("the year is out of range") from None


Moment = Annotated[dt.datetime, BeforeValidator(moment)]
ExactMoment = Annotated[dt.datetime, BeforeValidator(exact_moment)]
