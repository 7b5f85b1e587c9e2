"""The files of a first project, as text: templates with answers in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template

from planner.scaffold.answers import CLOUDS, SAMPLE_DEMAND, Answers

_DATA = files("planner.scaffold") / "data"
_SAMPLE_NOTE = "\n  # These are a public trace's: put your own here."
_WINDOW = """
  # When batch work may run.
  window: {hours: "20:00-06:00", days: [mon, tue, wed, thu, fri]}"""
_GCP_ACCOUNT = """\
    # The project id.
    # account_id: my-project
    # Published prices are those of the global endpoint, which promises no place: where the
    # residency excludes it, give the price of a regional one in `rates`."""
_MODEL = """\
  - name: $name
    # How you know that it is good enough; asked for above public data.
    # evaluation: {suite: NAME, score: 0.9, threshold: 0.85, date: 2026-01-31, ref: WHERE}"""


def project_files() -> dict[str, str]:
    """Return what every project has, by path: the same for each stack."""
    return {
        "Pulumi.yaml": _text("Pulumi.yaml"),
        "__main__.py": _text("__main__.py.txt"),
    }


def first_files() -> dict[str, str]:
    """Return what a project starts with and makes its own: written where there is none yet."""
    return {
        ".gitignore": _text("gitignore.txt"),
        "policies/waivers/owners.yaml": _text("owners.yaml"),
    }


def stack_files(answers: Answers) -> dict[str, str]:
    """Return the files of the stack, by path."""
    folder = f"stacks/{answers.stack}"
    stack = {"stack": answers.stack}
    return {
        f"stacks/Pulumi.{answers.stack}.yaml": _filled("stack.yaml", stack),
        f"{folder}/platform.yaml": _filled("platform.yaml", {**stack, **_platform(answers)}),
        f"{folder}/{answers.workload}.yaml": _filled("workload.yaml", _workload(answers)),
    }


def _platform(answers: Answers) -> Mapping[str, str]:
    known = CLOUDS[answers.cloud]
    more = {
        "azure": f"    resource_group: {_scalar(answers.resource_group)}",
        "aws": '    # The account number.\n    # account_id: "123456789012"',
        "gcp": _GCP_ACCOUNT,
    }
    return {
        "as_of": answers.as_of.isoformat(),
        "account": answers.account,
        "account_more": more[answers.cloud],
        "cloud": answers.cloud,
        "region": _scalar(answers.region or known.region),
        "unit_type": known.unit_type,
    }


def _workload(answers: Answers) -> Mapping[str, str]:
    known = CLOUDS[answers.cloud]
    models = answers.models or (known.model,)
    demand, prompts, outputs = answers.demand, answers.prompts, answers.outputs
    return {
        "workload": answers.workload,
        "owner": _scalar(answers.owner),
        "tier": answers.tier,
        "classification": answers.classification,
        "jurisdictions": json.dumps(answers.jurisdictions),
        "data_asset": _scalar(answers.data_asset),
        "signed_off_by": _scalar(answers.signed_off_by),
        "models": "\n".join(_model(name) for name in models),
        "demand_note": _SAMPLE_NOTE if demand == SAMPLE_DEMAND else "",
        "p10": _number(demand.p10),
        "p50": _number(demand.p50),
        "p90": _number(demand.p90),
        "p99": _number(demand.p99),
        "peak": _number(demand.peak),
        "active_hours": _number(answers.active_hours),
        "output_fraction": _number(answers.output_fraction),
        "prompt_mean": _number(prompts.mean),
        "prompt_p50": _number(prompts.p50),
        "prompt_p95": _number(prompts.p95),
        "output_mean": _number(outputs.mean),
        "output_p50": _number(outputs.p50),
        "output_p95": _number(outputs.p95),
        "max_tokens": str(answers.max_tokens),
        "window": _WINDOW if answers.tier == "batch" else "",
        "payg_type": known.payg_type,
    }


def _model(name: str) -> str:
    return Template(_MODEL).substitute(name=_scalar(name))


def _scalar(text: str) -> str:
    """Write a text as YAML: plain where that is safe, else quoted as JSON, which YAML reads."""
    plain = text.replace("-", "").replace("_", "").replace(".", "").replace("/", "")
    safe = plain.isascii() and plain.isalnum() and plain[0].isalpha() and text[-1].isalnum()
    return text if safe and text.lower() not in _WORDS else json.dumps(text)


_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""What some reader of YAML takes for something else than a text."""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _filled(name: str, values: Mapping[str, str]) -> str:
    return Template(_text(name)).substitute(values)


def _text(name: str) -> str:
    return (_DATA / name).read_text(encoding="utf-8")
