#!/bin/bash
# Installs what is missing, builds and runs all tests. The last line is `N passed, N failed`.
#   tests/run.sh            release build with contracts: all tests; ASan and UBSan build: unit tests and 1e5 mutated inputs
#   tests/run.sh --full     and ThreadSanitizer, clang-tidy, 1e6 mutated inputs, both README commands on a bare machine
. "$(dirname "${BASH_SOURCE[0]}")/../jobs/environment.sh"
full=no
for word in "$@"; do
    case $word in
        --full) full=yes ;;
        *) echo "usage: tests/run.sh [--full]" >&2; exit 2 ;;
    esac
done

full_packages=()
[ "$full" = yes ] && full_packages=(clang libomp-dev clang-tidy-16 debootstrap)
install_missing "${build_packages[@]}" "${analysis_packages[@]}" "${test_packages[@]}" "${full_packages[@]}"
use_one_node
remove_stale_segments
export CI=${CI:-yes}        # a check that cannot run is a failure, not a skip
cd "$root_folder"

passed=0 failed=0
# count_tests LOG: adds ctest's closing line "97% tests passed, 3 tests failed out of 100".
count_tests() {
    local line bad all
    line=$(grep -E '^[0-9]+% tests passed' "$1" | tail -n 1)
    if [ -z "$line" ]; then failed=$((failed + 1)); return; fi
    bad=$(sed -E 's/.*, ([0-9]+) tests? failed out of ([0-9]+).*/\1/' <<<"$line")
    all=$(sed -E 's/.*, ([0-9]+) tests? failed out of ([0-9]+).*/\2/' <<<"$line")
    failed=$((failed + bad)); passed=$((passed + all - bad))
}
# step NAME COMMAND...: one check that is not counted by ctest.
step() {
    local name=$1 start=$SECONDS
    shift
    if "$@" </dev/null; then
        echo "== $name: passed in $((SECONDS - start)) s"; passed=$((passed + 1))
    else
        echo "== $name: FAILED after $((SECONDS - start)) s"; failed=$((failed + 1))
        return 1
    fi
}
# test_preset PRESET CTEST_OPTION...: the tests of a preset that was built.
test_preset() {
    local preset=$1 log
    shift
    log=build/$preset/tests.log
    ctest --test-dir "build/$preset" -j2 --output-on-failure --no-tests=error "$@" </dev/null 2>&1 | tee "$log" || true
    count_tests "$log"
}
configure() { cmake --preset "$1" "${@:2}"; }
build() { cmake --build --preset "$1" "${@:2}"; }

# How often runs are killed, and how many inputs are mutated under the sanitizers (without them a few, for speed).
kills=6 mutations=100000
[ "$full" = yes ] && kills=20 mutations=1000000

if step "configure ci" configure ci -DWINDTUNNEL_KILLS=$kills -DWINDTUNNEL_FUZZ_ITERATIONS=2000 && step "build ci" build ci; then
    test_preset ci
fi

# AddressSanitizer and UndefinedBehaviorSanitizer: the unit tests, and mutated plans, configurations and journals.
if step "configure asan" configure asan -DWINDTUNNEL_FUZZ_ITERATIONS=$mutations && step "build asan" build asan; then
    test_preset asan -L 'unit|fuzz'
fi

if [ "$full" = yes ]; then
    if step "configure tsan" configure tsan && step "build tsan" build tsan; then
        TSAN_OPTIONS=ignore_noninstrumented_modules=1 test_preset tsan -L 'unit|mpi'
    fi
    tidy() {
        git ls-files 'src/*.cpp' | xargs -P 2 -n 4 clang-tidy-16 -p build/ci --quiet
    }
    step "clang-tidy" tidy || true
    step "bare machine" tests/bare.sh || true
fi

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
