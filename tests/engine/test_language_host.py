"""Programs under the Python language host that set-up chose, seen from the user's side."""

from __future__ import annotations

import shutil

import pytest

from planner.toolchain.shell_env import EXAMPLES_PASSPHRASE
from planner.toolchain.stacks import ensure_stack
from tools.shell_env import PROJECT

pytestmark = pytest.mark.engine

PREVIEW = ["preview", "--stack", "dev", "--non-interactive"]


def diagnostics(output):
    """What follows the progress, in which Pulumi shows each message as it comes."""
    return output.partition("Diagnostics:")[2]


def test_outputs_and_config_reach_the_program(throw_away, run_pulumi, engine_env):
    project = throw_away(
        "import pulumi\n"
        "pulumi.export('answer', pulumi.Config().require_int('question') * 2)\n"
        "pulumi.export('preview', pulumi.runtime.is_dry_run())\n"
    )
    run_pulumi(["config", "set", "question", "21", "--stack", "dev"], project, engine_env)
    result = run_pulumi(PREVIEW, project, engine_env)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "answer : 42" in " ".join(result.stdout.split())
    assert "preview: true" in " ".join(result.stdout.split())


def test_the_program_runs_under_the_environment_of_the_clone(throw_away, run_pulumi, engine_env):
    project = throw_away("import sys, pulumi\npulumi.export('prefix', sys.prefix)\n")
    result = run_pulumi(PREVIEW, project, engine_env)
    assert engine_env["LLM_CAPACITY_PYTHON"].removesuffix("/bin/python") in result.stdout


def test_modules_beside_the_program_are_importable(throw_away, run_pulumi, engine_env):
    project = throw_away("import beside\nimport pulumi\npulumi.export('value', beside.VALUE)\n")
    (project / "beside.py").write_text("VALUE = 'from-beside'\n")
    result = run_pulumi(PREVIEW, project, engine_env)
    assert "from-beside" in result.stdout


def test_a_run_error_is_one_diagnostic_without_traceback(throw_away, run_pulumi, engine_env):
    source = "import pulumi\nraise pulumi.RunError('denied: RES-001 by policy')\n"
    result = run_pulumi(PREVIEW, throw_away(source), engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0
    assert diagnostics(output).count("denied: RES-001 by policy") == 1
    assert "Traceback" not in output


def test_an_uncaught_exception_is_shown_once_with_its_traceback(throw_away, run_pulumi, engine_env):
    source = "def broken():\n    raise ValueError('no such unit')\n\n\nbroken()\n"
    result = run_pulumi(PREVIEW, throw_away(source), engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0
    assert diagnostics(output).count("ValueError: no such unit") == 1
    assert "Program failed with an unhandled exception" in output
    assert "in broken" in output


def test_an_exit_code_of_the_program_fails_the_run(throw_away, run_pulumi, engine_env):
    result = run_pulumi(PREVIEW, throw_away("import sys\nsys.exit(3)\n"), engine_env)
    assert result.returncode != 0


def test_a_python_policy_pack_runs(throw_away, run_pulumi, engine_env):
    project = throw_away(
        "import pulumi\n"
        "class Thing(pulumi.ComponentResource):\n"
        "    def __init__(self, name):\n"
        "        super().__init__('test:index:Thing', name)\n"
        "Thing('forbidden')\n"
    )
    pack = project.parent / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
    (pack / "__main__.py").write_text(
        "from pulumi_policy import *\n"
        "def check(args, report):\n"
        "    if args.name == 'forbidden':\n"
        "        report('this name is forbidden')\n"
        "PolicyPack('pack', enforcement_level=EnforcementLevel.MANDATORY, policies=[\n"
        "    ResourceValidationPolicy('names', 'Names are allowed.', check)])\n"
    )
    result = run_pulumi([*PREVIEW, "--policy-pack", str(pack)], project, engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0, output
    assert "this name is forbidden" in output


@pytest.mark.parametrize("stack", ["bank-au", "dev", "saas-global"])
def test_creating_an_example_stack_leaves_its_tracked_file_alone(
    tmp_path, run_pulumi, engine_env, stack
):
    name = f"Pulumi.{stack}.yaml"
    (tmp_path / "stacks").mkdir()
    shutil.copyfile(PROJECT / "Pulumi.yaml", tmp_path / "Pulumi.yaml")
    shutil.copyfile(PROJECT / "stacks" / name, tmp_path / "stacks" / name)
    env = {
        **engine_env,
        "PULUMI_BACKEND_URL": f"file://{tmp_path}",
        "PULUMI_CONFIG_PASSPHRASE": EXAMPLES_PASSPHRASE,
    }
    ensure_stack(tmp_path, stack, env)
    ensure_stack(tmp_path, stack, env)
    tracked = (PROJECT / "stacks" / name).read_bytes()
    assert (tmp_path / "stacks" / name).read_bytes() == tracked
    secret = ["config", "set", "--secret", "probe", "x", "--stack", stack]
    assert run_pulumi(secret, tmp_path, env).returncode == 0
    salted = (tmp_path / "stacks" / name).read_bytes()
    assert tracked.splitlines()[2] in salted  # the passphrase opens the committed salt
