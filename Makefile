# The index of what can be done here. Each target says what it is for.
.PHONY: help demo build test web guest check bench accuracy man clean

STAGE = scripts/stage
RELEASE = $(or $(CARGO_TARGET_DIR),target)/release/nearfar
LIBRARY = web/node_modules/plotly.js-cartesian-dist-min
LOCKED = web/node_modules/.package-lock.json
DEBUG = $(or $(CARGO_TARGET_DIR),target)/debug

help: ## this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

demo: web ## install what is missing, build, measure this machine, show it
	@scripts/install-packages build
	cargo build --release --locked --quiet -p nearfar
	$(RELEASE) characterize || [ $$? = 3 ]  # 3: the machine refused a part; the rest is shown
	$(RELEASE) show
	@if [ -d $(LIBRARY) ]; then $(RELEASE) report -o nearfar-report.html && echo "open $(CURDIR)/nearfar-report.html"; fi

build: web ## the optimised program
	@scripts/install-packages build
	cargo build --release --locked -p nearfar

test: ## install what is missing, check, run every test
	@$(STAGE) packages scripts/install-packages build test guest documents
	@$(STAGE) python scripts/python-packages
	@$(STAGE) web $(MAKE) --no-print-directory web
	@$(STAGE) check $(MAKE) --no-print-directory check
	@$(STAGE) build-tests cargo test --locked --workspace --no-run
	@$(STAGE) kernels $(DEBUG)/guest --fetch
	@$(STAGE) tests cargo test --locked --workspace

web: ## the library that draws the page's charts, by npm, its hashes checked
	@if ! command -v npm >/dev/null; then \
	    echo "npm is missing (Debian: apt-get install npm): built without it, nearfar writes no .html" >&2; \
	elif [ ! -e $(LOCKED) ] || [ web/package-lock.json -nt $(LOCKED) ]; then \
	    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix web; fi

guest: ## run the program in emulated machines with 1 to 8 memory nodes, and print what was proven
	@scripts/install-packages build guest
	cargo build --locked --quiet --workspace --bin guest --bin under_filter
	$(DEBUG)/guest --fetch
	cargo test --locked --workspace --test guests -- --test-threads 2

check: ## the fast one: format, lints, layers and other house rules
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	cargo test --locked --quiet --workspace --test house

bench: web ## what costs time beside others or a promise: kernels, topology, starting programs, the page, rankings
	@scripts/install-packages build bench
	cargo build --release --locked --quiet -p nearfar
	cargo bench --locked -p nearfar-measure --bench likwid
	cargo bench --locked -p nearfar-place --bench start
	cargo bench --locked -p nearfar-document --bench page_cost
	cargo bench --locked -p nearfar-runtime --bench rank_time

accuracy: ## how often models are right, here and where the truth is known, against what is promised
	@scripts/install-packages build
	@missed=0; for bench in "model --bench accuracy" "reproduce --bench recovery" \
	    "reproduce --bench comparison" "reproduce --bench model_time" "measure --bench roofline_validation" \
	    "runtime --bench regret" "advise --bench regret"; do \
	    cargo bench --locked --quiet -p nearfar-$$bench || missed=1; done; exit $$missed

man: ## manual pages into target/man
	mkdir -p target/man
	cargo run --locked --quiet -p nearfar -- man --out target/man

clean: ## remove what was built
	cargo clean
