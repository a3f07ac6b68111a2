# Sourced by the scripts of jobs/ and tests/: packages, and Open MPI as root on a machine with few cores.
set -eu
root_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHON=${PYTHON:-/usr/bin/python3}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else return 1; fi
}

# install_missing PACKAGE...: installs what dpkg does not have; says what to do where it may not.
install_missing() {
    command -v dpkg-query >/dev/null || {
        echo "This is no Debian or Ubuntu system: install the counterparts of: $*" >&2; return 0; }
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return 0
    echo "Installing: ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq </dev/null >&2 || {
        echo "Cannot install. As root: apt-get update && apt-get install ${missing[*]}" >&2; return 1; }
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2
}

build_packages=(g++ cmake ninja-build git openmpi-bin libopenmpi-dev libhdf5-dev libboost-program-options-dev
    nlohmann-json3-dev libmuparser-dev libtomlplusplus-dev libfmt-dev zlib1g-dev)
analysis_packages=(python3 python3-numpy python3-h5py python3-pandas python3-matplotlib libjs-d3)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev hdf5-tools clang-format procps
    chromium chromium-driver python3-selenium slurmctld slurmd slurm-client munge)

# Open MPI: root may run it, more ranks than cores are fine and yield while they wait, ranks are not bound to one core.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_ess_singleton_isolated=1

# For runs on one machine only: shared memory between ranks, nothing on the network.
use_one_node() {
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl_tcp_if_include=lo
}

# A rank that was killed leaves its shared-memory segment behind: removes those of this user that nobody has open.
remove_stale_segments() {
    local segment
    for segment in /dev/shm/vader_segment.*; do
        [ -O "$segment" ] || continue
        grep -qsF "$segment" /proc/[0-9]*/maps || rm -f "$segment"
    done
}

# build_program: the release preset, binary at build/release/bin/windtunnel.
build_program() {
    (cd "$root_folder" && cmake --preset release -DWINDTUNNEL_BUILD_TESTS="${1:-OFF}" >&2 &&
        cmake --build --preset release >&2)
}

# on_all_cores PROGRAM ...: one rank per core where mpirun exists, else threads of one process.
on_all_cores() {
    local cores
    cores=$(nproc)
    if command -v mpirun >/dev/null; then
        OMP_NUM_THREADS=1 mpirun -n "$cores" "$@" </dev/null
    else
        OMP_NUM_THREADS=$cores "$@" </dev/null
    fi
}
