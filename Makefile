# Everything a clone needs: `make preview` and `make test` set up what is missing by themselves.

PYTHON ?= python3
STACK ?= bank-au
VENV_PYTHON := .venv/bin/python
# Runs one command with the tools of the set-up on PATH.
RUN := $(VENV_PYTHON) -m tools.shell_env --

OPA_CHECK := opa check --strict --bundle
ifneq ($(wildcard policies/schemas),)
OPA_CHECK += -s policies/schemas
endif
ifneq ($(wildcard policies/capabilities.json),)
OPA_CHECK += --capabilities policies/capabilities.json
endif

.PHONY: help setup preview test check docs rules memory-accuracy vllm-oracle vllm-serve mutation gate-speed render-speed report-speed report-shots lock clean

help:
	@echo "make preview [STACK=bank-au]  set up, then preview an example stack with the real engine"
	@echo "make test                     set up, then run all tests"
	@echo "make check                    format, lint, types, import rules, policies, generated docs"
	@echo "make setup                    only set up: .venv, and pulumi, opa, plugins where absent"
	@echo "make docs                     renew docs, schemas and README from what they repeat"
	@echo "make rules                    of that only what repeats the rules' METADATA"
	@echo "make memory-accuracy          our memory ledger against measured starts (../shared)"
	@echo "make vllm-oracle               ask real vLLM on a CPU for KV capacity, and compare"
	@echo "make vllm-serve               start real vLLM on a CPU with the emitted command"
	@echo "make mutation                 break the Rego on purpose: do its tests notice?"
	@echo "make gate-speed               time the option gate for 50 and 1,000 workloads"
	@echo "make render-speed             time a render of 500 self-hosted workloads"
	@echo "make report-speed             time an HTML report of 500 workloads, and Chromium reading it"
	@echo "make report-shots             pictures of the example reports, in out/shots"
	@echo "make lock                     renew requirements.lock from pyproject.toml (needs uv)"
	@echo "make clean                    remove .venv and out"

setup:
	@$(PYTHON) tools/setup.py

preview: setup
	@$(VENV_PYTHON) -m tools.preview $(STACK)

# Where the control plane of tests/cluster cannot be built, its tests are skipped and say so.
test: setup
	$(VENV_PYTHON) -m tools.yaml_host
	-$(VENV_PYTHON) -m tools.cluster_tools
	$(RUN) opa test --bundle policies
	$(RUN) pytest -n auto --maxprocesses 4 --dist loadfile

check: setup
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(RUN) lint-imports
	$(RUN) opa fmt --fail --list policies planner/policy/authz.rego
	$(RUN) $(OPA_CHECK) policies
	$(RUN) opa test --bundle policies
	$(RUN) $(VENV_PYTHON) -m tools.docs --check

# Everything that repeats the code: tools/docs.py lists it.
docs: setup
	$(RUN) $(VENV_PYTHON) -m tools.docs

# The manifest, the index and the facts of each rule's page repeat METADATA. A target of its own,
# because a new rule denies everything until it is written, and `make docs` plans the stacks.
rules: setup
	$(RUN) $(VENV_PYTHON) -m tools.rules

# Every measured start and case against our ledger; needs the field data in ../shared.
memory-accuracy: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.memory_accuracy

# Ask real vLLM on this CPU (about 40 minutes, 6 GB, before a release), then compare.
vllm-oracle: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.vllm_oracle ask
	$(RUN) pytest tests/serving/test_vllm_oracle.py

# Start real vLLM on this CPU with the emitted command: health, metrics, drain, full queue.
vllm-serve: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.vllm_serve

# Break the Rego on purpose; its tests have to notice (about 3 minutes).
mutation: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.mutation

# The option gate for 50 and 1,000 workloads with the real engine.
gate-speed: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.gate_speed

# A render of 500 self-hosted workloads; planning is not timed.
render-speed: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.render_speed

# An HTML report of 500 workloads; planning is not timed.
report-speed: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.report_speed

# How the report looks on a phone and on a desk, light and dark.
report-shots: setup
	$(RUN) $(VENV_PYTHON) -m benchmarks.report_shots

lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
		--quiet --output-file requirements.lock

clean:
	rm -rf .venv out
	@echo "The tools built for this user stay, for other clones. To remove them as well:"
	@echo '  rm -rf "$${LLM_CAPACITY_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/llm-capacity}"'
