"""The questions of `init`: what an option has not said is asked, each with a default."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, get_args

import rich_click as click
from click.types import convert_type

from planner.errors import InputError
from planner.scaffold.answers import CLOUDS, SAMPLE_DEMAND, Answers
from planner.validation import validate
from planner.workload import CLASSIFICATIONS, Tier
from planner.yamlfile import YamlFile

DEMAND = ("p10", "p50", "p90", "p99", "peak")
LENGTHS = ("mean", "p50", "p95")


class Numbers(click.ParamType[dict[str, float]]):
    """Numbers with commas between them, one for each name."""

    name = "numbers"

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """Return the numbers by name; a usage error names what is wrong."""
        if isinstance(value, dict):
            return value
        try:
            numbers = [float(part.replace("_", "")) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} are no numbers with commas between them", param, ctx)
        if len(numbers) != len(self._names):
            self.fail(f"give {len(self._names)} numbers: {','.join(self._names)}", param, ctx)
        return dict(zip(self._names, numbers, strict=True))


_OPTIONS = {
    "jurisdictions": "--jurisdiction",
    "models": "--model",
    "demand": "--tokens-per-minute",
    "prompts": "--prompt-tokens",
    "outputs": "--output-tokens",
}
"""The option of an answer, where it has another name."""


class _Given(YamlFile):
    """What was answered, as a source of problems: each is told by its option."""

    def where(self, path: tuple[int | str, ...]) -> str:
        """Return the option of the answer."""
        name = str(path[0]) if path else "init"
        return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def asked_for(
    given: Mapping[str, Any],
    day: dt.date,
    *,
    ask: bool,
    check: Callable[[Answers], object],
    taken: Collection[str] = (),
) -> Answers:
    """Return the answers: as given, else as asked for (``ask``), else the default.

    Each answer is held against ``check``, which raises InputError, when it is given: a wrong one
    is asked for again. ``taken`` are the stacks that exist.

    Raises InputError naming the option of each answer that cannot be used.
    """
    answers = {name: value for name, value in given.items() if value not in (None, ())}
    answers["as_of"] = day.isoformat()
    if ask:
        # Options are no questions: with a wrong one no answer would do.
        check(_answers(answers))
        _ask(answers, check, taken)
    return _answers(answers)


def _answers(answers: Mapping[str, Any]) -> Answers:
    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in answers.items()
    }
    found, problems = validate(Answers, _Given("init", b"", plain, None), plain)
    if found is None:
        raise InputError(problems)
    return found


def _ask(
    answers: dict[str, Any], check: Callable[[Answers], object], taken: Collection[str]
) -> None:
    """Ask on stderr, from a terminal, for what a first workload turns on."""
    default = {name: field.default for name, field in Answers.model_fields.items()}

    def question(name: str, text: str, kind: Any = None, value: Any = None) -> None:
        if name in answers:
            return
        shown = default[name] if value is None else value
        typed = convert_type(kind, shown)

        def usable(said: Any) -> Any:
            answer = typed(said)
            if name == "stack" and answer in taken:
                raise click.UsageError(f"there is a stack {answer} already")
            try:
                check(_answers({**answers, name: answer}))
            except InputError as error:
                told = (f"{problem.what}. {problem.fix}" for problem in error.problems)
                raise click.UsageError(" ".join(told)) from None
            return answer

        answers[name] = click.prompt(text, default=shown, type=kind, value_proc=usable, err=True)

    question("stack", "Name of the stack")
    question("workload", "Name of the workload")
    question("owner", "Team that owns it")
    question("tier", "Does somebody wait for it?", click.Choice(get_args(Tier)))
    question("classification", "Classification of its data", click.Choice(CLASSIFICATIONS))
    question(
        "jurisdictions",
        "Where may prompts be processed: country codes or EU (commas between)",
        _Words(),
        "US",
    )
    question("cloud", "Cloud of the first account", click.Choice([*CLOUDS]))
    known = CLOUDS[answers["cloud"]]
    question("region", "Region of the account", None, known.region)
    question("models", "Models that are good enough (commas between)", _Words(), known.model)
    sample = ",".join(f"{value:g}" for name, value in SAMPLE_DEMAND if name in DEMAND)
    question("demand", f"Tokens a minute: {','.join(DEMAND)}", Numbers(DEMAND), sample)


class _Words(click.ParamType[list[str]]):
    """Words with commas between them."""

    name = "words"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        """Return the words."""
        if isinstance(value, list):
            return value
        return [word.strip() for word in str(value).split(",") if word.strip()]
