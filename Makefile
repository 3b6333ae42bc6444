# hapticd: one non-recursive Makefile. Everything it makes is under $(BUILD).
#   make run [ARGS=...]   install what is missing, build, run the server on the simulated Falcon
#   make test             the same for the tests
#   make check            structure, real-time section, sanitizers, format, tidy
#   make bench [ONLY=x]   every benchmark (or one group) into build/bench.json, how it feels into build/feel.md
#   make fuzz             every parser under libFuzzer, FUZZ_SECONDS each
#   make campaign         long random play, cold starts, kill tests
#   make figures          every picture of the documents
#   make install          DESTDIR and PREFIX are honoured

BUILD    ?= build
CC       ?= cc
CXX      ?= c++
OPT      ?= -O2 -g
PREFIX   ?= /usr/local
SANITIZE ?=
ARGS     ?=
JOBS     ?= $(shell nproc)

.DELETE_ON_ERROR:
.PHONY: all run test check bench fuzz campaign figures install clean deps \
        deps-check deps-bench check-layers check-rt check-format check-tidy check-sanitizers test-threaded \
        check-spin check-rtsan check-ring-clang

all: programs

# --- packages -------------------------------------------------------------------------------------
PACKAGES       := gcc g++ libc6-dev pkg-config libusb-1.0-0-dev libconfuse-dev libjansson-dev \
                  zlib1g-dev libssl-dev libhdf5-dev libxml2-dev libassimp-dev scdoc
TEST_PACKAGES  := libcmocka-dev jq libseccomp-dev umockdev libumockdev-dev libocct-foundation-dev \
                  libocct-modeling-data-dev libocct-modeling-algorithms-dev libocct-data-exchange-dev
CHECK_PACKAGES := clang clang-format clang-tidy libclang-rt-14-dev libclang-rt-19-dev spin
BENCH_PACKAGES := jq rt-tests liblapacke-dev libopenblas-dev libfcl-dev libccd-dev libbullet-dev \
                  libmujoco-dev libocct-foundation-dev libocct-modeling-data-dev \
                  libocct-modeling-algorithms-dev libocct-data-exchange-dev libeigen3-dev

deps:
	@sh config/install-packages.sh $(PACKAGES) $(TEST_PACKAGES)
deps-check:
	@sh config/install-packages.sh $(CHECK_PACKAGES)
deps-bench:
	@sh config/install-packages.sh $(BENCH_PACKAGES)

# --- compiler -------------------------------------------------------------------------------------
pkg = $(shell pkg-config $(1) 2>/dev/null)
LIBRARIES = libusb-1.0 libconfuse jansson zlib libcrypto hdf5 libxml-2.0 assimp

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wcast-qual -Wwrite-strings \
            -Wdouble-promotion -Wstrict-prototypes -Wmissing-prototypes -Werror
CPPFLAGS  = -I. -D_GNU_SOURCE $(addprefix -isystem ,$(patsubst -I%,%,$(filter -I%,$(call pkg,--cflags $(LIBRARIES)))))
CFLAGS    = -std=c17 -MMD -MP -ffp-contract=off -fno-jump-tables -fno-math-errno -pthread $(OPT) $(WARNINGS)
CXXFLAGS  = -std=c++17 -MMD -MP -ffp-contract=off -pthread $(OPT) -Wall -Wextra
LDFLAGS   = -pthread -Wl,--as-needed
LDLIBS    = $(call pkg,--libs $(LIBRARIES)) -ldl -lm
ifneq ($(SANITIZE),)
CFLAGS   += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
CXXFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
LDFLAGS  += -fsanitize=$(SANITIZE)
endif

