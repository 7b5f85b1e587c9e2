"""What plain `pulumi` needs from the shell: the tools on PATH, a backend, a stand-in provider."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from planner.project import PACK_ROOT_VARIABLE, PACK_VARIABLE, has_own_pack, pack_folder
from planner.toolchain import cache as store
from planner.toolchain.pins import KUBERNETES_PROVIDER
from planner.toolchain.ports import attached
from planner.toolchain.processes import provider_for, stop_provider
from planner.toolchain.progress import SetupError
from planner.toolchain.toolchain import Toolchain

# Encrypts nothing of value: it belongs to the salts in the example stack files.
EXAMPLES_PASSPHRASE = "llm-capacity-examples"  # noqa: S105
TOOLS_FILE = "tools.json"


def shell_environment(
    project_root: Path,
    *,
    preview_provider: bool = True,
    watch_pid: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The variables to set for a plain `pulumi` in one's own shell.

    A backend, a passphrase and a PULUMI_HOME that the user has already are left alone.

    Args:
        project_root: the project's folder: a clone in which `make setup` has been run, or a
            folder of a user who has run `llm-capacity setup`.
        preview_provider: start (or find again) the preview-only provider and attach it for
            every cloud whose SDK is installed; none where no SDK is.
        watch_pid: the provider ends with this process; the parent of this one by default.
        environ: the environment to build on; os.environ by default.

    Raises:
        SetupError: set-up has not been run, or the provider does not start.
    """
    base = os.environ if environ is None else environ
    cache = store.cache_root(base)
    home = store.pulumi_home(cache, base)
    python = _python_of(project_root)
    first = [*_tool_folders(project_root, cache, home), python.parent]
    result = {
        "PATH": _path(first, base.get("PATH", os.defpath)),
        "LLM_CAPACITY_PYTHON": str(python),
        PACK_VARIABLE: str(pack_folder(project_root)),
        "PULUMI_HOME": str(home),
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_BACKEND_URL": base.get("PULUMI_BACKEND_URL") or local_backend(project_root, base),
    }
    if not has_own_pack(project_root):
        result[PACK_ROOT_VARIABLE] = str(project_root)
    if "PULUMI_CONFIG_PASSPHRASE" in base:
        result["PULUMI_CONFIG_PASSPHRASE"] = base["PULUMI_CONFIG_PASSPHRASE"]
    elif "PULUMI_CONFIG_PASSPHRASE_FILE" not in base:
        result["PULUMI_CONFIG_PASSPHRASE"] = EXAMPLES_PASSPHRASE
    if preview_provider:
        watched = os.getppid() if watch_pid is None else watch_pid
        folder = run_folder(project_root, base)
        running = provider_for(project_root, python, folder, watched)
        result["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
        result["PULUMI_DEBUG_PROVIDERS"] = attached(
            base.get("PULUMI_DEBUG_PROVIDERS", ""), running.ports
        )
    return result


def run_folder(project_root: Path, environ: Mapping[str, str]) -> Path:
    """Where the running preview-only providers of a clone are remembered."""
    return store.cache_root(environ) / "run" / _clone_key(project_root)


def render_exports(variables: Mapping[str, str]) -> str:
    """Lines of `export NAME=value`, quoted for a POSIX shell."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


def stop(project_root: Path, watch_pid: int, *, environ: Mapping[str, str] | None = None) -> None:
    """Stop the preview-only provider of a clone that watches `watch_pid`, if one runs."""
    base = os.environ if environ is None else environ
    stop_provider(run_folder(project_root, base), watch_pid)


def record_of(project_root: Path, cache: Path) -> Path:
    """Where set-up notes what it found: in the clone that it set up, else in the user's cache."""
    for venv in (project_root / ".venv", Path(sys.prefix)):
        if (venv / TOOLS_FILE).is_file():
            return venv / TOOLS_FILE
    return cache / TOOLS_FILE


def write_record(record: Path, found: Toolchain) -> None:
    """Note where the tools are, whole or not at all."""
    noted = {
        "bin": str(found.bin),
        "executables": {name: str(path) for name, path in sorted(found.executables.items())},
    }
    record.parent.mkdir(parents=True, exist_ok=True)
    draft = record.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(noted, indent=2) + "\n")
    draft.replace(record)


def _python_of(project_root: Path) -> Path:
    """The Python that runs programs: that of a clone that was set up, else the one of this run."""
    venv = project_root / ".venv"
    own = (venv / TOOLS_FILE).is_file()
    return venv / "bin" / "python" if own else Path(sys.executable)


def _tool_folders(project_root: Path, cache: Path, home: Path) -> list[Path]:
    """Our view of the tools, and the folder of the plugin where `home` does not hold it."""
    way_out = "run `llm-capacity setup` (`make setup` in a clone of the project)"
    try:
        found = json.loads(record_of(project_root, cache).read_text())
        view, plugin = Path(found["bin"]), Path(found["executables"][KUBERNETES_PROVIDER.name])
    except (OSError, ValueError, KeyError) as error:
        raise SetupError(f"set-up has not been run here: {way_out}") from error
    if not view.is_dir() or not plugin.exists():
        raise SetupError(f"the tools that set-up found are gone: {way_out}")
    version = KUBERNETES_PROVIDER.version
    installed = home / "plugins" / f"resource-kubernetes-v{version}" / KUBERNETES_PROVIDER.name
    return [view] if installed.exists() else [view, plugin.parent]


def local_backend(project_root: Path, environ: Mapping[str, str]) -> str:
    """The URL of this clone's own state backend, in the per-user cache; created if absent."""
    folder = store.cache_root(environ) / "state" / _clone_key(project_root)
    folder.mkdir(parents=True, exist_ok=True)
    return f"file://{folder}"


def _clone_key(project_root: Path) -> str:
    return store.short_digest([str(project_root.resolve()).encode()])


def _path(first: list[Path], current: str) -> str:
    ours = [str(folder) for folder in first]
    rest = [folder for folder in current.split(os.pathsep) if folder and folder not in ours]
    return os.pathsep.join([*ours, *rest])
