# The index of what can be done here. Each target says what it is for.
.PHONY: help demo build test outer host devices clusters documents python arm64 guest web check docs bench accuracy packages dist site workflows man clean

STAGE = scripts/stage
RELEASE = $(or $(CARGO_TARGET_DIR),target)/release/nearfar
LIBRARY = web/node_modules/plotly.js-cartesian-dist-min
LOCKED = web/node_modules/.package-lock.json
DEBUG = $(or $(CARGO_TARGET_DIR),target)/debug
ARM64 = $(or $(CARGO_TARGET_DIR),target)/arm64/aarch64-unknown-linux-gnu/debug

# Tests are built and linted once for every target here, by the whole workspace's choice of features. A
# tier is the test targets of a name; without a name, those that need nothing but the build's packages.
CARGO_TEST = env RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/scripts/linted cargo test --locked --workspace
HOST = --test host --test containers
DEVICES = --test devices
DOCUMENTS = --test documents
PYTHON = --test python
GUESTS = --test guests
CLUSTERS = --test clusters

help: ## this list
	@grep -E '^[a-z0-9]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

demo: web ## install what is missing, build, measure this machine, show it
	@scripts/install-packages build
	cargo build --release --locked --quiet -p nearfar
	$(RELEASE) characterize || [ $$? = 3 ]  # 3: the machine refused a part; the rest is shown
	$(RELEASE) show
	@if [ -d $(LIBRARY) ]; then $(RELEASE) report -o nearfar-report.html && echo "open $(CURDIR)/nearfar-report.html"; fi

build: web ## the optimised program
	@scripts/install-packages build
	cargo build --release --locked -p nearfar

# What skips a test notes it there (crates/lab/src/measuring.rs).
test: export NEARFAR_TEST_SKIPPED = $(abspath $(or $(CARGO_TARGET_DIR),target))/skipped-tests
test: ## install what is missing, check, run every tier of tests, count what was skipped: what a submission runs
	@mkdir -p $(dir $(NEARFAR_TEST_SKIPPED)) && : >$(NEARFAR_TEST_SKIPPED)
	@$(STAGE) packages scripts/install-packages build host devices documents guest
	@$(STAGE) python scripts/python-packages
	@$(STAGE) web $(MAKE) --no-print-directory web
	@$(STAGE) format cargo fmt --all --check
	@$(STAGE) build $(CARGO_TEST) --no-run
	@$(STAGE) build-tiers $(CARGO_TEST) --no-run --benches
	@$(STAGE) kernels $(DEBUG)/guest --fetch
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(TIERS:%=stage-%)
	@cat $(NEARFAR_TEST_SKIPPED) && echo "skipped tests: $$(wc -l <$(NEARFAR_TEST_SKIPPED))"

# Two tiers at a time: each has stretches that keep one core idle. A tier's output comes as a whole at its end.
TIERS = guest tests documents host devices
.PHONY: tests $(TIERS:%=stage-%)
tests: ; $(CARGO_TEST)
$(TIERS:%=stage-%): stage-%: ; @$(STAGE) $* $(MAKE) --no-print-directory $*

outer: ## what is slower: every guest under both kernels, two guests on a wire, every program under every placement, the largest pages, a database and programs of three languages, every remedy; ten thousand changed records; six hundred kills; ten shapes of process trees; kernels and sandboxes without memory nodes; programs of class A, declared traffic; clusters; accuracy; AArch64
	@scripts/install-packages build documents guest suites outer programs clusters sandboxes arm64
	@$(MAKE) --no-print-directory web
	@$(STAGE) build-guests $(CARGO_TEST) --no-run --test under_filter $(GUESTS)
	@$(STAGE) kernels $(DEBUG)/guest --fetch
	@$(STAGE) guests $(CARGO_TEST) $(GUESTS) -- --include-ignored --skip arm64::
	@$(STAGE) sandboxes $(CARGO_TEST) --test containers sandboxes -- --ignored
	@$(STAGE) documents $(CARGO_TEST) $(DOCUMENTS) -- --ignored
	@$(STAGE) remedies $(CARGO_TEST) --test program remedies -- --ignored
	@$(STAGE) mutated-records $(CARGO_TEST) --test program mutated -- --ignored --nocapture
	@$(STAGE) interrupted $(CARGO_TEST) --test program interrupted -- --ignored
	@$(STAGE) trees $(CARGO_TEST) --test program ten_shapes_of_process_trees -- --ignored --nocapture
	@$(STAGE) class-a $(CARGO_TEST) --test verified -- --ignored
	@$(STAGE) traffic $(CARGO_TEST) --test traffic --test program simulated_cache -- --ignored --nocapture
	@$(STAGE) clusters $(MAKE) --no-print-directory clusters
	@$(STAGE) packages-tried $(MAKE) --no-print-directory packages
	@$(STAGE) python $(MAKE) --no-print-directory python
	@$(STAGE) arm64 $(MAKE) --no-print-directory arm64
	@$(STAGE) site $(MAKE) --no-print-directory site
	@$(STAGE) workflows $(MAKE) --no-print-directory workflows
	@$(STAGE) accuracy $(MAKE) --no-print-directory accuracy