# --- the house ------------------------------------------------------------------------------------
ROOMS    := geometry collide solver devices config server
MAINS    := server/main.c server/haptic.c
SRC      := $(filter-out $(MAINS),$(wildcard $(ROOMS:=/*.c) devices/falcon/*.c server/client/*.c))
OBJ      := $(SRC:%.c=$(BUILD)/%.o)
HEADERS  := $(wildcard $(ROOMS:=/*.h) devices/falcon/*.h server/client/*.h)
LIBRARY  := $(BUILD)/libhapticd.a

programs: $(BUILD)/hapticd $(BUILD)/haptic

$(LIBRARY): $(OBJ)
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/hapticd: $(BUILD)/server/main.o $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(LIBRARY) $(LDLIBS)
$(BUILD)/haptic: $(BUILD)/server/haptic.o $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(LIBRARY) $(LDLIBS)
$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
# Tests compare with long double references, which clang calls a promotion.
$(BUILD)/tests/%.o: WARNINGS += -Wno-double-promotion
$(BUILD)/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

# --- plug-ins for devices: devices/plugins/*.c, each a shared object of its own; C++ ones where their
#     library is there: nifalcon (libnifalcon). chai3d.cpp is built by the user against their CHAI3D.
HAS_NIFALCON := $(wildcard /usr/include/falcon/core/FalconDevice.h /usr/local/include/falcon/core/FalconDevice.h)
PLUGINS := $(patsubst devices/plugins/%.c,$(BUILD)/plugins/%.so,$(wildcard devices/plugins/*.c)) \
           $(if $(HAS_NIFALCON),$(BUILD)/plugins/nifalcon.so)

plugins: $(PLUGINS)
$(BUILD)/plugins/%.so: devices/plugins/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<
$(BUILD)/plugins/nifalcon.so: devices/plugins/nifalcon.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -fPIC -shared -o $@ $< -lnifalcon

# --- libhaptic: what other programs link to reach a running server ----------------------------------
CLIENT_SRC := $(wildcard server/client/*.c)
libhaptic: $(BUILD)/libhaptic.so $(BUILD)/libhaptic.a
$(BUILD)/libhaptic.so: $(CLIENT_SRC) server/client/*.h Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS)) -fPIC -shared -Wl,-soname,libhaptic.so.0 -o $@ $(CLIENT_SRC)
$(BUILD)/libhaptic.a: $(CLIENT_SRC:%.c=$(BUILD)/%.o)
	@rm -f $@
	ar rcs $@ $^

# Clients and C++ plug-ins for the tests, against stand-ins of CHAI3D and libnifalcon.
CLIENTS := $(addprefix $(BUILD)/client/,ten-lines probe nasty chai3d-program chai3d.so nifalcon.so)
STAND_IN := -Itests/stand_in -Iserver/client -Iserver/client/chai3d
$(BUILD)/client/ten-lines: tests/client/ten_lines.c $(BUILD)/libhaptic.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(STAND_IN) $(filter-out -MMD -MP,$(CFLAGS)) -o $@ $^
$(BUILD)/client/probe $(BUILD)/client/nasty: $(BUILD)/client/%: tests/client/%.c $(BUILD)/libhaptic.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(STAND_IN) $(filter-out -MMD -MP,$(CFLAGS)) -o $@ $^ -lm
$(BUILD)/client/chai3d-program: tests/client/chai3d_program.cpp server/client/chai3d/cHapticdDevice.cpp \
        $(BUILD)/libhaptic.a server/client/chai3d/*.h tests/stand_in/chai3d.h
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(STAND_IN) $(filter-out -MMD -MP,$(CXXFLAGS)) -o $@ $(filter %.cpp %.a,$^)
$(BUILD)/client/%.so: devices/plugins/%.cpp devices/plugins/plugin.hpp tests/stand_in/chai3d.h Makefile
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(STAND_IN) $(filter-out -MMD -MP,$(CXXFLAGS)) -fPIC -shared -o $@ $<

$(BUILD)/device-conformance: $(BUILD)/tests/conformance/conformance.o \
        $(BUILD)/tests/conformance/allocations.o $(BUILD)/tests/emulated/falcon_arms.o \
        $(BUILD)/tests/emulated/falcon_model.o $(BUILD)/tests/emulated/model_transport.o $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $(filter %.o,$^) $(LIBRARY) $(LDLIBS)

# --- the emulated Falcon: usbfs shim, device process (tests/emulated) -------------------------------
EMULATED     := $(BUILD)/emulated/usbfs_shim.so $(BUILD)/emulated/falcon-process \
                $(BUILD)/emulated/make-firmware
EMULATED_SRC := tests/emulated/usbfs.c tests/emulated/falcon_model.c tests/emulated/falcon_arms.c \
                devices/sim_hand.c devices/sim_script.c devices/settings.c geometry/error.c \
                geometry/vec3.c devices/falcon/protocol.c
EMULATED_HEADERS := devices/sim_hand.h devices/settings.h devices/device.h devices/falcon/protocol.h \
                    geometry/base.h geometry/error.h geometry/vec3.h
UMOCKDEV      = $(subst -I,-isystem ,$(call pkg,--cflags umockdev-1.0))

# -Bsymbolic: the shim keeps to its own functions, whatever the program under it exports.
$(BUILD)/emulated/usbfs_shim.so: tests/emulated/usbfs_shim.c $(EMULATED_SRC) tests/emulated/*.h $(EMULATED_HEADERS) Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS)) -fPIC -shared -Wl,-Bsymbolic -o $@ $(filter %.c,$^) -ldl -lm
$(BUILD)/emulated/falcon-process: tests/emulated/falcon_process.c $(EMULATED_SRC) tests/emulated/*.h $(EMULATED_HEADERS) Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(UMOCKDEV) $(filter-out -MMD -MP,$(CFLAGS)) -o $@ $(filter %.c,$^) $(call pkg,--libs umockdev-1.0) -lm
$(BUILD)/emulated/make-firmware: tests/emulated/make_firmware.c $(EMULATED_SRC) tests/emulated/*.h $(EMULATED_HEADERS) Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS)) -o $@ $(filter %.c,$^) -lm
$(BUILD)/emulated/falcon.bin: $(BUILD)/emulated/make-firmware
	$< $@

# Where OpenCASCADE is installed: the importer of CAD files, and the tool its tests ask.
OCCT_FOLDER := $(firstword $(wildcard /usr/include/opencascade /usr/local/include/opencascade))
OCCT_LIBS   := -lTKIGES -lTKSTEP -lTKSTEPBase -lTKXSBase -lTKShHealing -lTKBO -lTKPrim -lTKTopAlgo \
               -lTKGeomAlgo -lTKBRep -lTKGeomBase -lTKG3d -lTKG2d -lTKMath -lTKernel
BENCH_LIBS_closest     := -lTKGeomAlgo -lTKGeomBase -lTKG3d -lTKG2d -lTKMath -lTKernel
BENCH_CPPFLAGS_closest := -isystem $(OCCT_FOLDER)
ifneq ($(wildcard $(OCCT_FOLDER)/STEPControl_Reader.hxx),)
programs: $(BUILD)/haptic-import
test-programs: $(BUILD)/tests/occt/occt_tool
endif
$(BUILD)/server/import/%.o $(BUILD)/tests/occt/%.o: CPPFLAGS += -isystem $(OCCT_FOLDER)
$(BUILD)/haptic-import: $(BUILD)/server/import/occt_import.o
	$(CXX) $(LDFLAGS) -o $@ $< $(OCCT_LIBS)
$(BUILD)/tests/occt/occt_tool: $(BUILD)/tests/occt/occt_tool.o
	$(CXX) $(LDFLAGS) -o $@ $< $(OCCT_LIBS) $(call pkg,--libs jansson)

run: deps
	@$(MAKE) --no-print-directory -j$(JOBS) programs
	$(BUILD)/hapticd $(ARGS)

# --- tests: one cmocka program per tests/test_*.c, and scripts tests/test_*.sh ---------------------
TEST_SRC      := $(wildcard tests/test_*.c)
TEST_PROGRAMS := $(TEST_SRC:%.c=$(BUILD)/%)
TEST_SUPPORT  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c) tests/emulated/falcon_arms.c \
                 tests/emulated/falcon_model.c tests/emulated/model_transport.c)
TEST_SCRIPTS  := $(wildcard tests/test_*.sh)
TEST_LIBS      = $(call pkg,--libs cmocka libseccomp)

$(TEST_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_SUPPORT) $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(TEST_SUPPORT) $(LIBRARY) $(TEST_LIBS) $(LDLIBS)

test: deps
	@$(MAKE) --no-print-directory -j$(JOBS) test-programs
	@BUILD=$(BUILD) tests/run.sh $(BUILD)/tests/logs $(TEST_PROGRAMS) $(TEST_SCRIPTS)
.PHONY: test-programs
test-programs: programs $(TEST_PROGRAMS) $(BUILD)/device-conformance $(PLUGINS) \
               $(EMULATED) $(BUILD)/emulated/falcon.bin $(CLIENTS)

# --- checks ---------------------------------------------------------------------------------------
check: deps deps-check
	@$(MAKE) --no-print-directory check-layers check-rt check-format check-tidy check-spin check-rtsan \
	    check-ring-clang
	@$(MAKE) --no-print-directory check-sanitizers

check-layers:
	tests/check-layers.sh
check-rt: $(OBJ)
	tests/check-rt.sh tests/rt-allow.txt $(OBJ)
check-format:
	clang-format --dry-run -Werror $(SRC) $(HEADERS) $(MAINS) $(wildcard tests/*.[ch] tests/*/*.[ch])
check-tidy:
	printf '%s\n' $(SRC) $(MAINS) | xargs -P 2 -n 4 sh -c \
	    'clang-tidy --quiet "$$@" -- -std=c17 $(CPPFLAGS) 2>/dev/null' tidy

# The ring's model, all interleavings, with planted mistakes that must be found.
check-spin:
	@BUILD=$(BUILD) tests/run.sh $(BUILD)/tests/logs tests/spin/check_ring.sh

# The servo under clang 19's real-time sanitizer runtime, linked into our own build.
RTSAN ?= $(firstword $(wildcard /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.rtsan-$(shell uname -m).a))
$(BUILD)/tests/rtsan/rtsan_servo: $(BUILD)/tests/rtsan/rtsan_servo.o $(TEST_SUPPORT) $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< -Wl,--whole-archive $(RTSAN) -Wl,--no-whole-archive \
	    $(TEST_SUPPORT) $(LIBRARY) $(TEST_LIBS) $(LDLIBS)
check-rtsan: $(BUILD)/tests/rtsan/rtsan_servo
	@RTSAN_SERVO=$< tests/run.sh $(BUILD)/tests/logs tests/rtsan/check_rtsan.sh

# TSan on the other compiler: the ring alone, where the memory orders are.
check-ring-clang:
	@mkdir -p $(BUILD)/tsan-clang
	clang $(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS)) -fsanitize=thread -o $(BUILD)/tsan-clang/test_ring \
	    tests/test_ring.c server/ring.c -pthread $(call pkg,--libs cmocka)
	@BUILD=$(BUILD) tests/run.sh $(BUILD)/tests/logs $(BUILD)/tsan-clang/test_ring

# The programs in which more than one thread runs: the only ones that can race.
THREADED_TESTS := $(basename $(notdir $(shell grep -l '^/\* threads:' $(TEST_SRC) /dev/null)))
check-sanitizers:
	TEST_EFFORT=0.1 $(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined OPT="-O1 -g" test
	TEST_EFFORT=0.1 $(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread OPT="-O1 -g" test-threaded
test-threaded: deps
	@$(MAKE) --no-print-directory -j$(JOBS) programs $(THREADED_TESTS:%=$(BUILD)/tests/%)
	@BUILD=$(BUILD) tests/run.sh $(BUILD)/tests/logs $(THREADED_TESTS:%=$(BUILD)/tests/%)

# --- benchmarks: tests/bench/bench_GROUP.c, with tests/bench/peer_GROUP.cpp where it has peers ------
BENCH_SRC      := $(wildcard tests/bench/bench_*.c)
BENCH_PROGRAMS := $(BENCH_SRC:%.c=$(BUILD)/%)
BENCH_RUN       = $(if $(ONLY),$(filter %/bench_$(ONLY),$(BENCH_PROGRAMS)),$(BENCH_PROGRAMS))

# Libraries of the peers, by group: BENCH_LIBS_witness, BENCH_CPPFLAGS_witness, ...
BENCH_CPPFLAGS_ccd_bodies = $(addprefix -isystem ,$(patsubst -I%,%,$(filter -I%,$(call pkg,--cflags fcl eigen3))))
BENCH_LIBS_ccd_bodies     = $(call pkg,--libs fcl ccd)
BENCH_LIBS_witness     := -lTKGeomAlgo -lTKGeomBase -lTKG3d -lTKG2d -lTKMath -lTKernel -lfcl -lccd
BENCH_LIBS_qp          := -llapacke -lopenblas
BENCH_LIBS_dynamics     := -lmujoco -lBulletDynamics-float64 -lBulletCollision-float64 -lLinearMath-float64
BENCH_CPPFLAGS_dynamics := -isystem /usr/include/bullet -DBT_USE_DOUBLE_PRECISION
BENCH_CPPFLAGS_witness := -isystem /usr/include/opencascade -isystem /usr/include/eigen3

# A function, because make would take a percent sign in the rule below for the group's name.
peer_objects = $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/bench/peer_$(1).cpp))

.SECONDEXPANSION:
$(BENCH_PROGRAMS): $(BUILD)/tests/bench/bench_%: $(BUILD)/tests/bench/bench_%.o \
        $(BUILD)/tests/bench/bench.o $(TEST_SUPPORT) $(LIBRARY) \
        $$(call peer_objects,$$*)
	$(CXX) $(LDFLAGS) -rdynamic -o $@ $(filter %.o,$^) $(LIBRARY) $(BENCH_LIBS_$*) $(TEST_LIBS) $(LDLIBS)
$(BUILD)/tests/bench/bench_falcon: $(BUILD)/tests/conformance/allocations.o
$(BUILD)/tests/bench/peer_%.o: CPPFLAGS += $(BENCH_CPPFLAGS_$(patsubst peer_%,%,$(notdir $*)))

bench: deps deps-bench
	@$(MAKE) --no-print-directory -j$(JOBS) programs $(BENCH_RUN) $(EMULATED) $(BUILD)/emulated/falcon.bin
	@BUILD=$(BUILD) tests/bench/run.sh $(BENCH_RUN)

# --- fuzzers: tests/fuzz/fuzz_PARSER.c, built with clang ------------------------------------------
FUZZ_SECONDS ?= 60
FUZZ_SRC      = $(if $(ONLY),$(wildcard tests/fuzz/fuzz_$(ONLY).c),$(wildcard tests/fuzz/fuzz_*.c))

fuzz: deps deps-check
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) MAKE="$(MAKE)" tests/fuzz/run.sh $(FUZZ_SRC)
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(LIBRARY)
	$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIBRARY) $(LDLIBS)

