# SPDX-License-Identifier: GPL-2.0-only
# The verbs of this project; `make help` explains them.  The work is done by the scripts that they name.
SHELL := /bin/bash
PYTHON := /usr/bin/python3
PQ := tools/patchqueue/pq
# as in tools/build/products.mk, which has what each is made of, and what each verb needs
PRODUCTS := xen-debug xen-release xen-off xen-optional xen-stock xen-fault xen-ubsan xen-tools xen-tools-stock linux bin debian-kernel \
	guest-module device-model images images-base images-debian images-hvm images-stock qemu-source qemu-plugin qemu workload-packages workloads \
	deb-root deb-xen deb-own deb debian-root debian-host deb-quick
export PYTHONDONTWRITEBYTECODE := 1
# what pytest is told is told by PYTEST_ARGS
unexport PYTEST_ADDOPTS

help:
	@printf '%s\n' \
	  'make demo      boots an emulated 8-node machine with our Xen, shows where guests live; sets up what that needs' \
	  'make test      sets everything up and runs every test; results in build/results/' \
	  'make soak      the long campaign, which make test leaves out: ONLY=WORDS for a part, stopped and resumed at will; docs/results/soak.md' \
	  'make check     the tests that boot nothing and build little' \
	  'make bench     what placement costs, against stock Xen and native Linux; BENCH=quick is a part of it' \
	  'make setup     packages, sources, builds and images, as the verbs above call it' \
	  'make trees     git trees with the patches as commits: build/trees/xen, build/trees/linux' \
	  'make export    the commits of these trees back into xen-patches/ and linux-guest-patches/' \
	  'make verify    do the patch files apply without fuzz, come back byte for byte and look as they should?' \
	  'make bisect    does every patch build, with the option on and off? QUICK=1: does what the series touches?' \
	  'make rebase    moves a series to other sources: NAME=xen ONTO=tarball, or ONTO=git-tree:ref' \
	  'make deb       packages for Debian 13, Xen among them, as a repository for apt: build/deb/; docs/howto.md installs them' \
	  'make install   builds and installs command, daemon and the source of the guest module: DESTDIR= PREFIX= XEN_TOOLS=' \
	  'make uninstall removes what that has put there, but for the configuration' \
	  'make dist      a tarball of what is committed, build/xen-numa-policy-VERSION.tar.gz; CONTRIBUTING.md says how a release is made' \
	  'make clean     removes build/ (not the trees with your work, not the cache)' \
	  '' \
	  'XEN_SRC=DIR LINUX_SRC=DIR  take the sources from a local git tree instead of what BASE names' \
	  'ACCEL=kvm                  boots on real hardware virtualization where there is some' \
	  'FORCE=1                    trees, export: go on although something would be set aside' \
	  '' \
	  'Everything made lands in build/ and in $${XDG_CACHE_HOME:-~/.cache}/xen-numa-policy.'

setup: setup-all

# what a verb needs, by products.mk
setup-%:
	@tools/build/setup.sh $*

packages:
	@tools/build/packages.sh

# a product, and what it is made of: make xen-debug, make linux, …
$(PRODUCTS):
	@tools/build/setup.sh $@

demo: setup-demo

# Fast and self-contained first, so that a broken series is known before anything boots; pytest's count is the last line.
# A boot keeps one core busy: see tests/runner for what runs side by side, and in what order.
TEST_DIRS := $(wildcard tests/series tests/unit tests/models tests/numasim tests/simulate tests/bench tests/packaging tests/host tests/bare tests/boot)
SIDE_BY_SIDE := -n auto --dist loadgroup --max-worker-restart 2 --durations 25 --durations-min 30
test: no-results setup-test
	@$(PYTHON) -m pytest $(SIDE_BY_SIDE) --run-limit 85 $(TEST_DIRS) $(PYTEST_ARGS)

# What make test leaves out.  It can be stopped and resumed: what has passed with the same inputs is not run again.
soak: no-results setup-soak
	@$(PYTHON) -m pytest $(SIDE_BY_SIDE) --soak=only $(if $(ONLY),-k '$(ONLY)') $(TEST_DIRS) $(PYTEST_ARGS)

check: no-results setup-check
	@$(PYTHON) -m pytest $(SIDE_BY_SIDE) -m "not bisect" \
		$(filter-out tests/boot tests/bare tests/bench tests/numasim tests/packaging tests/host,$(TEST_DIRS)) $(PYTEST_ARGS)

# a run that ends before pytest begins leaves no results of an earlier one
no-results:
	@rm -f build/results/results.xml build/results/results.ktap

bench: setup-bench
	@$(PYTHON) tests/bench/create_cost/run.py
	@$(PYTHON) tests/bench/move_cost/run.py
	@$(PYTHON) tests/bench/touch_cost/run.py
	@$(PYTHON) tests/bench/hold_time/run.py
	@$(PYTHON) tests/bench/carrefour_cost/run.py
	@$(PYTHON) tests/bench/carrefour_loop/run.py
	@$(PYTHON) tests/bench/heal/run.py
	@$(PYTHON) tests/bench/placement/run.py
	@$(PYTHON) tests/bench/page_walks/run.py --systems
	@$(PYTHON) tests/bench/repair/run.py

trees:
	@$(PQ) import $(NAME)
export:
	@$(PQ) export $(NAME)
verify:
	@$(PQ) verify $(NAME)
bisect:
	@$(PQ) bisect $(if $(QUICK),--quick) $(NAME)
rebase:
	@$(PQ) rebase $(or $(NAME),xen) $(ONTO)

dist:
	@tools/build/dist.sh

# where PREFIX= and DESTDIR= say; the Makefile of each part tells what else it takes
install uninstall:
	@for part in tools/xl-numapolicy carrefour-user linux-guest-module; do \
		$(MAKE) -C $$part BUILD=$(CURDIR)/build/install/$${part##*/} $@ || exit; done

# the trees may hold work, pq knows
clean:
	@find build -mindepth 1 -maxdepth 1 ! -name trees -exec rm -rf {} + 2>/dev/null || :
	@echo "build/trees stays, and so does the cache (tools/build/clean-cache.sh --all drops it)"

.PHONY: help setup packages $(PRODUCTS) demo test soak check bench trees export verify bisect rebase dist install uninstall clean
.PHONY: no-results
