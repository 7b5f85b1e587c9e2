"""Finds pulumi, its plugins and opa on PATH; builds what is absent into the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.toolchain import cache as store
from planner.toolchain.pins import (
    KUBERNETES_PROVIDER,
    OPA,
    PULUMI,
    Tool,
    format_version,
    parse_version,
)
from planner.toolchain.progress import SetupError, run_step, say

GO_MINIMUM = (1, 21)
GO_FLAGS = ("build", "-trimpath", "-buildvcs=false", "-mod=mod")
LANGUAGE_HOST = "pulumi-language-python"
LANGUAGE_SERVER = "language_host.py"
GO_SOURCES = Path(__file__).resolve().parent / "go"
"""The Go sources of what users need: one folder a tool."""


@dataclass(frozen=True)
class Toolchain:
    """What set-up settled on: executable by name, and the directory that goes on PATH."""

    executables: dict[str, Path]
    bin: Path


def resolve(environ: Mapping[str, str]) -> Toolchain:
    """Every tool from PATH where it is recent enough, else from the cache, else built."""
    cache = store.cache_root(environ)
    found = {
        OPA.name: on_path(OPA, environ) or build(OPA, GO_SOURCES, cache, environ),
        PULUMI.name: on_path(PULUMI, environ) or build(PULUMI, GO_SOURCES, cache, environ),
    }
    found[LANGUAGE_HOST] = language_host(found[PULUMI.name], cache, environ)
    found[KUBERNETES_PROVIDER.name] = kubernetes_plugin(cache, environ) or build(
        KUBERNETES_PROVIDER, GO_SOURCES, cache, environ
    )
    install_plugin(found[KUBERNETES_PROVIDER.name], cache)
    return Toolchain(executables=found, bin=store.bin_view(cache, _on_view(found)))


def on_path(tool: Tool, environ: Mapping[str, str]) -> Path | None:
    """The first executable of that name on PATH, if its version is accepted."""
    located = _outside_cache(tool.name, environ)
    if located is None or tool.minimum is None:
        return None
    home = str(store.pulumi_home(store.cache_root(environ), environ))
    quiet = {**environ, "PULUMI_SKIP_UPDATE_CHECK": "1", "PULUMI_HOME": home}
    try:
        answer = subprocess.run(
            [located, *tool.version_command],
            capture_output=True,
            text=True,
            env=quiet,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        say(f"{tool.name} on PATH does not run; set-up uses its own {tool.version}")
        return None
    version = parse_version(answer.stdout)
    if version is None or version < tool.minimum:
        shown = format_version(version) if version else "of unknown version"
        say(f"{tool.name} {shown} on PATH is too old; {tool.accepted} is needed")
        return None
    return located


def kubernetes_plugin(cache: Path, environ: Mapping[str, str]) -> Path | None:
    """The Kubernetes provider that the user already has: in Pulumi's plugins, or on PATH."""
    tool = KUBERNETES_PROVIDER
    plugins = store.pulumi_home(cache, environ) / "plugins"
    installed = plugins / f"resource-kubernetes-v{tool.version}" / tool.name
    if store.is_executable(installed) and cache not in installed.parents:
        return installed
    return _outside_cache(tool.name, environ)


def install_plugin(executable: Path, cache: Path) -> None:
    """Put the Kubernetes provider among the plugins of our own PULUMI_HOME."""
    name = f"resource-kubernetes-v{KUBERNETES_PROVIDER.version}"

    def link(draft: Path) -> None:
        store.link(executable, draft / KUBERNETES_PROVIDER.name, cache)

    store.publish(store.own_home(cache) / "plugins" / name, link)


def language_host(pulumi: Path, cache: Path, environ: Mapping[str, str]) -> Path:
    """The official Python language host if it is there, else ours, installed in the cache."""
    beside = pulumi.resolve().parent / LANGUAGE_HOST
    if store.is_executable(beside):
        return beside
    official = _outside_cache(LANGUAGE_HOST, environ)
    return official or _install_language_host(cache)


def build(tool: Tool, sources: Path, cache: Path, environ: Mapping[str, str]) -> Path:
    """The executable from the cache; built first where it is absent.

    ``sources`` holds a folder of Go sources for each tool. The caller holds the lock of the
    cache: one build at a time.

    Raises:
        SetupError: Go is absent or too old, or the build failed.
    """
    source = sources / tool.source
    target = store.tool_directory(cache, tool, source)
    store.publish(target, lambda draft: _compile(tool, source, draft, cache, environ))
    return target / tool.name