# --- long runs and pictures: tests/campaign/*.sh, tests/figures/figure_*.c ------------------------
CAMPAIGN_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/campaign/*.c))
$(CAMPAIGN_PROGRAMS): $(BUILD)/tests/campaign/%: $(BUILD)/tests/campaign/%.o $(TEST_SUPPORT) $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(TEST_SUPPORT) $(LIBRARY) $(TEST_LIBS) $(LDLIBS)
test-programs: $(CAMPAIGN_PROGRAMS)
campaign: deps
	@$(MAKE) --no-print-directory programs test-programs
	@BUILD=$(BUILD) tests/run.sh $(BUILD)/tests/logs $(wildcard tests/campaign/*.sh)

FIGURE_SRC      := $(wildcard tests/figures/figure_*.c)
FIGURE_PROGRAMS := $(FIGURE_SRC:%.c=$(BUILD)/%)
$(FIGURE_PROGRAMS): $(BUILD)/tests/figures/%: $(BUILD)/tests/figures/%.o $(TEST_SUPPORT) $(LIBRARY)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(TEST_SUPPORT) $(LIBRARY) $(TEST_LIBS) $(LDLIBS)
figures: deps
	@$(MAKE) --no-print-directory programs $(FIGURE_PROGRAMS)
	@mkdir -p $(BUILD)/figures
	@for f in $(FIGURE_PROGRAMS); do echo "$$f"; $$f $(BUILD)/figures || exit 1; done
	$(BUILD)/hapticd --lockstep --for 8 --scene sphere --record $(BUILD)/figures/first-touch.mcap
	$(BUILD)/haptic plot $(BUILD)/figures/first-touch.mcap -o $(BUILD)/figures/first-touch.svg
	$(BUILD)/hapticd --lockstep --for 10 --scene wooden-man --record $(BUILD)/figures/wooden-man.mcap
	$(BUILD)/haptic plot $(BUILD)/figures/wooden-man.mcap --scene -o $(BUILD)/figures/wooden-man.svg
	$(BUILD)/haptic scenes --thumbnails $(BUILD)/figures/scenes > /dev/null
	@if command -v rsvg-convert > /dev/null; then for f in first-touch wooden-man; do \
	    rsvg-convert $(BUILD)/figures/$$f.svg -o $(BUILD)/figures/$$f.png; done; \
	else echo "librsvg2-bin would make PNGs of server/pictures from these"; fi

# --- installation: DESTDIR for packagers, PREFIX /usr/local unless given ---------------------------
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
MANUALS    := $(patsubst server/man/%.scd,$(BUILD)/man/%,$(wildcard server/man/*.scd))
# What somebody needs to write a plug-in for a device.
PLUGIN_HEADERS := devices/device.h devices/plugins/plugin.hpp geometry/base.h geometry/error.h geometry/vec3.h
SHARED     := $(shell find config/scenes config/bodies -type f)

$(BUILD)/man/%: server/man/%.scd
	@mkdir -p $(@D)
	scdoc < $< > $@
$(BUILD)/hapticd.service: config/hapticd.service.in Makefile
	sed 's|@PREFIX@|$(PREFIX)|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' $< > $@

install: programs plugins libhaptic $(MANUALS) $(BUILD)/hapticd.service
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/hapticd $(DESTDIR)$(PREFIX)/include/chai3d-hapticd
	install -m 755 $(BUILD)/hapticd $(BUILD)/haptic $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PLUGINS) $(DESTDIR)$(PREFIX)/lib/hapticd
	install -m 644 $(BUILD)/libhaptic.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(BUILD)/libhaptic.so $(DESTDIR)$(PREFIX)/lib/libhaptic.so.0
	ln -sf libhaptic.so.0 $(DESTDIR)$(PREFIX)/lib/libhaptic.so
	install -m 644 server/client/haptic.h $(DESTDIR)$(PREFIX)/include
	install -m 644 server/client/chai3d/* devices/plugins/chai3d.cpp $(DESTDIR)$(PREFIX)/include/chai3d-hapticd
	for f in $(PLUGIN_HEADERS); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/include/hapticd/$$f || exit 1; done
	for f in $(SHARED); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/hapticd/$${f#config/} || exit 1; done
	for f in $(MANUALS); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/man/man$${f##*.}/$${f##*/} || exit 1; done
	install -D -m 644 config/hapticd.bash-completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/hapticd
	ln -sf hapticd $(DESTDIR)$(PREFIX)/share/bash-completion/completions/haptic
	install -D -m 644 config/70-hapticd.rules $(DESTDIR)$(PREFIX)/lib/udev/rules.d/70-hapticd.rules
	install -D -m 644 $(BUILD)/hapticd.service $(DESTDIR)$(PREFIX)/lib/systemd/system/hapticd.service
	install -D -m 644 config/hapticd.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/hapticd.conf
	[ -e $(DESTDIR)$(SYSCONFDIR)/hapticd/hapticd.conf ] || \
	    install -D -m 644 config/default.conf $(DESTDIR)$(SYSCONFDIR)/hapticd/hapticd.conf
	@[ -n "$(DESTDIR)" ] || echo "now: sudo systemd-sysusers; sudo udevadm control --reload; sudo udevadm trigger; haptic doctor"

# The whole server on an emulated Falcon (libusb, umockdev): what an operator would see.
emulated-falcon: deps
	@$(MAKE) --no-print-directory programs $(EMULATED) $(BUILD)/emulated/falcon.bin
	BUILD=$(BUILD) tests/emulated/with-falcon.sh process $(BUILD)/hapticd -c tests/emulated/falcon.conf $(ARGS)
.PHONY: plugins libhaptic emulated-falcon

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
