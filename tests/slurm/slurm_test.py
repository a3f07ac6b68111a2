"""The job scripts on a real Slurm of two nodes on loopback: whatever cuts a run off, it ends in the same /results."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SCRIPTS = os.path.join(ROOT, "jobs", "slurm")
PROGRAM = os.environ.get("WINDTUNNEL", os.path.join(ROOT, "build", "ci", "bin", "windtunnel"))
PLAN = "inputs/plans/gpt3-175b-1024-a100.toml"
HALF_WIDTH = os.environ.get("WINDTUNNEL_SLURM_HALF_WIDTH", "0.0005%")   # some ten seconds of work on two cores
LONGEST = 150
ARRAY_LIMIT = 3


def missing():
    return [name for name in ("slurmctld", "slurmd", "munged", "sbatch", "h5diff") if shutil.which(name) is None]


class FakeSubmission(unittest.TestCase):
    """What submit_parts.sh asks of Slurm; `sbatch` writes its command line down, so no Slurm is needed."""

    def submit(self, parts, limit, fails_at=0):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            with open(os.path.join(folder, "sbatch"), "w", encoding="utf-8") as file:
                file.write(f'#!/bin/bash\necho "$FIRST $PARTS $*" >> {log}\nn=$(wc -l < {log})\n'
                           f'[ "$n" -eq {fails_at} ] && exit 1\necho $((100 + n))\n')
            os.chmod(file.name, 0o755)
            process = subprocess.run([os.path.join(SCRIPTS, "submit_parts.sh"), PLAN, "r.h5", str(parts)], cwd=ROOT, text=True,
                                     capture_output=True, stdin=subprocess.DEVNULL,
                                     env={**os.environ, "PATH": folder + ":" + os.environ["PATH"], "MAX_ARRAY_SIZE": str(limit)})
            calls = []
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    calls = file.read().splitlines()
            return process, calls

    def test_2000_parts_are_two_arrays_below_a_limit_of_1001_and_each_part_is_there_once(self):
        process, calls = self.submit(2000, 1001)
        self.assertEqual(process.returncode, 0, process.stderr)
        arrays = [call for call in calls if "--array" in call]
        self.assertEqual(len(arrays), 2)
        seen = []
        for call in arrays:
            first, low, high = int(call.split()[0]), *map(int, re.search(r"--array=(\d+)-(\d+)", call).groups())
            self.assertEqual(low, 0)
            self.assertLessEqual(high, 1000)
            seen += range(first, first + high + 1)
        self.assertEqual(seen, list(range(2000)))
        self.assertIn("--dependency=afterany:101:102", calls[-1])

    def test_a_refused_array_ends_the_submission(self):
        process, calls = self.submit(2000, 1001, fails_at=2)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len(calls), 2)

    def test_words_that_are_no_count_are_refused(self):
        for parts in ("0", "-1", "x", "1.5", ""):
            process, calls = self.submit(parts, 1001)
            self.assertEqual(process.returncode, 2)
            self.assertEqual(calls, [])


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = missing() + ([] if os.geteuid() == 0 else ["root"])
        if lacking:
            if os.environ.get("CI"):
                raise AssertionError("cannot start a Slurm, missing: " + ", ".join(lacking))
            raise unittest.SkipTest("missing: " + ", ".join(lacking))
        cls.folder = tempfile.mkdtemp(prefix="slurm-")
        cls.base = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "SLURM_"))}
        # No shared memory between ranks: the two nodes have one host name, so that their segments would have one name too.
        cls.base.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
                        OMPI_MCA_btl="self,tcp", OMPI_MCA_pml="ob1", OMPI_MCA_btl_tcp_if_include="lo", WINDTUNNEL=PROGRAM,
                        SLURM_BASE_PORT=str(17000 + os.getpid() % 200 * 100), MAX_ARRAY_SIZE_OF_TEST=str(ARRAY_LIMIT))
        process = subprocess.run([os.path.join(HERE, "cluster_up.sh"), cls.folder, "2", "2"], text=True, capture_output=True,
                                 env=cls.base, stdin=subprocess.DEVNULL)
        if process.returncode != 0:
            raise AssertionError(process.stderr)
        cls.base["SLURM_CONF"] = process.stdout.strip().split("=", 1)[1]
        cls.trials = cls.undisturbed("avail", PLAN, "--half-width", HALF_WIDTH)
        cls.sweep = cls.undisturbed("search", PLAN)

    @classmethod
    def tearDownClass(cls):
        subprocess.run([os.path.join(HERE, "cluster_down.sh"), cls.folder], env=cls.base, stdin=subprocess.DEVNULL, check=False)
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def undisturbed(cls, command, *words):
        path = os.path.join(cls.folder, f"undisturbed-{command}.h5")
        subprocess.run([PROGRAM, command, *words, "--quiet", "-o", path], cwd=ROOT, check=True, env=cls.base,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        return path

    def command(self, *words, check=True, **variables):
        process = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, env={**self.base, **variables},
                                 stdin=subprocess.DEVNULL)
        if check:
            self.assertEqual(process.returncode, 0, f"{words}\n{process.stdout}{process.stderr}{self.logs()}")
        return process.stdout.strip()

    def submit(self, script, *options, **variables):
        return self.command("sbatch", "--parsable", "--export=ALL", f"--output={self.folder}/job-%j.txt", *options,
                            os.path.join(SCRIPTS, script), **variables)

    def facts(self, job):
        text = self.command("scontrol", "-o", "show", "job", job, check=False)
        return dict(re.findall(r"(\w+)=(\S*)", text.splitlines()[0])) if text else {}

    def wait_for(self, job, *states):
        """Waits for a state; a requeued job that Slurm holds back for two minutes may start at once."""
        deadline = time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            facts = self.facts(job)
            if facts.get("JobState") in states:
                return facts
            if facts.get("JobState") == "PENDING" and facts.get("Reason") == "BeginTime":
                time.sleep(3)                          # the steps of the first start must be gone, else the node is drained
                self.command("scontrol", "update", f"jobid={job}", "StartTime=now", check=False)
            time.sleep(0.3)
        self.fail(f"job {job} is {self.facts(job)}\n{self.logs()}")

    def logs(self):
        texts = []
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("job-"):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
                    texts.append(f"--- {name}\n{file.read()[-3000:]}")
        return "\n".join(texts)

    def wait_for_journal(self, result):
        """The run has confirmed some blocks: only now is there something to lose."""
        journal, deadline = result + ".journal", time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            if os.path.exists(result):
                self.fail("the run was over before it was disturbed: make HALF_WIDTH smaller")
            if os.path.exists(journal) and os.path.getsize(journal) > 4000:
                return
            time.sleep(0.05)
        self.fail("no journal\n" + self.logs())

    def assert_same(self, result, undisturbed):
        process = subprocess.run(["h5diff", result, undisturbed, "/results", "/results"], text=True, capture_output=True)
        self.assertEqual(process.returncode, 0, process.stdout[:2000] + process.stderr)

    def start_trials(self, name):
        result = os.path.join(self.folder, name + ".h5")
        variables = {"PLAN": PLAN, "RESULT": result, "HALF_WIDTH": HALF_WIDTH}
        job = self.submit("monte_carlo.sbatch", "--nodes=2", "--ntasks-per-node=1", **variables)
        self.wait_for_journal(result)
        return job, result, variables

    def test_a_sweep_over_two_nodes(self):
        result = os.path.join(self.folder, "sweep.h5")
        job = self.submit("sweep.sbatch", "--nodes=2", "--ntasks-per-node=1", PLAN=PLAN, RESULT=result)
        facts = self.wait_for(job, "COMPLETED", "FAILED")
        self.assertEqual((facts["JobState"], facts["NumNodes"]), ("COMPLETED", "2"), self.logs())
        self.assert_same(result, self.sweep)

    def test_an_array_longer_than_the_limit_and_its_gathering(self):
        result = os.path.join(self.folder, "array.h5")
        text = self.command(os.path.join(SCRIPTS, "submit_parts.sh"), PLAN, result, "5", f"--output={self.folder}/job-%A-%a.txt")
        jobs = re.findall(r"job (\d+)", text)
        self.assertEqual(len(jobs), 3, text)             # 5 parts with a limit of 3: two arrays, and the gathering
        facts = self.wait_for(jobs[-1], "COMPLETED", "FAILED")
        self.assertEqual(facts["JobState"], "COMPLETED", self.logs())
        self.assert_same(result, self.sweep)

    def test_the_signal_of_the_time_limit_requeues_and_the_run_goes_on(self):
        job, result, _ = self.start_trials("limit")
        self.command("scancel", "-b", "-s", "USR1", job)        # what --signal=B:USR1@120 sends before the limit
        facts = self.wait_for(job, "COMPLETED", "FAILED")
        self.assertEqual((facts["JobState"], facts["Restarts"]), ("COMPLETED", "1"), self.logs())
        with open(os.path.join(self.folder, f"job-{job}.txt"), encoding="utf-8") as file:
            self.assertIn("interrupted after its journal was written: requeue", file.read())
        self.assert_same(result, self.trials)

    def test_a_cancelled_run_goes_on_when_it_is_submitted_again(self):
        job, result, variables = self.start_trials("cancelled")
        self.command("scancel", job)
        self.wait_for(job, "CANCELLED")
        self.assertFalse(os.path.exists(result))
        again = self.submit("monte_carlo.sbatch", "--nodes=1", "--ntasks-per-node=2", **variables)
        self.assertEqual(self.wait_for(again, "COMPLETED", "FAILED")["JobState"], "COMPLETED", self.logs())
        self.assert_same(result, self.trials)

    def test_a_lost_node(self):
        job, result, _ = self.start_trials("node")
        self.command("scontrol", "update", "nodename=n2", "state=down", "reason=test")
        try:
            time.sleep(1)
        finally:
            self.command("scontrol", "update", "nodename=n2", "state=resume", check=False)     # it may be back by itself
        facts = self.wait_for(job, "COMPLETED", "FAILED")
        self.assertEqual((facts["JobState"], facts["Restarts"]), ("COMPLETED", "1"), self.logs())
        self.assert_same(result, self.trials)

    def test_a_dead_rank(self):
        job, result, variables = self.start_trials("rank")
        os.kill(self.a_rank(result), signal.SIGKILL)
        self.assertEqual(self.wait_for(job, "COMPLETED", "FAILED")["JobState"], "FAILED", self.logs())
        self.assertFalse(os.path.exists(result))
        again = self.submit("monte_carlo.sbatch", "--nodes=2", "--ntasks-per-node=1", **variables)
        self.assertEqual(self.wait_for(again, "COMPLETED", "FAILED")["JobState"], "COMPLETED", self.logs())
        self.assert_same(result, self.trials)

    def a_rank(self, result):
        """The process of rank 1 of the run that writes `result`."""
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{number}/environ", "rb") as file:
                    variables = file.read().split(b"\0")
            except OSError:
                continue
            if os.path.basename(words[0]) == b"windtunnel" and result.encode() in words and b"PMIX_RANK=1" in variables:
                return int(number)
        self.fail("rank 1 is not there\n" + self.logs())

    def test_a_chain_ends_with_the_report(self):
        folder = os.path.join(self.folder, "chain")
        text = self.command(os.path.join(SCRIPTS, "submit_chain.sh"), PLAN, folder, f"--output={self.folder}/job-%j.txt")
        jobs = re.findall(r"job (\d+)", text)
        self.assertEqual(len(jobs), 3, text)
        facts = self.wait_for(jobs[-1], "COMPLETED", "FAILED", "CANCELLED")
        self.assertEqual(facts["JobState"], "COMPLETED", self.logs())
        self.assert_same(os.path.join(folder, "sweep.h5"), self.sweep)
        with open(os.path.join(folder, "rehearsal.html"), encoding="utf-8") as file:
            self.assertIn("<h1 id=\"title\"", file.read())


if __name__ == "__main__":
    unittest.main()
