"""Versions as tools print them, and what is accepted."""

from __future__ import annotations

import pytest

from planner.toolchain.pins import KUBERNETES_PROVIDER, OPA, PULUMI, format_version, parse_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v3.274.1\n", (3, 274, 1)),
        ("3.250.0", (3, 250, 0)),
        ("Version: 1.22.3\nBuild Commit: \nGo Version: go1.26.8\n", (1, 22, 3)),
        ("v3.260.0-alpha.x1234", (3, 260, 0)),
        ("go version 1.26.8 linux/amd64", (1, 26, 8)),
        ("", None),
        ("no digits", None),
    ],
)
def test_parse_version(text, version):
    assert parse_version(text) == version


def test_versions_compare_as_numbers_not_as_text():
    assert parse_version("v3.99.0") < PULUMI.minimum
    assert parse_version("1.21.10") >= OPA.minimum


def test_the_built_versions_are_accepted_themselves():
    for tool in (OPA, PULUMI):
        assert parse_version(tool.version) >= tool.minimum


def test_messages_name_what_is_accepted():
    assert PULUMI.accepted == "pulumi >= 3.250.0"
    assert KUBERNETES_PROVIDER.accepted == "pulumi-resource-kubernetes 4.25.0"
    assert format_version((1, 21, 3)) == "1.21.3"
