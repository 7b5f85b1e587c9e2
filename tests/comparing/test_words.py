"""How changes and sizes are said: no change told as none, no gap without its reason."""

from __future__ import annotations

import pytest

from planner.comparing.size import Size
from planner.report.comparing.comment import _more
from planner.report.comparing.words import (
    capacity_words,
    headroom,
    side_usd,
    signed_share,
    throughput,
)
from planner.units import format_share

UNITS = Size(
    kind="provisioned",
    model="m",
    region="r",
    deployment_type="ProvisionedManaged",
    units=25,
    served_tokens_per_s=100.0,
    demanded_tokens_per_s=160.0,
    headroom=100 / 160 - 1,
)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.125, "+12.5%"),
        (-0.125, "-12.5%"),
        (9.0, "+900.0%"),
        (0.0, "+0.0%"),
        (0.0005, "+0.1%"),
        # 16.88 of 95,523
        (16.88 / 95523, "+0.018%"),
        (-0.00001, "-0.001%"),
        (0.000001, "+<0.001%"),
        (-0.000001, "-<0.001%"),
    ],
)
def test_a_relative_change_is_told_with_its_sign_and_never_as_none(share: float, said: str) -> None:
    assert signed_share(share) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0.0%"), (0.0004, "<0.1%"), (0.0005, "0.1%"), (0.123, "12.3%"), (1.0, "100.0%")],
)
def test_a_share_that_is_there_is_never_told_as_none(share: float, said: str) -> None:
    assert format_share(share) == said


def test_an_amount_that_leaves_workloads_out_is_a_lower_bound() -> None:
    assert side_usd(95331.0, ()) == "$95,331"
    assert side_usd(95331.0, ("branch-faq",)) == "at least $95,331"
    assert side_usd(None, ("branch-faq",)) == "not known"


def test_a_peak_above_what_is_reserved_says_where_the_rest_goes() -> None:
    spills = UNITS.model_copy(update={"spill": "Standard@r"})
    fits = UNITS.model_copy(update={"demanded_tokens_per_s": 80.0, "headroom": 100 / 80 - 1})
    shared = Size(kind="payg", model="m", region="r", deployment_type="Standard")
    assert throughput(UNITS) == "100 of 160, the rest waits or is refused"
    assert throughput(spills) == "100 of 160, the rest spills"
    assert throughput(fits) == "100 of 80"
    assert throughput(shared.model_copy(update={"demanded_tokens_per_s": 160.0})) == (
        "none reserved, 160"
    )
    assert capacity_words(UNITS).endswith("in r, no spill")
    assert capacity_words(spills).endswith("in r, spill to Standard@r")
    assert capacity_words(shared) == "Standard m in r"


def test_headroom_names_a_lost_node_only_where_there_are_nodes() -> None:
    hosted = UNITS.model_copy(
        update={"kind": "self_hosted", "headroom": 0.25, "headroom_node_lost": -0.5}
    )
    assert headroom(UNITS) == "-38%"
    assert headroom(hosted) == "+25% / -50%"
    assert headroom(UNITS.model_copy(update={"headroom": None})) == "-"


def test_what_is_left_out_is_counted_in_words_that_agree() -> None:
    assert list(_more(5, 4, "assumption")) == ["- and 1 more assumption, in the details"]
    assert list(_more(6, 4, "assumption")) == ["- and 2 more assumptions, in the details"]
    assert list(_more(4, 4, "assumption")) == []
