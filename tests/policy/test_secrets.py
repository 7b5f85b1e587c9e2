"""A secret in what is declared is refused unseen; in what is told of a run it is redacted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.api import read_waivers
from planner.catalog.loader import load_catalog
from planner.cli import main
from planner.declare import json_schemas, load_stack
from planner.errors import InputError
from planner.policy.bundle import policies_folder
from planner.secrets import REDACTED, kind_of, redact, redact_text, redact_values, secrets_in
from planner.validation import validate
from planner.workload import Workload
from planner.yamlfile import read_yaml
from tests.policy.planted import SECRETS, planted, text_places, with_text
from tests.policy.runs import OVER_BUDGET, WAIVED, project
from tests.policy.waiving import BUDGET, NOW, signed
from tests.projects import CHAT, PLATFORM

ROOT = Path(__file__).resolve().parents[2]
STACKS = sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))
DECLARED: dict[str, Any] = {"workload": CHAT, "platform": PLATFORM}
PLACES = [(file, path) for file, schema in json_schemas().items() for path in text_places(schema)]
KINDS = list(SECRETS)


def shown(place: Any) -> str:
    return ".".join(map(str, place)) if isinstance(place, tuple) else str(place)


def seen(result: Result, root: Path, value: str) -> Iterator[str]:
    """Yield where a value is to be seen: on the screen, or in what was written."""
    if value in result.output or value in result.stderr:
        yield "the output"
    for path in (root / "out").rglob("*"):
        if path.is_file() and value in everything(path):
            yield path.name


def everything(path: Path) -> str:
    """Return the text of a file, unpacked and with JSON's escapes undone."""
    from planner.evidence.packing import decompressed

    raw = path.read_bytes()
    content = decompressed(raw) if path.suffix == ".gz" else raw
    text = content.decode("utf-8", errors="replace")
    return text + text.replace("\\n", "\n").replace('\\"', '"')


def check(root: Path, *more: str) -> Result:
    command = ["check", "--stack", "s", "--root", str(root), *more]
    result = CliRunner().invoke(main, command)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_the_schemas_hold_places() -> None:
    """The walk finds what somebody who reads the models would name."""
    assert len(PLACES) > 100
    for place in (
        ("workload", ("owner",)),
        ("workload", ("residency", "jurisdictions", 0)),
        ("workload", ("models", 0, "evaluation", "ref")),
        ("workload", ("tier",)),
        ("platform", ("as_of",)),
        ("platform", ("accounts", 0, "model_versions", "KEY")),
        ("platform", ("accounts", 0, "model_versions", "any")),
        ("platform", ("rates", 0, "ref")),
        ("platform", ("policy", "url")),
    ):
        assert place in PLACES


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_every_place_is_refused_unseen(kind: str, tmp_path: Path) -> None:
    text, value = planted(kind)
    for number, (name, place) in enumerate(PLACES):
        path = tmp_path / f"{name}-{number}.yaml"
        path.write_text(json.dumps(with_text(DECLARED[name], place, text), indent=1))
        file = read_yaml(path, path.name)
        model, problems = validate(Workload, file, file.data)
        assert model is None
        (problem,) = problems
        assert "looks like" in problem.what, (place, problem)
        assert value not in str(InputError([problem])), place
        whole = tuple(part for part in place if part != "KEY")
        assert problem.where.endswith(f"({shown(whole)})"), (place, problem.where)
        assert int(problem.where.split(":")[1].split(" ")[0]) > 1


@pytest.mark.parametrize(
    ("name", "place", "kind"),
    [(name, place, KINDS[number % len(KINDS)]) for number, (name, place) in enumerate(PLACES)],
    ids=shown,
)
def test_the_command_refuses_a_planted_secret(
    name: str, place: tuple[int | str, ...], kind: str, project: Any
) -> None:
    text, value = planted(kind)
    root = project(CHAT)
    path = root / "stacks/s" / ("platform.yaml" if name == "platform" else "w-chat.yaml")
    path.write_text(json.dumps(with_text(DECLARED[name], place, text), indent=1))
    result = check(root)
    assert result.exit_code == 2
    assert f"stacks/s/{path.name}:" in result.stderr
    assert "looks like" in result.stderr
    assert not list(seen(result, root, value))
    assert not (root / "out").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_yaml_reader_quotes_is_not_shown(kind: str, project: Any) -> None:
    text, value = planted(kind)
    root = project(CHAT)
    path = root / "stacks/s/w-chat.yaml"
    row = json.dumps(text)
    path.write_text(f"{row}: 1\n{row}: {row}\nowner: [\n")
    result = check(root)
    assert result.exit_code == 2
    assert not list(seen(result, root, value))