def _compile(
    tool: Tool, source: Path, draft: Path, cache: Path, environ: Mapping[str, str]
) -> None:
    remedy = (
        f"Go >= 1.26.6 is needed to build {tool.name}: "
        f"install Go (https://go.dev/dl), or put {tool.accepted} on PATH."
    )
    _check_go(tool, remedy, environ)
    _check_memory(tool)
    env = {**environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    with tempfile.TemporaryDirectory(prefix="llm-capacity-build-") as temporary:
        work = Path(temporary)
        for name in store.KEYED_FILES:
            if (source / name).exists():
                shutil.copyfile(source / name, work / name)
        log = cache / "logs" / f"{tool.name}-{tool.version}.log"
        if tool.embeds:
            run_step(
                f"downloading the sources of {tool.name} {tool.version}",
                ["go", "mod", "download", tool.embeds_module],
                log=log,
                minutes=0.5,
                remedy=remedy,
                cwd=work,
                env=env,
            )
            _copy_embeds(tool, work, env)
        linker = " ".join(["-s", "-w", *(f"-X {value}" for value in tool.linker)])
        output = str(draft / tool.name)
        run_step(
            f"building {tool.name} {tool.version}, once for this user",
            ["go", *GO_FLAGS, "-ldflags", linker, "-o", output, tool.package],
            log=log,
            minutes=tool.minutes,
            remedy=remedy,
            cwd=work,
            env=env,
        )


def _copy_embeds(tool: Tool, work: Path, env: Mapping[str, str]) -> None:
    listed = subprocess.run(
        ["go", "list", "-mod=mod", "-m", "-f", "{{.Dir}}", tool.embeds_module],
        cwd=work,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(listed.stdout.strip()) / tool.embeds_folder
    for name in tool.embeds:
        shutil.copyfile(folder / name, work / name)


def _check_go(tool: Tool, remedy: str, environ: Mapping[str, str]) -> None:
    go = shutil.which("go", path=environ.get("PATH", ""))
    if go is None:
        raise SetupError(f"{tool.name} is not on PATH and Go is missing. {remedy}")
    answer = subprocess.run([go, "version"], capture_output=True, text=True, check=False)
    version = parse_version(answer.stdout.replace("go1", "1"))
    # From 1.21 on, Go fetches the toolchain that a go.mod names by itself.
    if version is None or version < GO_MINIMUM:
        raise SetupError(f"{answer.stdout.strip() or 'this Go'} is too old. {remedy}")


def _check_memory(tool: Tool) -> None:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (OSError, ValueError):
        return
    if total < tool.memory_gib + 0.5:
        say(
            f"warning: building {tool.name} peaks near {tool.memory_gib:g} GiB of memory and this "
            f"machine has {total:.1f}; if it is killed, put {tool.accepted} on PATH"
        )


def _on_view(found: Mapping[str, Path]) -> dict[str, Path]:
    """What goes on PATH: all but the plugin, and the server beside our language host."""
    files = {name: path for name, path in found.items() if name != KUBERNETES_PROVIDER.name}
    server = found[LANGUAGE_HOST].with_name(LANGUAGE_SERVER)
    return {**files, LANGUAGE_SERVER: server} if server.is_file() else files


def _install_language_host(cache: Path) -> Path:
    folder = Path(__file__).resolve().parent
    files = {
        LANGUAGE_HOST: folder / "language_host.sh",
        LANGUAGE_SERVER: folder / LANGUAGE_SERVER,
    }

    def fill(draft: Path) -> None:
        for name, file in files.items():
            shutil.copyfile(file, draft / name)
        (draft / LANGUAGE_HOST).chmod(0o755)

    key = store.short_digest(file.read_bytes() for file in files.values())
    return store.publish(cache / "tools" / f"{LANGUAGE_HOST}-{key}", fill) / LANGUAGE_HOST


def _outside_cache(name: str, environ: Mapping[str, str]) -> Path | None:
    """Like shutil.which, without our own views: those hold what an earlier set-up chose."""
    cache = store.cache_root(environ)
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [folder for folder in folders if folder and cache not in Path(folder).parents]
    located = shutil.which(name, path=os.pathsep.join(kept)) if kept else None
    return Path(located).absolute() if located else None
