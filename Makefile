# What a developer runs. Needs cargo, python3 and a C compiler; the rest is fetched into .tools/.

SHELL := /bin/bash
CARGO ?= cargo
PYTHON ?= python3

export SEXTANT_TOOLS := $(CURDIR)/.tools/venv/bin
export SEXTANT_NVIM := $(CURDIR)/.tools/bin/nvim
NVIM12 := $(CURDIR)/.tools/nvim12/bin/nvim

# In a terminal of Neovim's the environment has a variable of this name.
ifeq ($(origin NVIM),command line)
export SEXTANT_NVIM := $(abspath $(NVIM))
endif

.PHONY: help demo pictures demo-helix test test-nvim12 test-rust-analyzer test-clients tasks agent-bench compact bench soundness matching reach kill sizes audit fmt tools
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: tools ## Show Sextant at work in a real Neovim, on a small Python project (LANG=typescript, or LANG=rust RUST_ANALYZER=FILE)
	$(CARGO) build --locked
	$(PYTHON) tests/demo/run.py $(if $(filter command line,$(origin LANG)),$(LANG))

pictures: tools ## Draw the pictures of the README from a real run (needs tmux)
	$(CARGO) build --locked
	$(PYTHON) tests/demo/pictures.py

demo-helix: tools ## Show Sextant at work in a real Helix, driven in tmux (hx on PATH, or SEXTANT_TEST_HX)
	$(CARGO) build --locked
	$(PYTHON) tests/demo/helix.py

test: tools ## Check formats and lints, then run every test against the real editors and servers
	$(CARGO) fmt --all --check
	$(PYTHON) tests/tools.py lua
	$(PYTHON) tests/structure.py --check
	$(PYTHON) -m unittest discover -q -s tests/agent_bench
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) test --locked --workspace --no-fail-fast
	$(CARGO) test --locked -p sextant-text --features lang-more --lib
	$(PYTHON) tests/clients/run.py --light
	$(PYTHON) tests/clients/fuzz.py

test-nvim12: tools ## Run what starts a Neovim (the plugin, the doors' conformance, the demo) on Neovim 0.12
	$(PYTHON) tests/tools.py nvim12
	SEXTANT_NVIM=$(NVIM12) $(CARGO) test --locked --test e2e -- nvim:: conformance:: demo::

test-rust-analyzer: tools ## Run what needs rust-analyzer, with its compiler (RUST_ANALYZER=FILE; cargo install --locked ra_ap_rust-analyzer)
	RUST_ANALYZER=$(RUST_ANALYZER) $(CARGO) test --locked --test rust_analyzer -- --test-threads 1

test-clients: tools ## Hold real MCP clients and agents on a scripted model against a running Neovim, and the MCP conformance suite (ONLY="codex qwen")
	$(CARGO) build --locked
	$(PYTHON) tests/clients/run.py $(ONLY)
	$(if $(ONLY),,$(PYTHON) tests/clients/conformance.py)
	$(if $(ONLY),,$(PYTHON) tests/clients/trial.py)

tasks: tools ## Do small real tasks in the three modes, judged from outside (PART=five|triggers)
	$(CARGO) build --locked
	$(PYTHON) tests/tasks/run.py $(addprefix --part ,$(PART))

agent-bench: tools ## Do twenty-six real tasks with recorded answers, beside plain tool-calling loops (CHECK=1, BRIDGE=, RECORD=, STRICT=1, MODEL= BASE_URL=, ONLY=, JSON=)
	$(CARGO) build --locked
	@CHECK="$(CHECK)" BRIDGE="$(BRIDGE)" RECORD="$(RECORD)" STRICT="$(STRICT)" MODEL="$(MODEL)" BASE_URL="$(BASE_URL)" \
		ONLY="$(ONLY)" LOOP="$(LOOP)" JOBS="$(JOBS)" JSON="$(JSON)" $(PYTHON) tests/agent_bench/run.py

