# SPDX-License-Identifier: Apache-2.0

SHELL := /bin/bash
.DEFAULT_GOAL := help

PKG          ?= ./...
TEST_TIMEOUT ?= 25m
FULL_TIMEOUT ?= 6h
FUZZTIME     ?= 20s
BENCH        ?= .

# The linter is built once, in a folder for this version.
LINT_VERSION := v2.15.0
LINT_DIR     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ibconsole/golangci-lint-$(LINT_VERSION)
LINT         := $(LINT_DIR)/golangci-lint

ACTIONLINT_VERSION := v1.7.7
ACTIONLINT_DIR     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ibconsole/actionlint-$(ACTIONLINT_VERSION)
ACTIONLINT         := $(ACTIONLINT_DIR)/actionlint

# So is govulncheck.
VULN_VERSION := v1.1.4
VULN_DIR     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ibconsole/govulncheck-$(VULN_VERSION)
VULN         := $(VULN_DIR)/govulncheck
VULN_DB      ?= https://vuln.go.dev

# And the packager.
NFPM_VERSION := v2.45.2
NFPM_DIR     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ibconsole/nfpm-$(NFPM_VERSION)
NFPM         := $(NFPM_DIR)/nfpm
DIST         ?= dist

# The race detector needs cgo, which Go turns off where there is no C compiler.
RACE = $$([ "$$(go env CGO_ENABLED)" = 1 ] && echo -race)

# With the race detector tests take three times the processor time. `make test` has it
# for packages with concurrency, `make acceptance` for all. Engines, checks and formats only
# compute, and the tests of the whole program wait for OpenSM.
CONCURRENT := ./mad/... ./fabric/apply ./fabric/counters ./fabric/livetrace ./fabric/sim ./fabric/sweep ./history ./internal/... ./routing \
              ./routing/engines/ftree ./routing/paths ./shell/... ./tui/...

# `make check` runs twice as many packages at once as there are processors, because some wait for timers.
# Tests of `make test` wait for timers and other programs. Four concurrent groups keep the processors busy: packages with the race
# detector and without (long ones first), and the slowest package in two halves. Each package stays on one processor
# with the programs that it starts, and runs four tests at once, which mostly wait. Every program that talks to ibsim
# creates and removes files, which gets slower and slower on ext4, so temporary files are in memory if there is enough.
LONG    := ./routing/engines ./shell ./shell/session ./shell/session/commits ./tui
HALVED  := ./e2e
HALF    := ^(Test|Fuzz)[A-Q]
PINNED  := -parallel 4 -exec "$$PWD/scripts/one-processor"
AT_ONCE := $$(nproc)
SPACIOUS := $(shell [ "$$(df --output=avail -m /dev/shm 2>/dev/null | tail -1)" -gt 4000 ] 2>/dev/null && echo /dev/shm)

.PHONY: help
help: ## list these targets, with the time on two processors unless it is seconds
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ./ibconsole [half a minute the first time, then seconds]
	go build -o ibconsole .

.PHONY: man
man: ## write the manual page ibconsole.1
	go run . man >ibconsole.1

.PHONY: pictures
pictures: build ## make the pictures in docs from the program in a terminal; needs tmux and pango1.0-tools
	scripts/pictures docs/pictures

.PHONY: film
film: build ## make the film in docs; needs tmux and python3
	scripts/film docs/film

.PHONY: run
run: ## open the console; ARGS='-s file:FABRIC' chooses the subnet
	go run . $(ARGS)

.PHONY: dist
dist: $(NFPM) ## build a release in DIST (dist): archives, deb, rpm, SHA256SUMS; VERSION=V, SIGN=FILE (an OpenPGP key) [a minute]
	NFPM=$(NFPM) VERSION=$(VERSION) SIGN=$(SIGN) scripts/dist $(DIST)

$(NFPM):
	GOBIN=$(NFPM_DIR) go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)

.PHONY: module-path
module-path: ## change the module path to NEW, such as github.com/NAME/ibconsole, and check that the program sends the terminal no queries
	scripts/module-path '$(NEW)'

.PHONY: try-packages
try-packages: ## test the result of make dist: packages in clean roots, under systemd, arm64 under qemu; needs root, debootstrap, rpm [ten minutes]
	scripts/try-packages $(DIST)

.PHONY: tools
tools: ## install missing Debian packages that the tests need
	@scripts/debian-packages

# Without paths in what is built, all clones share the build cache.
.PHONY: check
check test: export GOFLAGS := $(strip $(GOFLAGS) -trimpath)
check: check-fmt lint check-tidy ## check formatting, linter (with vet) and go.mod, and run the tests that need no other program [three minutes]
	go test -short -vet=off -p $$((2 * $(AT_ONCE))) $(PKG)

.PHONY: test
test: tools ## install missing packages and run all tests, large matrices as samples [nine minutes]
	@all=$$(go list $(PKG)) && raced=$$(go list $(CONCURRENT)) && long=$$(go list $(LONG)) && halved=$$(go list $(HALVED)) || exit 1; \
	halved=$$(grep -xF "$$halved" <<<"$$all"); all=$$(grep -xF "$$long" <<<"$$all"; grep -vxF "$$long" <<<"$$all" | grep -vxF "$$halved"); \
	status=0; jobs=(); logs=$$(mktemp -d); trap 'rm -rf "$$logs"' EXIT; \
	if [ -n "$(SPACIOUS)" ]; then \
		export GOTMPDIR=$${GOTMPDIR:-$$logs} TMPDIR=$$(mktemp -d -p $(SPACIOUS)); chmod 755 "$$TMPDIR"; trap 'rm -rf "$$logs" "$$TMPDIR"' EXIT; \
	fi; \
	run() { [ -z "$$2" ] || go test -p "$$1" "$${@:3}" $(PINNED) -vet=off -count=1 -timeout $(TEST_TIMEOUT) $$2; }; \
	background() { run "$$@" >"$$logs/$${#jobs[@]}" 2>&1 & jobs+=($$!); }; \
	background $(AT_ONCE) "$$(grep -xF "$$raced" <<<"$$all")" $(RACE); \
	background 1 "$$halved" -run '$(HALF)'; \
	background 1 "$$halved" -skip '$(HALF)'; \
	run $(AT_ONCE) "$$(grep -vxF "$$raced" <<<"$$all")" || status=1; \
	for i in "$${!jobs[@]}"; do wait "$${jobs[i]}" || status=1; cat "$$logs/$$i"; done; \
	exit $$status

