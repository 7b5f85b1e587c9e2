"""Read a stack's folder: workloads and platform, checked against the catalog.

Every problem in every file is reported at once. The same bytes give the same
``input_digest`` from the CLI and from the Pulumi program.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from planner import faults
from planner.canonical_names import canonical_platform, canonical_workload
from planner.catalog.loader import Catalog
from planner.demand import TraceSeries, mix_problems, read_trace
from planner.errors import InputError, Problem
from planner.platform import Platform
from planner.project import CONFIG_FOLDER, project_above
from planner.references import live_problems, platform_problems, workload_problems
from planner.validation import validate
from planner.workload import Workload
from planner.yamlfile import YamlFile, read_yaml

PLATFORM_FILE = "platform.yaml"

OWN_PREFIX = "llm-capacity:"
"""Of the keys in Pulumi.<stack>.yaml that are the planner's."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
"""What Pulumi accepts as a stack's name, and what names a folder without leaving its parent."""


@dataclass(frozen=True)
class Stack:
    """A stack's declared input: validated, with traces read and bytes digested."""

    name: str
    root: Path
    platform: Platform
    workloads: tuple[Workload, ...]
    traces: dict[str, TraceSeries]
    input_digest: str
    files: dict[str, str] = field(default_factory=dict)
    """The file of each workload, as messages name it."""
    signed_purchases: frozenset[str] = frozenset()
    """Digests of the orders that a person has signed for, from Pulumi.<stack>.yaml."""


def load_stack(root: Path, name: str, catalog: Catalog) -> Stack:
    """Load ``stacks/Pulumi.<name>.yaml`` and the folder that it names.

    Raises InputError listing every problem in every file.
    """
    require_project(root)
    if not _PLAIN_NAME.fullmatch(name):
        what = f"{name[:100]!r} cannot name a stack"
        fix = "Use up to 100 letters, digits, dots, hyphens and underscores."
        raise InputError([faults.BAD_STACK_NAME.at("--stack", what, fix)])
    config = _config(root, name)
    folder = root / CONFIG_FOLDER / _folder_name(config, name)
    if not folder.is_dir():
        known = sorted(path.name for path in (root / CONFIG_FOLDER).glob("[!.]*") if path.is_dir())
        what = f"there is no folder {CONFIG_FOLDER}/{folder.name}"
        if known:
            fix = f"Create it, or use one of: {', '.join(known)}."
        else:
            fix = f"Start it with `llm-capacity init --stack {name}`{project_above(root)}."
        raise InputError([faults.NO_SUCH_STACK.at(f"stack {name}", what, fix)])
    stack = load_folder(root, name, folder, catalog)
    return replace(stack, signed_purchases=_signed_purchases(config, name))


def require_project(root: Path) -> None:
    """Raise InputError where there is no folder ``root``: nothing in it is not the same as none."""
    if not root.is_dir():
        raise InputError([faults.NO_PROJECT.at("--root", f"{root} is no folder")])