@pytest.mark.parametrize("kind", ["AWS key id", "password", "JWT"])
@pytest.mark.parametrize("key", ["llm-capacity:folder", "llm-capacity:signed-purchases"])
def test_a_secret_in_the_stacks_own_configuration(kind: str, key: str, project: Any) -> None:
    text, value = planted(kind)
    root = project(CHAT)
    held = [text] if key.endswith("purchases") else text
    (root / "stacks/Pulumi.s.yaml").write_text(json.dumps({"config": {key: held}}, indent=1))
    result = check(root)
    assert result.exit_code == 2
    assert "stacks/Pulumi.s.yaml:" in result.stderr
    assert "looks like" in result.stderr
    assert not list(seen(result, root, value))


def test_what_belongs_to_pulumi_is_not_looked_at(project: Any) -> None:
    root = project(CHAT)
    config = {"aws:secretKey": {"secure": "v1:x:password=Tr0ub4dor&3xyz"}, "a:token": "0123abcdef"}
    document = {"encryptionsalt": "v1:Q:v1:password=Tr0ub4dor&3xyz", "config": config}
    config["llm-capacity:folder"] = "s"  # type: ignore[assignment]
    (root / "stacks/Pulumi.s.yaml").write_text(json.dumps(document))
    assert load_stack(root, "s", load_catalog()).name == "s"


@pytest.mark.parametrize(
    "field", ["ticket", "reason", "requested_by", "approver", "subject", "KEY"]
)
@pytest.mark.parametrize("kind", ["AWS key id", "GitHub token", "password", "JWT"])
def test_a_secret_in_a_waiver_stops_the_run(field: str, kind: str, tmp_path: Path) -> None:
    text, value = planted(kind)
    root = project_with_waiver(tmp_path)
    place = ("scope", "KEY") if field == "KEY" else (field,)
    path = signed(root / "policies/waivers", key=BUDGET, **with_text(WAIVED, place, text))
    result = check(root)
    assert result.exit_code == 2
    assert f"waivers/{path.name}:" in result.stderr
    assert not list(seen(result, root, value))
    assert not (root / "out").exists()


def test_a_secret_in_a_waiver_is_not_listed_either(tmp_path: Path) -> None:
    text, value = planted("GitHub token")
    root = project_with_waiver(tmp_path)
    signed(root / "policies/waivers", key=BUDGET, **with_text(WAIVED, ("reason",), text))
    with pytest.raises(InputError, match="looks like a GitHub token") as told:
        read_waivers(root, at=NOW)
    assert value not in str(told.value)


def project_with_waiver(folder: Path) -> Path:
    return project(folder, platform=OVER_BUDGET)


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_in_a_waiver_that_is_no_yaml(kind: str, tmp_path: Path) -> None:
    text, value = planted(kind)
    root = project_with_waiver(tmp_path)
    (root / "policies/waivers/broken.yml").write_text(f"a: [\n{text}\n")
    result = check(root)
    assert result.exit_code == 2
    assert "waivers/broken.yml:2" in result.stderr
    assert not list(seen(result, root, value))