.PHONY: acceptance
acceptance: tools ## run the tests with their full counts, in parts of less than an hour; RUN=NAME runs one part, RUN=list lists them [hours]
	@scripts/acceptance $(RUN)

.PHONY: size
size: ## print the size of the parts of the program; fails if one exceeds scripts/size/limits.txt
	@go run ./scripts/size

.PHONY: identity
identity: tools ## compare N (1000) random routings with OpenSM's (SEED=S repeats a run) and shrink the first difference
	IBCONSOLE_TRIALS=$(or $(N),1000) IBCONSOLE_SEED=$(or $(SEED),$(shell date +%s%N)) go test -count=1 -timeout $(FULL_TIMEOUT) -failfast -run TestRandomTrialsEqualOpenSM -v ./routing/engines

.PHONY: bench
bench: ## run the benchmarks; BENCH=REGEXP, PKG=./routing/... choose; OPENSM=1 makes bench-table instead
	$(if $(OPENSM),$(MAKE) -s bench-table,go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout $(FULL_TIMEOUT) $(PKG))

.PHONY: bench-table
bench-table: ## print tables of medians and spreads for engines on one and two processors and for waiting times; OPENSM=1 adds OpenSM, COUNT (3), BENCH=FABRIC/ENGINE [half an hour, with OPENSM=1 an hour]
	@out=$$(mktemp); trap 'scripts/bench-table <"$$out"; rm -f "$$out" "$$out".*' EXIT; set -eo pipefail; count=$(or $(COUNT),3); \
	go test -c -o "$$out.test" ./routing/engines; go build -o "$$out.program" .; \
	run() { (cd routing/engines; "$$out.test" -test.run '^$$' -test.benchtime 300ms -test.timeout $(FULL_TIMEOUT) "$$@") | tee -a "$$out" | { grep ^Benchmark >&2 || true; }; }; \
	of() { echo "^Benchmark$$1$$$(and $(filter-out .,$(BENCH)),/$(BENCH))"; }; \
	run -test.bench ^BenchmarkCopy -test.cpu 1; \
	for lot in Route LongRoute Limit; do run -test.bench "$$(of $$lot)" -test.cpu 1 -test.count $$count; done; \
	run -test.bench "$$(of Limit)" -test.cpu 2 -test.count $$count; run -test.bench "$$(of LongRoute)" -test.cpu 2 -test.count $$count; \
	$(if $(filter-out .,$(BENCH)),,scripts/bench-waits "$$out.program" $$count; echo;) \
	export IBCONSOLE_BENCH_OPENSM=$(OPENSM); run -test.bench "$$(of Route)" -test.cpu 2 -test.count $$count; \
	$(if $(OPENSM),run -test.bench "$$(of LongRoute)" -test.cpu 2 -test.count 1)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s); PKG=./mad/... chooses [half an hour for all]
	@for pkg in $$(go list $(PKG)); do \
		list=$$(go test -list '^Fuzz' $$pkg) || { echo "$$list"; exit 1; }; \
		for target in $$(grep '^Fuzz' <<<"$$list"); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

.PHONY: lint
lint: $(LINT) $(ACTIONLINT) ## run golangci-lint and actionlint, and build them first if they are missing [a minute, and some minutes the first time]
	$(LINT) run --allow-parallel-runners
	$(ACTIONLINT)

$(LINT):
	GOBIN=$(LINT_DIR) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

$(ACTIONLINT):
	GOBIN=$(ACTIONLINT_DIR) go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

.PHONY: audit
audit: licences vulnerabilities ## list the licences of all modules, and search for known vulnerabilities

.PHONY: licences
licences: ## list the modules of the program and its tests with their licences; fails if one is not permissive
	@scripts/licences

.PHONY: dependencies
dependencies: ## write docs/dependencies.md from go.mod, the licences and the module proxy
	@scripts/dependencies

.PHONY: vulnerabilities
vulnerabilities: $(VULN) ## run govulncheck, if its database can be reached; REQUIRED=1 fails otherwise
	@curl -fsS -o /dev/null --max-time 20 $(VULN_DB)/index/db.json || { echo "vulnerabilities: NOT searched for: $(VULN_DB) could not be reached"; exit $(if $(REQUIRED),1,0); }; \
	$(VULN) -db $(VULN_DB) ./...

$(VULN):
	GOBIN=$(VULN_DIR) go install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)

.PHONY: fmt
fmt: ## format the Go files
	gofmt -s -w .

.PHONY: vet
vet: ## run go vet
	go vet ./...

.PHONY: check-fmt
check-fmt: ## fail if gofmt would change a file
	@files=$$(gofmt -s -l .); [ -z "$$files" ] || { echo "gofmt would change:" $$files; exit 1; }

.PHONY: check-tidy
check-tidy: ## fail if go mod tidy would change go.mod or go.sum
	go mod tidy -diff

.PHONY: clean
clean: ## remove the files that building and testing left here
	rm -f ibconsole ibconsole.1 *.test *.out *.prof