def load_folder(root: Path, name: str, folder: Path, catalog: Catalog) -> Stack:
    """Load ``platform.yaml`` and every other YAML file (a workload each) of ``folder``."""
    problems: list[Problem] = []
    files: list[YamlFile] = []
    for path in _declared_files(folder):
        if path.name == "platform.yml":
            what = "a platform is declared in platform.yaml"
            problems.append(faults.NO_PLATFORM.at(_label(root, path), what, "Rename the file."))
            continue
        try:
            files.append(read_yaml(path, _label(root, path)))
        except InputError as error:
            problems.extend(error.problems)
    platform, workloads = None, []
    for file in files:
        is_platform = Path(file.label).name == PLATFORM_FILE
        model: type[BaseModel] = Platform if is_platform else Workload
        value, found = validate(model, file, file.data)
        problems.extend(found)
        if isinstance(value, Platform):
            platform = value
            problems.extend(platform_problems(value, file, catalog))
        elif isinstance(value, Workload):
            workloads.append((value, file))
            problems.extend(workload_problems(value, file, catalog))
            problems.extend(_placed(file, mix_problems(value)))
    if not (folder / PLATFORM_FILE).exists():
        where = f"{_label(root, folder)}/{PLATFORM_FILE}"
        problems.append(
            faults.NO_PLATFORM.at(where, "the file is missing", "Declare the platform in it.")
        )
    if not any(path.name != PLATFORM_FILE for path in _declared_files(folder)):
        what = "no workload is declared"
        problems.append(faults.NO_WORKLOAD.at(_label(root, folder), what))
    problems.extend(_duplicates(workloads))
    if platform is not None:
        names = [workload.name for workload, _ in workloads]
        platform_file = next(f for f in files if Path(f.label).name == PLATFORM_FILE)
        problems.extend(live_problems(platform, platform_file, names))
    traces, trace_bytes = _read_traces(root, workloads, problems)
    if problems or platform is None:
        raise InputError(problems)
    return Stack(
        name=name,
        root=root,
        platform=canonical_platform(platform, catalog),
        workloads=tuple(
            sorted(
                (canonical_workload(workload, catalog) for workload, _ in workloads),
                key=lambda workload: workload.name,
            )
        ),
        traces=traces,
        input_digest=_digest([*((Path(f.label).name, f.raw) for f in files), *trace_bytes]),
        files={workload.name: file.label for workload, file in workloads},
    )


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the two kinds of file, for editors."""
    return {"workload": Workload.model_json_schema(), "platform": Platform.model_json_schema()}


def _declared_files(folder: Path) -> list[Path]:
    """Return the YAML files of a folder, by name; hidden ones belong to editors."""
    found = (path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    return sorted(path for path in found if not path.name.startswith("."))


class _StackConfig(BaseModel):
    """The part of Pulumi.<stack>.yaml that the planner reads."""

    model_config = ConfigDict(extra="ignore")
    config: dict[str, Any] = {}


def _config(root: Path, name: str) -> dict[str, Any]:
    """Return the values of ``Pulumi.<stack>.yaml``, none where there is no such file."""
    path = root / CONFIG_FOLDER / f"Pulumi.{name}.yaml"
    if not path.exists():
        return {}
    file = read_yaml(path, _label(root, path))
    config, problems = validate(_StackConfig, file, _own_values(file.data))
    if config is None:
        raise InputError(problems)
    return config.config


def _own_values(data: Any) -> Any:
    """Leave out what belongs to Pulumi and its providers, encrypted values among it."""
    if isinstance(data, dict) and isinstance(config := data.get("config"), dict):
        own = {key: value for key, value in config.items() if str(key).startswith(OWN_PREFIX)}
        return {"config": own}
    return data


def _folder_name(config: dict[str, Any], name: str) -> str:
    folder = config.get("llm-capacity:folder", name)
    if not isinstance(folder, str) or not _PLAIN_NAME.fullmatch(folder):
        what = "llm-capacity:folder must be the name of a folder in stacks/"
        where = f"{CONFIG_FOLDER}/Pulumi.{name}.yaml"
        raise InputError([faults.BAD_STACK_CONFIG.at(where, what, "Write a plain name.")])
    return folder


def _signed_purchases(config: dict[str, Any], name: str) -> frozenset[str]:
    signed = config.get("llm-capacity:signed-purchases", [])
    if not isinstance(signed, list) or not all(isinstance(item, str) for item in signed):
        what = "llm-capacity:signed-purchases must be a list of order digests"
        where = f"{CONFIG_FOLDER}/Pulumi.{name}.yaml"
        raise InputError(
            [faults.BAD_STACK_CONFIG.at(where, what, "Copy them from the purchase records.")]
        )
    return frozenset(signed)


def _read_traces(
    root: Path, workloads: list[tuple[Workload, YamlFile]], problems: list[Problem]
) -> tuple[dict[str, TraceSeries], list[tuple[str, bytes]]]:
    traces: dict[str, TraceSeries] = {}
    raw: list[tuple[str, bytes]] = []
    for workload, file in workloads:
        trace = workload.traffic.trace
        if trace is None:
            continue
        try:
            traces[workload.name] = read_trace(root, trace)
            raw.append((trace, (root / trace).read_bytes()))
        except InputError as error:
            problems.extend(_placed(file, list(error.problems), ("traffic", "trace")))
    return traces, raw


def _placed(
    file: YamlFile, found: list[Problem], path: tuple[int | str, ...] = ()
) -> Iterator[Problem]:
    for problem in found:
        at = path or tuple(problem.where.split("."))
        detail = f"{problem.where}: {problem.what}" if path else problem.what
        yield problem.placed(file.where(at), detail)


def _duplicates(workloads: list[tuple[Workload, YamlFile]]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for workload, file in workloads:
        if workload.name in seen:
            what = f"the name {workload.name!r} is taken by {seen[workload.name]}"
            yield faults.DECLARED_TWICE.at(
                file.where(("name",)), what, "Names are unique within a stack."
            )
        seen[workload.name] = file.label


def _label(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _digest(parts: list[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, raw in sorted(parts):
        digest.update(f"{name}\0{len(raw)}\0".encode())
        digest.update(raw)
    return digest.hexdigest()
