"""kill_and_resume_test.py TOY_RUN MPIEXEC KILLS: the toy study, killed and continued; then every other way to stop it."""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import runs  # noqa: E402
from kill_and_resume import kill_and_resume, whole_run  # noqa: E402

toy, mpiexec, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])


def check(condition, text):
    if not condition:
        raise SystemExit(text)


def stop_with(number, command, journal):
    """Starts, sends the signal when 40 blocks are done, gives exit code and stderr."""
    if os.path.exists(journal):
        os.remove(journal)
    process = runs.start(command, text=True)
    check(runs.wait_for_blocks(process, journal, 40), f"{command} ended too early")
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    return process.returncode, error


with tempfile.TemporaryDirectory() as folder:
    command = [toy, "--block_us", "1000"]
    whole, num_blocks = whole_run(command, folder)
    shares = kill_and_resume(command, folder, mpiexec, kills, whole, num_blocks, random_seed=20261201)
    print(f"{num_blocks} blocks; kills at " + ", ".join(f"{share:.0%}" for share in shares))

    # SIGUSR1 to mpirun: the blocks in hand finish, all ranks exit 75, the journal stands, no lock.
    output = os.path.join(folder, "usr1.h5")
    for ranks in (1, 2, 3):
        stop = runs.on_ranks(mpiexec, ranks, [*command, "-o", output, "--overwrite", "--threads", "1"])
        code, error = stop_with(signal.SIGUSR1, stop, output + ".journal")
        check(code == 75, f"SIGUSR1 on {ranks} ranks: exit code {code}\n{error}")
        there = runs.journal_blocks(output + ".journal")
        check(0 < len(there) < num_blocks, f"SIGUSR1 on {ranks} ranks: {len(there)} blocks")
        check(not os.path.exists(output + ".lock") and not os.path.exists(output), "SIGUSR1 left a lock or a result")

    # SIGTERM to a run without a launcher: exit 75; under mpirun the launcher makes the code 1 (or what the ranks gave).
    code, error = stop_with(signal.SIGTERM, [*command, "-o", output, "--overwrite", "--threads", "2"], output + ".journal")
    check(code == 75 and "continue with --resume" in error, f"SIGTERM: exit code {code}\n{error}")
    check(not os.path.exists(output + ".lock"), "SIGTERM left the lock")
    # mpirun waits a second before it hands the signal on, so the blocks are slow here.
    slow = [toy, "--block_us", "10000"]
    code, error = stop_with(signal.SIGTERM, [mpiexec, "-n", "2", *slow, "-o", output, "--overwrite"],
                            output + ".journal")
    check(code != 0 and len(runs.journal_blocks(output + ".journal")) > 0, f"SIGTERM to mpirun: exit code {code}")
    time.sleep(0.5)
    runs.run([*command, "-o", output, "--resume"])
    check(not runs.results_differ(whole, output), "the result after SIGTERM differs")

    # One killed rank: the launcher ends the others, nothing hangs, the journal goes on.
    output = os.path.join(folder, "rank.h5")
    process = runs.start([mpiexec, "-n", "3", *command, "-o", output], os.path.join(folder, "log"))
    check(runs.wait_for_blocks(process, output + ".journal", 40), "the run ended too early")
    ranks = [pid for pid in runs.children_of(process.pid) if runs.is_running(pid)]
    os.kill(ranks[-1], signal.SIGKILL)
    check(process.wait(timeout=30) != 0, "a killed rank went unnoticed")
    while any(runs.is_running(pid) for pid in ranks):
        time.sleep(0.05)
    runs.run([mpiexec, "-n", "2", *command, "-o", output, "--resume"])
    check(not runs.results_differ(whole, output), "the result after a killed rank differs")

    # Two jobs on one output: the second stops, the first is not harmed.
    output = os.path.join(folder, "two.h5")
    first = runs.start([*command, "-o", output], os.path.join(folder, "log"))
    check(runs.wait_for_blocks(first, output + ".journal", 40), "the run ended too early")
    second = runs.run([*command, "-o", output, "--overwrite"], expected=1)
    check("is being written by process" in second.stderr, second.stderr)
    check(first.wait(timeout=60) == 0, "the first of two jobs failed")
    check(not runs.results_differ(whole, output), "the result of the first of two jobs differs")
    runs.every_result_opens(folder)
