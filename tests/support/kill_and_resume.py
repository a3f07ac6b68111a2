"""Kills runs at random times and continues them on another number of ranks: the result must not show it.

Counted are kills that fell between 10 and 90 % of at least 500 blocks; the journal says where they fell."""
import os
import random
import time

import runs


def kill_and_resume(command, folder, mpiexec, kills, whole, num_blocks, random_seed):
    """`command` without -o and --threads; `whole` is the uninterrupted result, which has `num_blocks` blocks. Each run
    is killed when its journal reached a random share of the blocks, and a random moment later; every fourth one when
    all blocks are there and the result is being written. Returns the shares at which the counted kills fell."""
    if num_blocks < 500:
        raise SystemExit(f"{num_blocks} blocks are too few for a kill test")
    chance = random.Random(random_seed)
    counted, attempt = [], 0
    output = os.path.join(folder, "killed.h5")
    journal = output + ".journal"
    log = os.path.join(folder, "killed.log")

    def kill_at(ranks, share, options):
        process = runs.start(runs.on_ranks(mpiexec, ranks, [*command, "-o", output, *options]), log)
        if not runs.wait_for_blocks(process, journal, int(share * num_blocks)):
            process.wait()
            return None
        time.sleep(chance.uniform(0.0, 0.02))
        runs.kill_all(process)
        runs.every_result_opens(folder)
        return len(set(runs.journal_blocks(journal))) / num_blocks if os.path.exists(journal) else None

    while len(counted) < kills:
        attempt += 1
        if attempt > 4 * kills + 16:
            raise SystemExit(f"only {len(counted)} of {kills} kills fell between 10 and 90 %")
        ranks = chance.choice([1, 2, 3, 4])
        threads = ["--threads", str(chance.choice([1, 2]))]
        share = kill_at(ranks, 1.0 if attempt % 4 == 0 else chance.uniform(0.1, 0.8), threads)
        if share is not None and 0.1 <= share <= 0.9:
            counted.append(share)
            if chance.random() < 0.4:  # the resumed run is killed too
                again = kill_at(chance.choice([1, 2]), min(1.0, share + chance.uniform(0.0, 0.2)), [*threads, "--resume"])
                if again is not None and 0.1 <= again <= 0.9:
                    counted.append(again)
        other = chance.choice([number for number in (1, 2, 3, 4) if number != ranks])
        runs.run(runs.on_ranks(mpiexec, other, [*command, "-o", output, "--threads", str(chance.choice([1, 2, 3])), "--resume"]))
        runs.every_result_opens(folder)
        difference = runs.results_differ(whole, output)
        if difference:
            raise SystemExit(f"attempt {attempt}, {ranks} then {other} ranks: {difference}")
        for left in (journal, output + ".lock", output + ".tmp"):
            if os.path.exists(left):
                raise SystemExit(f"{left} was left behind")
        os.remove(output)
    return counted


def whole_run(command, folder, name="whole.h5"):
    """One rank, one thread, no interruption: path of the result and its number of blocks."""
    whole = os.path.join(folder, name)
    runs.run([*command, "-o", whole, "--threads", "1"])
    text = runs.run(["h5dump", "-d", "/provenance/blocks", whole]).stdout
    return whole, int(text.split("(0):")[1].split()[0])
