"""reproduce_test.py bits|kills WINDTUNNEL MPIEXEC KILLS: /results of the program itself do not depend on ranks, threads,
kills and resumes, bit for bit.

bits:  search, avail --half-width, rehearse and serve on 1 to 4 ranks x 1 to 3 threads; parts and gather; gather of an unfinished
       run, with which the run goes on afterwards.
kills: the same commands with at least 500 blocks, killed with -9 and continued on another number of ranks."""
import os
import sys
import tempfile

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(root, "tests", "support"))
import runs  # noqa: E402
from kill_and_resume import kill_and_resume, whole_run  # noqa: E402

what, program, mpiexec, kills = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
plan = os.path.join(root, "inputs", "plans", "gpt3-175b-1024-a100.toml")
# A range of batches makes the space larger.
batches = ["--set", "train.published.global_batch_size=1536", "--set"]
short = {
    "search": [program, "search", plan],
    "avail": [program, "avail", plan, "--half-width", "0.5%"],
    "rehearse": [program, "rehearse", plan, "--trials", "2000"],
    "serve": [program, "serve", os.path.join(root, "inputs", "plans", "serve", "qwen3-235b-16-h20.toml"),
              "--trials", "6", "--set", "serve.load.requests=300"],
}
long = {
    "search": [program, "search", plan, *batches, "train.global_batch_size={from=1024, to=3072}"],
    "avail": [program, "avail", plan, "--set", "recovery.spare_nodes=0", "--half-width", "0.03%"],  # waits vary more
    "rehearse": [program, "rehearse", plan, "--trials", "120000"],
}


def check(condition, text):
    if not condition:
        raise SystemExit(text)


def same_bits(name, command, folder):
    whole, blocks = whole_run(command, folder, f"{name}.h5")
    for ranks in (1, 2, 3, 4):
        for threads in ("1", "2", "3"):
            if (ranks, threads) == (1, "1"):
                continue
            output = os.path.join(folder, "other.h5")
            runs.run(runs.on_ranks(mpiexec, ranks, [*command, "-o", output, "--threads", threads, "--overwrite"]))
            difference = runs.results_differ(whole, output)
            check(not difference, f"{name} on {ranks} ranks x {threads} threads: {difference}")
    print(f"{name}: {blocks} blocks, equal bits on 1 to 4 ranks x 1 to 3 threads")
    return whole


def parts_of_search(whole, folder):
    """Three parts, each on another number of ranks, gathered."""
    journals = []
    for index in (0, 1, 2):
        output = os.path.join(folder, f"part{index}.h5")
        runs.run(runs.on_ranks(mpiexec, index + 1, [*short["search"], "-o", output, "--part", f"{index}/3"]))
        journals.append(output + ".journal")
    runs.run([program, "gather", *journals[:2], "-o", os.path.join(folder, "two.h5")], expected=75)
    runs.run([program, "gather", *journals, "-o", os.path.join(folder, "all.h5")])
    difference = runs.results_differ(whole, os.path.join(folder, "all.h5"))
    check(not difference, f"gathered parts: {difference}")
    done = runs.run([*short["avail"], "-o", os.path.join(folder, "p.h5"), "--part", "0/2"], expected=2)
    check("--part" in done.stderr, done.stderr)


def unfinished_run(folder):
    """A killed run: gather gives the partial result, marked so, and the run goes on to the whole one."""
    whole, _ = whole_run(long["rehearse"], folder, "long.h5")
    output = os.path.join(folder, "unfinished.h5")
    process = runs.start([*long["rehearse"], "-o", output, "--threads", "1"], os.path.join(folder, "log"))
    check(runs.wait_for_blocks(process, output + ".journal", 200), "the run ended too early")
    runs.kill_all(process)
    partial = os.path.join(folder, "partial.h5")
    runs.run([program, "gather", output + ".journal", "-o", partial], expected=75)
    check("0" in runs.run(["h5dump", "-a", "/complete", partial]).stdout.split("(0):")[1].split()[0], "complete is set")
    done = runs.run([*long["rehearse"], "-o", output, "--seed", "5", "--resume"], expected=2)
    check("the journal belongs to another run" in done.stderr, done.stderr)
    runs.run([*long["rehearse"], "-o", output, "--resume"])
    check(not runs.results_differ(whole, output), "the continued run differs")
    done = runs.run([*long["rehearse"], "-o", output, "--resume"])
    check("nothing to do" in done.stderr, done.stderr)
    runs.every_result_opens(folder)


with tempfile.TemporaryDirectory() as folder:
    if what == "bits":
        wholes = {name: same_bits(name, command, folder) for name, command in short.items()}
        parts_of_search(wholes["search"], folder)
        unfinished_run(folder)
    else:
        # The kills are shared among the three commands.
        for number, (name, command) in enumerate(long.items()):
            share = (kills + 2 - number) // 3
            whole, blocks = whole_run(command, folder, f"{name}.h5")
            shares = kill_and_resume(command, folder, mpiexec, share, whole, blocks, random_seed=number)
            print(f"{name}: {blocks} blocks; kills at " + ", ".join(f"{share:.0%}" for share in shares))
