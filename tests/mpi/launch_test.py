"""launch_test.py TOY_RUN MPIEXEC: launchers, messages and files of runs that do not go as usual."""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import runs  # noqa: E402

toy, mpiexec = sys.argv[1], sys.argv[2]


def check(condition, text):
    if not condition:
        raise SystemExit(text)


def control_characters(text):
    return [character for character in text if ord(character) < 32 and character != "\n"]


with tempfile.TemporaryDirectory() as folder:
    # UC-072: four tasks under an srun whose PMI this MPI library does not speak. No file may be touched.
    for task in range(4):
        env = runs.environment(SLURM_NTASKS="4", SLURM_STEP_NUM_TASKS="4", SLURM_PROCID=str(task))
        done = runs.run([toy, "-o", os.path.join(folder, "a.h5")], expected=1, env=env)
        check("4 processes were started, but they do not know each other" in done.stderr, done.stderr)
    check(os.listdir(folder) == [], "singletons wrote files")
    # A batch script that starts one process on purpose: a warning, and the work.
    env = runs.environment(SLURM_NTASKS="4", SLURM_PROCID="0")
    done = runs.run([toy, "--items", "8", "--round_items", "0"], env=env)
    check("the job has 4 tasks, but this is one process" in done.stderr, done.stderr)

    # UC-074: more threads than cores: ranks x threads and the mask are printed, a warning, equal results.
    cores = len(os.sched_getaffinity(0))
    one, many = os.path.join(folder, "one.h5"), os.path.join(folder, "many.h5")
    small = [toy, "--items", "160", "--block_us", "100"]
    done = runs.run([*small, "-o", one, "--threads", "1"])
    check("1 rank x 1 thread; host " in done.stderr and "warning" not in done.stderr, done.stderr)
    done = runs.run([mpiexec, "-n", "2", *small, "-o", many, "--threads", str(cores)])
    check(f"2 ranks x {cores} threads; host " in done.stderr, done.stderr)
    check(f"{2 * cores} threads in all on {cores} core(s) of the affinity mask" in done.stderr, done.stderr)
    check(not runs.results_differ(one, many), "threads changed the results")

    # UC-082: progress of 4 ranks in a file: lines of rank 0 only, an ETA, no control characters.
    log = os.path.join(folder, "log")
    with open(log, "w") as stream:
        import subprocess
        subprocess.run([mpiexec, "-n", "4", toy, "--block_us", "4000"], env=runs.environment(), stdout=stream, stderr=stream,
                       stdin=subprocess.DEVNULL, check=True, timeout=120)
    text = open(log).read()
    check(not control_characters(text), f"control characters in {text!r}")
    check(len(re.findall(r"ranks x", text)) == 1, f"other ranks than rank 0 speak:\n{text}")
    check(re.search(r"toy: \w+: \d+ of \d+ blocks \([0-9.]+ %\), .*, ETA ", text), text)

    # A rank that throws ends all ranks with its message, once: 2 for input, 1 for the rest.
    for ranks in (1, 2, 4):
        for option, code, words in ((["--input_error", "1"], 2, "toy.toml:3:1: error: item: the item is bad"), ([], 1, "the item fails")):
            done = runs.run(runs.on_ranks(mpiexec, ranks, [toy, "--throw_at", "900", "--block_us", "50", *option]), expected=None)
            check(done.returncode == code, f"{ranks} ranks: exit code {done.returncode}, expected {code}\n{done.stderr}")
            check(done.stderr.count(words) == 1, f"{ranks} ranks:\n{done.stderr}")

    # More ranks than work, one item, none.
    for items in ("0", "1", "5"):
        runs.run([mpiexec, "-n", "4", toy, "--items", items, "--round_items", "0"], timeout=60)

    # A journal of another seed: 2, and the first difference.
    output = os.path.join(folder, "seed.h5")
    runs.run([toy, "-o", output, "--throw_at", "100", "--block_us", "50"], expected=1)
    done = runs.run([mpiexec, "-n", "2", toy, "-o", output, "--resume", "--seed", "2"], expected=2)
    check("seed: 1 in the journal, 2 here" in done.stderr, done.stderr)
    check(runs.run([toy, "-o", output], expected=2).stderr.count("exists already") == 1, "an old journal was not refused")

    # UC-080: the file is read with h5py and pandas, without any code of ours.
    import h5py
    import pandas

    with h5py.File(one) as file:
        check(file.attrs["format"] == "windtunnel-result" and file.attrs["complete"] == 1, "root attributes")
        check(list(file.attrs["format_version"]) == [1, 0], "format_version")
        datasets = []
        file.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
        check(len(datasets) > 15, "too few datasets")
        for dataset in datasets:
            check(dataset.attrs["units"] and dataset.attrs["long_name"], f"{dataset.name} has no units or long_name")
            check(dataset.dtype.names is None and dataset.dtype.kind in "fiuS", f"{dataset.name}: {dataset.dtype}")
            check(len(dataset.shape) == 1 or dataset.name.startswith("/provenance"), f"{dataset.name}: {dataset.shape}")
        table = pandas.DataFrame({name: column[:] for name, column in file["results/toy/sums"].items()})
        check(list(table["name"].str.decode("utf-8")) == ["erste", "zw\u00f6lfte"], str(table))
        check(h5py.check_enum_dtype(file["results/toy/sums/phase"].dtype) == {"first": 0, "second": 1}, "enum names")
