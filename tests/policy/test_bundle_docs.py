"""docs/policy-engine.md does what it says: its commands run, its messages are the real ones."""

from __future__ import annotations

import ast
import contextlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
from ruamel.yaml import YAML

from planner.declared.engine import PolicySettings
from planner.policy import engine as engine_module
from planner.policy.bundle import policies_folder, read_bundle
from planner.policy.engine import TOKEN_VARIABLE, PolicyEngine
from planner.policy.signing import load_bundle
from tests.policy.bundling import Authority
from tests.policy.conftest import free_port

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/policy-engine.md").read_text()
MODULES = Path(engine_module.__file__).parent
RAISING = {"PolicyUnavailable", "_unusable", "_failed"}


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def project(opa: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which every command of the page has been run, in order."""
    if shutil.which("openssl") is None:
        pytest.skip("the page makes its keys with openssl, which is not on PATH")
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(policies_folder(), folder / "policies")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "opa").symlink_to(opa)
    command = tools / "llm-capacity"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom planner.cli.bundling import bundle\n"
        "assert sys.argv.pop(1) == 'bundle'\nbundle()\n"
    )
    command.chmod(0o755)
    for script in blocks("sh"):
        done = subprocess.run(
            ["bash", "-eu", "-c", script],
            cwd=folder,
            env={"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (script, done.stdout, done.stderr)
    return folder


@pytest.fixture(scope="module")
def central(project: Path) -> Iterator[str]:
    """The address of the server that the page starts, on a port that is free."""
    (script,) = blocks("sh server")
    authority = Authority(project / "authority", "authority")
    for made, name in zip(authority.server(), ("server.pem", "server.key"), strict=True):
        shutil.copy(made, project / name)
    shutil.copy(authority.path, project / "authority.pem")
    port = free_port()
    assert ":8443" in script
    words = script.replace(":8443", f":{port}").split()
    words[0] = str(project / "tools" / words[0])
    process = subprocess.Popen(words, cwd=project, stdin=subprocess.DEVNULL)
    url, deadline = f"https://127.0.0.1:{port}", time.monotonic() + 20
    try:
        while time.monotonic() < deadline:
            with contextlib.suppress(requests.ConnectionError):
                reply = requests.get(f"{url}/health?bundles", verify=str(authority.path), timeout=1)
                if reply.status_code == 200:
                    break
            time.sleep(0.02)
        yield url
    finally:
        process.kill()
        process.wait()


def settings(block: str) -> PolicySettings:
    return PolicySettings.model_validate(YAML(typ="safe").load(block)["policy"])


def test_the_signed_bundle_of_the_page(project: Path, opa: str, make: SimpleNamespace) -> None:
    given = settings(blocks("yaml")[0])
    assert given.bundle
    assert given.verification_key
    with PolicyEngine(
        opa=opa,
        bundle=project / given.bundle,
        verification_key=project / given.verification_key,
        verification_key_id=given.verification_key_id,
    ) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
        assert engine.facts.signed


def test_the_next_key_signs_the_same_revision(project: Path, opa: str) -> None:
    old = load_bundle(project / "bundle.tar.gz", project / "policy-2026.pub", "policy-2026", opa)
    new_key = project / "policy-2027.pub"
    new = load_bundle(project / "bundle-2027.tar.gz", new_key, "policy-2027", opa)
    assert new.digest == old.digest == read_bundle(project / "policies").digest


def test_the_central_server_of_the_page(
    project: Path,
    central: str,
    opa: str,
    make: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = settings(blocks("yaml")[1])
    assert given.url == "https://127.0.0.1:8443"
    assert given.ca_bundle
    assert given.bundle
    assert given.verification_key
    monkeypatch.setenv(TOKEN_VARIABLE, (project / "token").read_text())
    with PolicyEngine(
        central,
        opa=opa,
        ca_bundle=project / given.ca_bundle,
        bundle=project / given.bundle,
        verification_key=project / given.verification_key,
        verification_key_id=given.verification_key_id,
    ) as engine:
        assert engine.ask(make.question([make.option()])).options == {"chat/payg": "allow"}
        assert engine.facts.signed


def test_every_setting_is_explained() -> None:
    named = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE.partition("\n## ")[0], re.MULTILINE))
    assert named == set(PolicySettings.model_fields)
    for name, field in PolicySettings.model_fields.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*\| (.*) \|$", PAGE, re.MULTILINE)
        if field.default is not None:
            assert str(field.default).removesuffix(".0") in row


def phrases() -> list[str]:
    table = PAGE.partition("## Messages")[2]
    return re.findall(r"^\| (?:`opa build` )?`?([^|`]+)`? \|", table, re.MULTILINE)


def texts() -> Iterator[tuple[str, str]]:
    """Every call that refuses, as file and text with {} for what is filled in.

    A text is given in the call, or assigned in the same function before it; what only joins
    the words of its callers is none of its own.
    """
    for path in sorted(MODULES.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            named = assigned(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RAISING:
                    at = node.args[0]
                    words = at.args if isinstance(at, ast.Call) else node.args
                    spelt = [named.get(getattr(word, "id", ""), [word]) for word in words]
                    for choice in product(*spelt):
                        text = " ".join(spoken(word) for word in choice)
                        # Joined with its cause in that module, in a text of its own.
                        if path.name == "waiver_owners.py":
                            continue
                        if len(re.sub(r"\{\}|policy engine|`opa|\W", "", text)) > 3:
                            yield f"{path.name}:{node.lineno}", text


def assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Return what each name of a function is set to, wherever it is."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
    return found


def spoken(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(spoken(part) for part in node.values)
    return "{}"


def test_every_message_is_explained() -> None:
    known = [phrase for phrase in phrases() if phrase != "message"]
    unknown = [
        (where, text) for where, text in texts() if not any(phrase in text for phrase in known)
    ]
    assert len(list(texts())) > 40
    assert unknown == []


def test_every_explained_message_exists() -> None:
    source = "".join(
        re.sub(r"\{[^{}]*\}", "{}", spoken(node))
        for path in sorted(MODULES.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.JoinedStr | ast.Constant)
    )
    for phrase in phrases():
        assert phrase in source or phrase in ("message", TOKEN_VARIABLE), phrase
