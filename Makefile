# Each target is one script or one swift command; developers and the CI run the same ones. `make help` lists them.

PREFIX ?= /usr/local
DESTDIR ?=
# Variables set durations, repetitions and selections: make fuzz SECONDS=60, make kill-test KILLS=10, make sanitize SANITIZERS=thread,
# make power-test CUTS=5000, make damage-test SEEDS=1000, make disk-test ROUNDS=5,
# make clock-test CLOCK_SECONDS=48 TOKEN_LIFE=320, make token-outage-test OUTAGE_SECONDS=60,
# make backlog-test UPDATES=100000, make soak-test HOURS=1 SPEED=60, make fault-test CALLS=10, make link-test FLAPS=20,
# make reload-test RELOADS=20 EVERY=0.5, make simulate HOURS=1000 SEED=2, make token-backend-test VANS=20,
# make fleet-test BOOTS=10, make load-test VEHICLES=1000 LOAD_SECONDS=60, make arm64-test MODULE_SECONDS=300.
SECONDS ?= 60
KILLS ?= 50
CUTS ?= 200
SEEDS ?= 300
TRACKS ?= 100000
ROUNDS ?= 20
CLOCK_SECONDS ?= 1200
TOKEN_LIFE ?= 360
OUTAGE_SECONDS ?= 600
UPDATES ?= 1000000
MONITORED ?= 40
HOURS ?= 24
SPEED ?= 60
CALLS ?= 200
FLAPS ?= 20
VANS ?= 4
BOOTS ?= 3
VEHICLES ?= 10000
LOAD_SECONDS ?= 600
RELOADS ?= 600
EVERY ?= 1
MODULE_SECONDS ?= 900
SEED ?= 1
SANITIZERS ?= thread address
# The demo is built in the configuration that compiles fastest.
DEMO_CONFIGURATION ?= debug
# Writes no cache files into the checkout.
PYTHON = python3 -B

# Some tests use nginx, gpsd, faketime, prometheus and the proxies (tinyproxy, microsocks, socat). zsh and fish test the
# completions; man and mandoc test the manual. openssl makes keys, and nghttp2-client's h2load is compared with the load
# test. parallel and jq run the example of a load test. python3 runs the trials; its packages run an example and check the
# schema. strace makes system calls fail, lld links the fuzzers, binutils strips, systemd checks the unit.
TOOLS = binutils faketime fish git gpsd gunicorn iproute2 jq lld man-db mandoc microsocks nghttp2-client nginx-light openssl \
	parallel procps prometheus python3 \
	python3-cryptography python3-flask python3-jsonschema python3-jwt socat strace systemd tinyproxy-bin zsh

.DEFAULT_GOAL := build
.PHONY: help prepare build demo test release install uninstall deb apt-repository image backend-image release-notes lint format imports examples bench fuzz coverage sanitize \
	kill-test power-test damage-test disk-test clock-test token-outage-test token-backend-test backlog-test soak-test \
	track-test fault-test link-test reload-test load-test economy deb-test repository-test proxy-test image-test arm64-test fleet-test monitoring-test server-test docs-test simulate planted-bugs trials release-check \
	service-check installed-check fixtures pictures clean-clone debian tools clean

help:            ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## */\1\t/p' Makefile | expand -t 20

prepare:         ## check for Swift, install missing Debian packages
	@scripts/prepare

tools: prepare   ## install the packages that some tests, the trials and the service's check need
	@scripts/install-dependencies $(TOOLS)

build: prepare   ## make a debug build
	swift build

demo: prepare    ## run a drive with an outage, and deliver everything; needs no account
	@scripts/demo $(DEMO_CONFIGURATION)

test: prepare    ## run all tests; VERBOSE=1 shows each
	@scripts/test

release: prepare ## make build/waypost: Swift runtime inside, stripped, size checked
	@scripts/release

install: release ## install the binary, the service and the documents under DESTDIR and PREFIX
	@scripts/install "$(DESTDIR)" "$(PREFIX)"

uninstall:       ## remove the files that `make install` installed; keep the configuration and the outbox
	@scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

deb: prepare     ## make build/deb/waypost_VERSION_ARCH.deb of HEAD, and its debug symbols; run lintian; ARCH=arm64 needs root
	@scripts/deb $(ARCH)

apt-repository:  ## make build/apt, a Debian repository of the packages in build/deb, signed with the secret key in the file KEY
	@scripts/apt-repository "$(KEY)"

