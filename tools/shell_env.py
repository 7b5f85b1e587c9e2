"""What plain `pulumi preview` needs from the shell, and a way to run one command with it.

`python -m tools.shell_env` prints export lines; `python -m tools.shell_env -- COMMAND ...` runs
a command in that environment, without the preview-only provider and without KUBECONFIG.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from tools import cache as store
from tools.pins import KUBERNETES_PROVIDER
from tools.ports import attached
from tools.processes import provider_for, stop_provider
from tools.progress import SetupError

PROJECT = Path(__file__).resolve().parent.parent
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
        project_root: the clone, in which set-up has been run.
        preview_provider: start (or find again) the preview-only provider and attach it for
            every cloud whose SDK is installed.
        watch_pid: the provider ends with this process; the parent of this one by default.
        environ: the environment to build on; os.environ by default.

    Raises:
        SetupError: set-up has not been run, or the provider does not start.
    """
    base = os.environ if environ is None else environ
    cache = store.cache_root(base)
    home = store.pulumi_home(cache, base)
    python = project_root / ".venv" / "bin" / "python"
    first = [*_tool_folders(project_root, home), python.parent]
    result = {
        "PATH": _path(first, base.get("PATH", os.defpath)),
        "LLM_CAPACITY_PYTHON": str(python),
        "PULUMI_HOME": str(home),
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_BACKEND_URL": base.get("PULUMI_BACKEND_URL") or local_backend(project_root, base),
    }
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


def _tool_folders(project_root: Path, home: Path) -> list[Path]:
    """Our view of the tools, and the folder of the plugin where `home` does not hold it."""
    record = project_root / ".venv" / TOOLS_FILE
    try:
        found = json.loads(record.read_text())
        view, plugin = Path(found["bin"]), Path(found["executables"][KUBERNETES_PROVIDER.name])
    except (OSError, ValueError, KeyError) as error:
        raise SetupError("set-up has not been run here: run `make setup`") from error
    if not view.is_dir() or not plugin.exists():
        raise SetupError("the tools that set-up found are gone: run `make setup`")
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


def main(arguments: list[str]) -> int:
    """Print the export lines, or become COMMAND."""
    try:
        if arguments[:1] != ["--"]:
            print(render_exports(shell_environment(PROJECT)), end="")
            return 0
        variables = shell_environment(PROJECT, preview_provider=False)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    env = {**os.environ, **variables}
    env.pop("KUBECONFIG", None)
    os.execvpe(arguments[1], arguments[1:], env)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
