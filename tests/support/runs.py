"""What the tests that start and kill runs share: commands, environment, the journal, comparison of results."""
import os
import signal
import struct
import subprocess
import time
import zlib

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader", "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_ess_singleton_isolated": "1", "OMP_NUM_THREADS": "1"}


def environment(**more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "PMI", "OMPI_COMM"))}
    return {**clean, **MPI_ENVIRONMENT, **more}


def on_ranks(mpiexec, ranks, command):
    """The command on so many ranks; one rank is started without mpiexec."""
    return list(command) if ranks == 1 else [mpiexec, "-n", str(ranks), *command]


def run(command, expected=0, timeout=300, **options):
    """Runs to the end; stops the test when the exit code is another one. Returns the finished process."""
    done = subprocess.run(command, env=options.pop("env", environment()), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=timeout, text=True, **options)
    if expected is not None and done.returncode != expected:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}, expected {expected}\n{done.stdout}\n{done.stderr}")
    return done


def journal_blocks(path):
    """The keys (round, block) of the whole records of a journal, read without any code of the program."""
    with open(path, "rb") as file:
        data = file.read()
    keys, at = [], 16
    while len(data) - at >= 32:
        magic, round_number, block, size, crc = struct.unpack_from("<IIQQI", data, at)
        if magic != 0x4B4C4257 or zlib.crc32(data[at:at + 24]) != crc or size > len(data) - at - 32:
            break
        end = at + 28 + size
        if struct.unpack_from("<I", data, end)[0] != zlib.crc32(data[at:end]):
            break
        if round_number != 0xFFFFFFFF:
            keys.append((round_number, block))
        at = end + 4
    return keys


def results_differ(a, b):
    """Text of h5diff over /results; empty when all numbers are equal bit for bit."""
    done = subprocess.run(["h5diff", a, b, "/results", "/results"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else f"h5diff {a} {b}: {done.returncode}\n{done.stdout}"


def every_result_opens(folder):
    """h5dump must open every .h5 file that is there, at any moment."""
    for name in os.listdir(folder):
        if name.endswith(".h5"):
            done = subprocess.run(["h5dump", "-H", os.path.join(folder, name)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise SystemExit(f"h5dump cannot open {name}: {done.stderr}")


def is_running(pid):
    """A zombie is dead already."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children_of(pid):
    """All processes below pid."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += [int(name), *children_of(int(name))]
    return found


def start(command, log=None, **more):
    """Starts the command; its stderr goes to the file `log` or can be read."""
    stream = open(log, "ab") if log else subprocess.PIPE
    try:
        return subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=stream, **more)
    finally:
        if log:
            stream.close()


def wait_for_blocks(process, journal, blocks, timeout=120):
    """Until the journal holds so many blocks. False when the process ended before."""
    limit = time.monotonic() + timeout
    while time.monotonic() < limit:
        if os.path.exists(journal) and len(journal_blocks(journal)) >= blocks:
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    raise SystemExit(f"{journal} did not reach {blocks} blocks in {timeout} s")


def kill_all(process):
    """-9 for a process and all below it; returns when none of them runs."""
    pids = [process.pid, *children_of(process.pid)]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    while any(is_running(pid) for pid in pids):
        time.sleep(0.01)