image:           ## make build/image/waypost, an OCI image of the package in build/deb for ARCH, on Debian RELEASE; needs root
	@scripts/image waypost $(ARCH)

backend-image:   ## make build/image/token-backend, an OCI image of the example's token backend; needs root
	@scripts/image token-backend $(ARCH)

release-notes:   ## print the changes of VERSION (default HEAD), and the checksums of its packages
	@scripts/release-notes $(VERSION)

lint:            ## check formatting, words that don't belong in the sources, and the tests of the trials
	@scripts/lint

format:          ## rewrite the sources in house style
	@scripts/format

imports: prepare ## check that every import is a declared dependency; every build of the tests also does
	@ONLY_BUILD=1 scripts/test

examples: prepare ## build Examples and run them against the simulator
	@scripts/examples

bench: prepare   ## print one JSON object per case on standard output
	@scripts/bench

fuzz: prepare    ## fuzz every byte parser and the redaction, for SECONDS in total
	@scripts/fuzz $(SECONDS)

coverage: prepare ## measure how much of Core its tests cover; fails below a floor
	@scripts/coverage

sanitize: prepare ## run all tests under each of SANITIZERS
	@scripts/sanitize $(SANITIZERS)

kill-test: prepare ## kill a delivery at random moments, KILLS times; nothing may be lost
	@$(PYTHON) -m trials kill --kills $(KILLS)

power-test: prepare ## cut the power at any call of the outbox, CUTS times; only economy may lose updates, and only those of its window
	POWER_CUTS=$(CUTS) TEST_LOG=build/test-power.log FILTER='PowerCuts|LyingDisk' LIMIT=7200 VERBOSE=1 scripts/test

damage-test: prepare ## damage SEEDS outboxes, and make every disk call fail; undamaged rows must be found
	DAMAGE_SEEDS=$(SEEDS) TEST_LOG=build/test-damage.log FILTER='DamagedStore|FailingCalls' LIMIT=7200 VERBOSE=1 scripts/test

track-test: prepare ## report TRACKS random routes and a day at 10 Hz; track and memory must stay within their limits
	SHAPE_TRACKS=$(TRACKS) TEST_LOG=build/test-track.log FILTER=ShapeBound LIMIT=7200 VERBOSE=1 scripts/test

disk-test: prepare ## fill up the service's disk, ROUNDS times; needs root
	@$(PYTHON) -m trials disk --rounds $(ROUNDS)

clock-test: prepare ## run with a wrong clock and tokens of TOKEN_LIFE seconds, for CLOCK_SECONDS; no update may wait
	@$(PYTHON) -m trials clock --seconds $(CLOCK_SECONDS) --token-life $(TOKEN_LIFE)

token-outage-test: prepare ## issue no token for OUTAGE_SECONDS, then change the signing keys; nothing may be lost
	@$(PYTHON) -m trials token-outage --seconds $(OUTAGE_SECONDS)

token-backend-test: prepare ## run the example's backend with nginx, and VANS that drive with its tokens
	@$(PYTHON) -m trials token-backend --vans $(VANS)

backlog-test: prepare ## start with UPDATES pending; the live position must be sent at once
	@$(PYTHON) -m trials backlog --updates $(UPDATES)

soak-test: prepare ## drive for HOURS at SPEED times real speed, while everything around fails; memory may not grow
	@$(PYTHON) -m trials soak --hours $(HOURS) --speed $(SPEED)

fault-test: prepare ## make CALLS of the first 200 system calls of each kind fail, each in a separate run
	@$(PYTHON) -m trials fault --calls $(CALLS)

link-test: prepare ## cut the network FLAPS times and measure the delay of a new position; 20 times take four minutes; needs root
	@$(PYTHON) -m trials link --flaps $(FLAPS)

economy: prepare ## replay drives under each policy and measure requests, bytes on the wire and a follower's error
	@$(PYTHON) -m trials economy --speed $(SPEED) --seed $(SEED)

reload-test: prepare ## reload every EVERY seconds, RELOADS times, a third with an invalid file; nothing may be lost
	@$(PYTHON) -m trials reload --reloads $(RELOADS) --every $(EVERY)

deb-test: UPDATES = 10000
deb-test: prepare ## test the package in a Debian of RELEASE with systemd, and its upgrade with UPDATES pending; needs root
	@$(PYTHON) -m trials deb --updates $(UPDATES) --release $(or $(RELEASE),12)