compact: tools ## Do small tasks with a real small model in three ways side by side, judged from outside; fetched once (SET=first|second|third WAYS=compact,bare,step MODEL=smol|qwen)
	$(CARGO) build --locked
	$(PYTHON) tests/tasks/small.py

bench: tools ## Measure the costs that the documentation states (PEERS=FOLDER with clones of other plugins: beside them)
	$(CARGO) bench --locked --bench costs --bench recall
	SEXTANT_CLIENTS_BINARY=$(CURDIR)/target/release/sextant $(PYTHON) tests/clients/bench.py
	$(if $(PEERS),$(PYTHON) benches/peers.py $(PEERS))

soundness: tools ## Hold the diagnostics of N random edits against the truth, with seventeen real servers (N=100 SERVERS=ruff,ty SEED=1 NVIM=nvim), or those of closed files (REACH=1)
ifdef REACH
	@$(MAKE) --no-print-directory reach
else
	@$(PYTHON) tests/tools.py soundness
	SEXTANT_TOOLS=$(SEXTANT_TOOLS):$(CURDIR)/.tools/soundness/venv/bin:$(CURDIR)/.tools/soundness/node_modules/.bin:$(CURDIR)/.tools/languages/bin \
		$(CARGO) bench --locked --bench soundness
endif

matching: tools ## Hold the matcher against N cases of each language, made from real files, random edits and real checkers (N=150 SEED=1 LANGUAGES="rust go" STAGED=1 SHOW=5)
	$(PYTHON) tests/matching/tools.py
	$(CARGO) build --locked
	.tools/matching/venv/bin/python3 tests/matching/run.py $(LANGUAGES) -n $(or $(N),150) --seed $(or $(SEED),1) --kinds \
		--show $(or $(SHOW),5) $(if $(STAGED),--staged)

# The environment often has a variable of the name LANGUAGE. The scripted Helix opens Python alone.
reach: REACH_LANGUAGE := $(or $(if $(filter command line,$(origin LANGUAGE)),$(LANGUAGE)),python)
reach: AND_HELIX := ,helix
reach: DOORS ?= ask,mcp,nvim$(if $(filter python,$(REACH_LANGUAGE)),$(AND_HELIX))
reach: tools ## Hold answers about N random edits of real packages, at each door, against the checker's own run (N=300 SEED=1 DOORS=mcp LANGUAGE=rust|typescript CHECKER=clippy|tsc)
	$(if $(filter typescript-language-server,$(CHECKER)),$(PYTHON) tests/tools.py soundness)
	REACH_N=$(or $(N),$(if $(filter python,$(REACH_LANGUAGE)),300,50)) REACH_SEED=$(or $(SEED),1) REACH_DOORS=$(DOORS) \
		REACH_LANGUAGE=$(REACH_LANGUAGE) REACH_CHECKER=$(CHECKER) \
		$(CARGO) test --locked --test e2e reach::no_answer -- --nocapture

kill: tools ## Kill N planner runs at random moments: every file whole, resume finishes, undo restores (N=200), or KIND="undo redo clients rename engine"
	$(CARGO) build --locked
	$(PYTHON) tests/kill/$(if $(KIND),kinds.py $(KIND),run.py) -n $(or $(N),200)

sizes: tools ## Give texts of 0 to 20 MB to every door that takes one, and print time and memory (DOORS="mcp rpc", SIZES=0,9,20)
	$(CARGO) build --locked
	$(if $(SIZES),SIZES=$(SIZES)) $(PYTHON) tests/clients/sizes.py $(DOORS)

audit: ## Hold the dependencies against deny.toml: known vulnerabilities, licences, sources
	$(PYTHON) tests/audit/run.py

fmt: tools ## Lay out the Rust and Lua files
	$(CARGO) fmt --all
	$(PYTHON) tests/tools.py lua --write

tools: ## Fetch the pinned tools into .tools/ (Neovim, basedpyright, ruff, stylua)
	@$(PYTHON) tests/tools.py
