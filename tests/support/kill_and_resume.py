"""Kills runs at random times and continues them on another number of ranks: the result must not show it.

Counted are kills that fell between 10 and 90 % of at least 500 blocks; the journal says where they fell."""
import os
import random
import time

import runs


def kill_and_resume(command, folder, mpiexec, kills, whole, num_blocks, seconds, random_seed, threads_option="--threads"):
    """`command` without -o; `whole` is the uninterrupted result, which has `num_blocks` blocks and took `seconds` on one
    rank. Returns the shares of the blocks at which the counted kills fell."""
    if num_blocks < 500:
        raise SystemExit(f"{num_blocks} blocks are too few for a kill test")
    chance = random.Random(random_seed)
    counted, attempt = [], 0
    output = os.path.join(folder, "killed.h5")
    log = os.path.join(folder, "killed.log")
    while len(counted) < kills:
        attempt += 1
        if attempt > 8 * kills + 16:
            raise SystemExit(f"only {len(counted)} of {kills} kills fell between 10 and 90 %")
        ranks = chance.choice([1, 2, 3, 4])
        first = [*command, "-o", output, threads_option, str(chance.choice([1, 2]))]
        killed = runs.kill_after(runs.on_ranks(mpiexec, ranks, first), chance.uniform(0.1, 1.0) * seconds, log)
        runs.every_result_opens(folder)
        if killed and os.path.exists(output + ".journal"):
            share = len(set(runs.journal_blocks(output + ".journal"))) / num_blocks
            if 0.1 <= share <= 0.9:
                counted.append(share)
            # A second kill during the resumed run, now and then.
            if chance.random() < 0.5:
                resumed = [*first, "--resume"]
                runs.kill_after(runs.on_ranks(mpiexec, chance.choice([1, 2]), resumed), chance.uniform(0.1, 0.6) * seconds, log)
                runs.every_result_opens(folder)
        other = chance.choice([r for r in (1, 2, 3, 4) if r != ranks])
        last = [*command, "-o", output, threads_option, str(chance.choice([1, 2, 3])), "--resume"]
        runs.run(runs.on_ranks(mpiexec, other, last))
        runs.every_result_opens(folder)
        difference = runs.results_differ(whole, output)
        if difference:
            raise SystemExit(f"attempt {attempt}, {ranks} then {other} ranks: {difference}")
        for left in (output + ".journal", output + ".lock"):
            if os.path.exists(left):
                raise SystemExit(f"{left} was left behind")
        os.remove(output)
        if os.path.exists(output + ".tmp"):
            raise SystemExit("a temporary file was left behind")
    return counted


def timed_whole_run(command, folder):
    """One rank, one thread, no interruption: path of the result, wall clock."""
    whole = os.path.join(folder, "whole.h5")
    start = time.monotonic()
    runs.run([*command, "-o", whole, "--threads", "1"])
    return whole, time.monotonic() - start