@pytest.mark.parametrize(
    "variable",
    ["LLM_CAPACITY_ACTOR", "GIT_COMMIT", "LLM_CAPACITY_PIPELINE_URL", "LLM_CAPACITY_RUN"],
)
def test_a_secret_in_the_environment_is_redacted(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run for all kinds: each is in the same value, and none is to be seen."""
    root = project(tmp_path)
    monkeypatch.setenv(variable, " and ".join(planted(kind)[0] for kind in KINDS))
    monkeypatch.setattr("planner.evidence.origin.LONGEST", 100_000)
    result = check(root)
    assert result.exit_code == 0, result.stderr
    record = json.loads((root / "out/s/policy-record.jsonl").read_text())
    assert REDACTED in json.dumps(record)
    for kind in KINDS:
        assert not list(seen(result, root, planted(kind)[1])), kind


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone_in_the_environment(kind: str) -> None:
    from planner.evidence.origin import origin_of

    text, value = planted(kind)
    names = ("LLM_CAPACITY_ACTOR", "GIT_COMMIT", "LLM_CAPACITY_PIPELINE_URL", "LLM_CAPACITY_RUN")
    assert value not in str(origin_of(dict.fromkeys(names, f"by {text}")))


def test_a_secret_cut_at_the_longest_value_is_redacted_first() -> None:
    from planner.evidence.origin import LONGEST, origin_of

    text, value = planted("GitHub token")
    actor = origin_of({"LLM_CAPACITY_ACTOR": "x" * (LONGEST - 10) + " " + text}).actor
    assert value[:9] not in actor


def test_a_secret_in_the_approved_plan(tmp_path: Path) -> None:
    text, value = planted("AWS key id")
    root = project(tmp_path)
    (root / "approved.json").write_text(json.dumps({"resources": {text: 1}}, indent=1))
    result = check(root, "--baseline", "approved.json")
    assert result.exit_code == 2
    assert "approved.json:3" in result.stderr
    assert not list(seen(result, root, value))


def test_purchase_records_are_among_what_is_searched(tmp_path: Path) -> None:
    """The search reads compressed parts too: it finds what is there."""
    root = project(tmp_path)
    result = check(root)
    assert set(seen(result, root, "australiaeast")) >= {"plan.json"}
    found = set(seen(result, root, CHAT["signed_off_by"]))
    assert any(name.startswith("question-") for name in found)
    assert any(name.startswith("plan-") for name in found)


@pytest.mark.parametrize("name", STACKS)
def test_the_examples_hold_nothing_that_looks_like_a_secret(name: str) -> None:
    assert load_stack(ROOT, name, load_catalog()).name == name
    for path in (ROOT / "stacks" / name).rglob("*.yaml"):
        assert redact_text(path.read_text()) == path.read_text()


def test_the_catalog_and_the_policies_hold_nothing_that_looks_like_a_secret() -> None:
    for path in (files("planner.catalog") / "data").iterdir():
        text = path.read_text(encoding="utf-8")
        assert redact_text(text) == text, path.name
    for path in policies_folder().rglob("data.json"):
        assert redact_values(json.loads(path.read_text())) == json.loads(path.read_text())


@pytest.mark.parametrize(
    "text",
    [
        "sha256:" + "0123456789abcdef" * 4,
        "vllm/vllm-openai@sha256:" + "0123456789abcdef" * 4,
        "sha512-" + "Ab0/" * 21 + "Ab==",
        "7d475133c7d0b0d2a5a2b4a9a0f1e2d3c4b5a697",
        "meta-llama/Llama-3.3-70B-Instruct",
        "sk-tier2-customer-support-and-billing",
        "task-assignment-and-summary-drafts",
        "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/rg/providers/x",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
        "https://learn.example.com/azure/openai/quotas?view=2026-11#tokens",
        "https://me@git.example/repository",
        "ssh://git@git.example:22/x",
        "http://127.0.0.1:8181",
        "bearer instruments",
        "password: reset requests of customers",
        "secret: quarterly results before they are published",
        "max_tokens=4096, token_multiplier: 1.0",
        "tokens per minute: 400419",
        "microsoft/vidur arxiv_stats_llama2_tokenizer_filtered_v2.csv @7d475133 (MIT)",
        "us-east-1",
        "AKIA",
        "an AKIA number of the register",
        "eyJ",
        "hf_models",
        "glpat-",
        "xoxo",
    ],
)
def test_what_only_resembles_a_secret_passes(text: str) -> None:
    assert kind_of(text) is None
    assert redact_text(text) == text
    assert list(secrets_in({"a": [text]})) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_redacted_is_no_longer_a_secret(kind: str) -> None:
    text, value = planted(kind)
    clean = redact_text(f"before {text} after")
    assert value not in clean
    assert clean.startswith("before ")
    assert REDACTED in clean
    assert redact_text(clean) == clean
    assert value not in json.dumps(redact_values({text: [text]}))


def test_the_name_of_a_key_makes_a_secret_of_its_value() -> None:
    assert [found.path for found in secrets_in({"api_key": "0123abcdef", "key": "0123abcdef"})] == [
        ("api_key",)
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"token": "x"}, {"token": REDACTED}),
        ({"accessToken": "x"}, {"accessToken": REDACTED}),
        ({"client_secret": ["x"]}, {"client_secret": REDACTED}),
        ({"a": [{"PASSWORD": "x"}]}, {"a": [{"PASSWORD": REDACTED}]}),
        ({"api_key": "x", "apikey": "y"}, {"api_key": REDACTED, "apikey": REDACTED}),
        ({"token_multiplier": 1.5, "max_tokens": 5}, {"token_multiplier": 1.5, "max_tokens": 5}),
        ({"tokens_per_minute": {"p50": 1}}, {"tokens_per_minute": {"p50": 1}}),
        ({"note": "sent Bearer abcdefgh123"}, {"note": f"sent {REDACTED}"}),
        ({"url": "https://me:pw@host/x"}, {"url": f"https{REDACTED}host/x"}),
        ({"id": "AKIAABCDEFGHIJKLMNOP"}, {"id": REDACTED}),
        ({"AKIAABCDEFGHIJKLMNOP": 1}, {REDACTED: 1}),
        ({"key": "/options/3"}, {"key": "/options/3"}),
    ],
)
def test_redaction(value: Any, expected: Any) -> None:
    assert redact(value) == expected
    assert redact(redact(value)) == expected


def test_a_workload_may_be_called_after_a_secret() -> None:
    """Documents of a known shape lose values that look like one, not what a name suggests."""
    document = {"workloads": {"password-reset": {"tier": "batch"}}}
    assert redact_values(document) == document


def samples() -> Iterator[tuple[str, str]]:
    """Yield a text for each shape that the policies look for in resources."""
    facts = policies_folder() / "llm_capacity/facts/secrets/data.json"
    for row in json.loads(facts.read_text())["values"]:
        found = [planted(kind)[0] for kind in KINDS if re.search(row["pattern"], planted(kind)[0])]
        yield row["title"], found[0] if found else ""


def test_what_the_policies_look_for_is_refused_here_as_well() -> None:
    covered = dict(samples())
    assert len([text for text in covered.values() if text]) >= 8
    for title, text in covered.items():
        assert not text or kind_of(text), title
