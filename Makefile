PYTHON := .venv/bin/python
LOCKS  := pyproject.toml requirements/build.lock requirements/uv.lock .ci/install
PORT   ?= 8888
# HINDSIGHT_LOCAL_MODEL=qwen make run (or demo): a small real language model, brought on demand.
QWEN   := $(filter qwen,$(HINDSIGHT_LOCAL_MODEL))
MODEL  := $(if $(QWEN),.venv/qwen.stamp)

.PHONY: help demo run test test-deep check bench synth smoke clean lock
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo.stamp $(MODEL) ## start the stack, tell it a conversation, show what it remembers, stop (KEEP=1: stay up)
	@KEEP="$(KEEP)" $(PYTHON) -m infra.local.demo$(if $(QWEN),.with_qwen)

run: .venv/demo.stamp $(MODEL) ## serve the API on 127.0.0.1:8888 until Ctrl-C (PORT=n: elsewhere; docs/howto/local-model.md: models)
	@$(PYTHON) -m infra.local up --port $(PORT)

test: .venv/dev.stamp .venv/ecosystem.stamp ## run every test in small doses (ARGS="-k scope": pass on to pytest; -n0: in one process)
	@$(PYTHON) -m pytest -n auto --maxprocesses 2 --dist loadfile $(ARGS)

test-deep: .venv/dev.stamp .venv/ecosystem.stamp ## run the same tests in full doses (SEED=n: repeat a run)
	@HINDSIGHT_TEST_DOSE=deep $(PYTHON) -m pytest --timeout=1800 --hypothesis-seed=$(or $(SEED),$(shell date +%s)) $(ARGS)

check: .venv/dev.stamp ## format, lint, types, one-way doors, file hygiene
	@$(PYTHON) -m ruff format --check --quiet . && $(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy
	@PYTHONPATH=.:shared .venv/bin/lint-imports --no-cache
	@$(PYTHON) -m pytest -q tests/lint

bench: .venv/dev.stamp ## measure latency, throughput and CPU per call (ARGS="--help": what else)
	@$(PYTHON) -m tests.bench $(ARGS)

synth: ## make the CloudFormation stacks in cdk.out, print time and size (ARGS="-c profile=prod")
	@.ci/app $(ARGS)

smoke: ## try a deployment: retain, recall, observe, reflect, a file, MCP; prints times, deletes its bank (URL=https://… KEY=hsk_…)
	@KEY="$(KEY)" "$$(.ci/find-python)" -m infra.smoke "$(URL)"

clean: ## remove environments and caches; the local stack's data in .local stays
	@rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist cdk.out
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

lock: ## rewrite requirements/*.lock from pyproject.toml (ARGS=--upgrade: newer versions)
	@.ci/lock $(ARGS)

.venv/qwen.stamp: .venv/demo.stamp requirements/qwen.lock .ci/install-model
	@.ci/install-model

.venv/ecosystem.stamp: .venv/dev.stamp requirements/ecosystem.lock tests/contract/ecosystem/package-lock.json .ci/install-ecosystem
	@.ci/install-ecosystem

.venv/%.stamp: requirements/%.lock $(LOCKS)
	@.ci/install $*