host: ## a tier: measure this machine, also as in a container, beside hwloc's own programs
	@scripts/install-packages build host
	$(CARGO_TEST) $(HOST)

devices: ## a tier: copy to devices, which PoCL makes of the CPUs; what AMD's runtime says without one
	@scripts/install-packages build devices
	$(CARGO_TEST) $(DEVICES)
	$(CARGO_TEST) --lib -- --ignored opencl:: hip_header

clusters: ## many machines: started by an emulated Slurm and Open MPI, checked by ReFrame and Kubernetes' schema
	@scripts/install-packages build clusters
	@scripts/reframe-packages
	$(CARGO_TEST) $(CLUSTERS)

documents: ## a tier: reports in Chromium, LaTeX and pandas
	@scripts/install-packages build documents
	@scripts/python-packages
	@$(MAKE) --no-print-directory web
	$(CARGO_TEST) $(DOCUMENTS)

python: ## a tier: the module for Python, in polars, pandas, mypy and ruff
	@scripts/install-packages build python
	@scripts/python-packages module
	$(CARGO_TEST) $(PYTHON)

arm64: ## a tier: AArch64, built here and run by QEMU (on Debian for amd64): the kernels, with vectors of three lengths; the program, also in a machine with 4 memory nodes
	@scripts/install-packages build guest arm64
	scripts/arm64-toolchain cargo test --locked -p nearfar-kernels --no-run
	for bytes in 16 32 64; do \
	    NEARFAR_TEST_SVE_BYTES=$$bytes QEMU_CPU=max,sve-default-vector-length=$$bytes \
	        scripts/arm64-toolchain cargo test --locked -p nearfar-kernels -- --include-ignored || exit; \
	done
	QEMU_CPU=cortex-a57 scripts/arm64-toolchain cargo test --locked -p nearfar-kernels -- --include-ignored
	scripts/arm64-toolchain cargo build --locked -p nearfar
	scripts/arm64-toolchain qemu-aarch64 $(ARM64)/nearfar --version
	scripts/arm64-toolchain qemu-aarch64 $(ARM64)/nearfar characterize --kernel list
	$(CARGO_TEST) $(GUESTS) -- --ignored arm64::

web: ## the library that draws the page's charts, by npm, its hashes checked
	@if ! command -v npm >/dev/null; then \
	    echo "npm is missing (Debian: apt-get install npm): built without it, nearfar writes no .html" >&2; \
	elif [ ! -e $(LOCKED) ] || [ web/package-lock.json -nt $(LOCKED) ]; then \
	    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix web; fi

guest: ## a tier: the program in emulated machines with 1 to 8 memory nodes; prints what was proven
	@scripts/install-packages build guest
	$(CARGO_TEST) --no-run --test under_filter $(GUESTS)
	$(DEBUG)/guest --fetch
	$(CARGO_TEST) $(GUESTS)

check: ## the fast one: format, lints, layers and other house rules
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	cargo test --locked --quiet --workspace --test house

docs: ## write docs/schema, the tables of fields in docs and the types of Python, from the types and their comments
	UPDATE_DOCS=1 $(CARGO_TEST) --test program contract
	python3 python/write_results.py

bench: web ## what costs time beside others or a promise: kernels, topology, starting programs, the page, rankings
	@scripts/install-packages build bench
	cargo build --release --locked --quiet -p nearfar
	cargo bench --locked -p nearfar-measure --bench likwid
	cargo bench --locked -p nearfar-measure --bench working_set
	cargo bench --locked -p nearfar-measure --bench exchange
	cargo bench --locked -p nearfar-measure --bench iperf
	cargo bench --locked -p nearfar-place --bench cost
	cargo bench --locked -p nearfar-document --bench page_cost
	cargo bench --locked -p nearfar-runtime --bench rank_time
	cargo bench --locked -p nearfar-fleet --bench fleet

accuracy: ## how often models are right, here and where the truth is known, against what is promised
	@scripts/install-packages build
	@missed=0; for bench in "model --bench accuracy" "reproduce --bench recovery" "reproduce --bench published" \
	    "reproduce --bench comparison" "reproduce --bench model_time" "measure --bench roofline_validation" \
	    "runtime --bench regret" "advise --bench regret"; do \
	    cargo bench --locked --quiet -p nearfar-$$bench || missed=1; done; exit $$missed

packages: web ## a wheel, a tarball and Debian's packages into target, each tried in a fresh minimal Debian (as root, on Debian)
	@scripts/install-packages build packages
	cargo build --release --locked -p nearfar -p nearfar-c
	scripts/debian-packages
	scripts/tarball
	scripts/wheel
	scripts/try-packages

dist: packages ## a release into target/dist: packages (BESIDE=FOLDER: and those built elsewhere), sources, crates, an SBOM, sums
	BESIDE="$(BESIDE)" scripts/dist

site: ## the documents as a site, by mdBook, into target/site
	@scripts/install-packages build
	scripts/site

workflows: ## hold .github/workflows against actionlint
	@scripts/install-packages build workflows
	scripts/check-workflows

man: ## manual pages into target/man
	mkdir -p target/man
	cargo run --locked --quiet -p nearfar -- man --out target/man

clean: ## remove what was built
	cargo clean