repository-test: UPDATES = 10000
repository-test: prepare ## install and upgrade from a signed repository in a fresh Debian of RELEASE, with UPDATES pending; needs root
	@$(PYTHON) -m trials repository --updates $(UPDATES) --release $(or $(RELEASE),12)

proxy-test: prepare ## test the package in a Debian of RELEASE with tinyproxy: an outage, a wrong password, 403; needs root
	@$(PYTHON) -m trials proxy --release $(or $(RELEASE),12)

image-test: prepare ## run the image in build/image as PID 1, read-only, as its user; stop, kill and upgrade it; needs root
	@$(PYTHON) -m trials image

monitoring-test: prepare ## test the files in packaging/monitoring, and send metrics for MONITORED seconds
	@$(PYTHON) -m trials monitoring --seconds $(MONITORED)

fleet-test: prepare ## enrol a van with Ansible in a Debian of RELEASE, then boot a read-only image BOOTS times; needs root
	@$(PYTHON) -m trials fleet --boots $(BOOTS) --release $(or $(RELEASE),12)

load-test: prepare ## drive VEHICLES in one process for LOAD_SECONDS, then compare full speed with h2load
	@$(PYTHON) -m trials load --vehicles $(VEHICLES) --seconds $(LOAD_SECONDS)

arm64-test: prepare ## test the arm64 package in Debian 12 and 13 under qemu, and run the tests, MODULE_SECONDS per module; needs root
	@$(PYTHON) -m trials arm64 --seconds $(SECONDS) --limit $(MODULE_SECONDS)

server-test: prepare ## test every kind of server answer and every fault of a link with the real reporter
	@TEST_LOG=build/test-server.log FILTER='^LinkTests\.' scripts/test

docs-test: prepare ## run the commands of README and docs in a clean clone and a booted Debian; needs root and the network
	@scripts/docs-test

service-check:   ## check the unit with systemd
	@scripts/service-check

installed-check: release ## install into this system as the README says, and check the result; for a fresh root
	@scripts/installed-check

simulate: HOURS = 10000
simulate: prepare ## simulate HOURS of vehicles' lives with every fault, from SEED; no law may break
	@scripts/simulate campaign --hours $(HOURS) --seed $(SEED)

planted-bugs: prepare ## plant bugs around the real parts; the simulation must find each
	@scripts/simulate planted --hours 1000 --seed $(SEED)

# A release must pass this and .ci/run. Each target prints its result at its end.
release-check: ## test HEAD on both Debians and both architectures: two hours, 1.4 GB to download the first time; needs root
	@for release in 12 13; do \
		$(MAKE) debian RELEASE=$$release TARGET="tools demo test release installed-check" || exit; done
	@for target in "sanitize SANITIZERS=address" deb "repository-test RELEASE=12" "repository-test RELEASE=13" \
		"proxy-test RELEASE=12" "proxy-test RELEASE=13" image image-test "deb ARCH=arm64" arm64-test; do \
		begin=$$(date +%s); $(MAKE) $$target || exit; \
		echo "release-check: make $$target passed after $$(($$(date +%s) - begin)) s" >&2; done
	@echo "release-check: passed on Debian 12 and 13, x86-64, under the address sanitizer, and arm64 under qemu: $$(git describe --always --dirty)" >&2

# The trials that mostly wait run at the same time. The backlog test runs alone, because it measures a rate. The trials that
# compute run last.
trials: export WAYPOST = $(CURDIR)/build/waypost
trials: release ## run every trial in its long form; each prints its result at its end: 45 minutes; needs root
	@$(MAKE) --jobs --keep-going --output-sync=target KILLS=500 \
		clock-test token-outage-test soak-test fault-test kill-test disk-test link-test reload-test
	@$(MAKE) backlog-test
	@$(MAKE) simulate planted-bugs power-test damage-test server-test

fixtures: prepare ## generate fixtures/nmea again
	@scripts/fixtures

pictures: prepare ## make docs/images again: six minutes; needs chromium and python3-pil
	@scripts/install-dependencies chromium python3-pil
	@$(PYTHON) scripts/pictures

clean-clone:     ## clone HEAD elsewhere and run TARGET there
	@scripts/clean-clone $(or $(TARGET),test)

debian:          ## run TARGET in a fresh Debian of release RELEASE (12, 13, 14, sid), as its new user; needs root
	@SWIFT="$(SWIFT)" MIRROR="$(MIRROR)" scripts/debian "$(RELEASE)" $(or $(TARGET),test)

clean:           ## remove everything that was built
	rm -rf .build build
