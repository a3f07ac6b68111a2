"""The program as users run it: exit codes, messages, answers, files."""
import bisect
import glob
import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from program import PLANS, PROGRAM, ROOT, SMALL_PLAN, TIMEOUT, commands, options_of, run

FEW_TRIALS = ("--trials", "20")


class Folder(unittest.TestCase):
    """A folder of its own for each test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windtunnel-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_done(self, process, code=0):
        self.assertEqual(process.returncode, code, f"{process.args}\n{process.stdout}\n{process.stderr}")
        return process


class Chains(Folder):
    CASES = os.path.join(ROOT, "inputs", "measurements", "avail")

    def test_exact_answers_of_a_chain_file(self):
        process = self.assert_done(run("avail", os.path.join(self.CASES, "A10.toml"), "--exact", "--json"))
        chains = json.loads(process.stdout)["chains"]
        self.assertEqual([chain["variant"] for chain in chains], ["crews_1", "crews_2", "crews_8"])
        first = chains[0]["measures"][0]
        self.assertEqual(first["name"], "availability_6of8")
        self.assertAlmostEqual(first["value"], 0.9974863353781802, delta=1e-12)
        text = self.assert_done(run("avail", os.path.join(self.CASES, "A10.toml"), "--exact")).stdout
        self.assertIn("9 states", text)

    def test_a_chain_without_exact_is_sampled(self):
        path = os.path.join(self.CASES, "A10.toml")
        process = self.assert_done(run("avail", path, "--trials", "2000", "--seed", "3", "--json"))
        first = json.loads(process.stdout)["chains"][0]["measures"][0]
        self.assertLess(abs(first["value"] - 0.9974863353781802), 4 * first["standard_error"])
        self.assertLess(first["standard_error"], 2e-3)
        self.assertEqual(process.stdout, self.assert_done(
            run("avail", path, "--trials", "2000", "--seed", "3", "--json", "--threads", "3")).stdout)
        narrow = self.assert_done(run("avail", path, "--half-width", "0.1%", "--json"))
        for chain in json.loads(narrow.stdout)["chains"]:
            first = chain["measures"][0]
            self.assertLessEqual((first["high"] - first["low"]) / 2, 1e-3 * first["value"])
        process = self.assert_done(run("avail", path, "--method", "splittin"), 2)
        self.assertIn("splitting", process.stderr)

    def test_a_wrong_chain_is_a_finding_with_its_place(self):
        path = self.path("wrong.toml")
        with open(path, "w") as file:
            file.write('[[component]]\nname = "node"\ncount = 2\nfailure_rate = "node - 2"\n'
                       '[[measure]]\nname = "mttf"\nkind = "mean_time"\ntarget = "node == 0"\n')
        self.assert_done(run("avail", path, "--exact"))        # 2 - 2 = 0: nothing ever fails
        with open(path, "a") as file:
            file.write('[[component]]\nname = "link"\ncount = 2\nfailure_rate = "1 - link"\n')
        process = self.assert_done(run("avail", path, "--exact"), 2)
        self.assertRegex(process.stderr, r"wrong.toml:12:16: error: .*the rate is -2 in state node=2, link=2")

    def test_a_billion_states_are_an_error_and_no_hang(self):
        path = self.path("large.toml")
        with open(path, "w") as file:
            file.write('[chain]\nmost_states = 20000\n[[component]]\nname = "node"\ncount = 1000000000\nfailure_rate = 1\n'
                       'repair_rate = 1\n[[measure]]\nname = "up"\nkind = "steady_state"\nreward = "node"\n')
        process = self.assert_done(run("avail", path, "--exact"), 2)
        self.assertIn("more than 20000 states", process.stderr)

    def test_an_unknown_rate_gives_no_number_but_the_value_that_meets_the_target(self):
        path = os.path.join(os.path.dirname(os.path.dirname(self.CASES)), "scenarios", "opt-175b-loss.toml")
        chain = json.loads(self.assert_done(run("avail", path, "--exact", "--json")).stdout)["chains"][0]
        self.assertEqual(chain["unknown"], ["loss_h"])
        self.assertIsNone(chain["measures"][0]["value"])
        middle = chain["break_even"][1]             # two hosts a day: 12 h x (56 / 33 - 1)
        self.assertAlmostEqual(middle["value"], 12 * (56 / 33 - 1), delta=1e-9)
        self.assertIn("UNKNOWN", self.assert_done(run("avail", path, "--exact")).stdout)

    def test_the_recovery_table_gives_visits(self):
        path = os.path.join(os.path.dirname(os.path.dirname(self.CASES)), "recovery", "mindcluster.toml")
        machine = json.loads(self.assert_done(run("avail", path, "--exact", "--json")).stdout)
        self.assertEqual(len(machine["states"]), 14)
        self.assertEqual(machine["states"][-1], {"name": "FINAL", "visits": 1.0, "time_s": 0.0})

    def test_validate_ops_reads_tables_of_the_user_and_finds_what_is_wrong_with_them(self):
        table = self.path("gemm.csv")
        with open(table, "w") as file:
            file.write("system,dtype,m,n,k,latency_us\n")
            for m in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):  # 10 us + 4 ns a row
                file.write(f"h100_sxm,bfloat16,{m},4096,4096,{10 + 0.004 * m}\n")
        answer = json.loads(self.assert_done(run("validate", "ops", "--rows", table, "--json")).stdout)
        left_out = [row for row in answer["rows"] if row["quantity"] == "latency_s"]
        self.assertEqual(len(left_out), 11)  # the ends are no inner points
        self.assertLess(max(abs(row["relative_error"]) for row in left_out), 0.02)
        self.assertEqual(sum(row["quantity"] == "roofline_s" for row in answer["rows"]), 13)
        with open(table, "a") as file:
            file.write("h100_sxm,bfloat16,8192,4096,4096,fast\n")
        self.assertRegex(self.assert_done(run("validate", "ops", "--rows", table), 2).stderr,
                         r"gemm.csv:15.*latency_us.*is not a time")
        self.assertIn("no table of operators has a file of this name",
                      self.assert_done(run("validate", "ops", "--rows", self.path("other.csv")), 2).stderr)

    def test_validate_avail_fails_when_an_answer_is_missed(self):
        good, table = os.path.join(self.CASES, "A01.toml"), self.path("table.csv")
        self.assert_done(run("validate", "avail", "--rows", good, "--csv", table))
        with open(table) as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "id,family,quantity,predicted,measured,relative_error,low,high,used_to_fit,reason")
        self.assertTrue(lines[1].startswith("A01,A01/component,availability,0.99206349206349"), lines[1])
        with open(good) as file:
            text = file.read()
        folder = self.path("cases")
        os.mkdir(folder)
        with open(os.path.join(folder, "changed.toml"), "w") as file:
            file.write(text.replace("repair_rate = 0.125", "repair_rate = 0.126"))
        process = self.assert_done(run("validate", "avail", "--rows", folder), 1)
        self.assertIn("OUTSIDE", process.stdout)

    def test_validate_serve_takes_tables_from_outside(self):
        rows, table = self.path("own.csv"), self.path("table.csv")
        with open(rows, "w") as file:
            file.write("hardware,chips,framework,model,isl,osl,batch,latency_s\n"
                       "H100,1,vLLM,Llama-3-8B,512,512,8,3.5\nH100,1,vLLM,no-such-model,512,512,8,3.5\n")
        self.assert_done(run("validate", "serve", "--rows", rows, "--csv", table))
        with open(table) as file:
            lines = file.read().splitlines()
        self.assertRegex(lines[1], r"^own:2,e2e_argonne,latency_s,\d")
        self.assertIn("is not described", lines[2])
        with open(rows, "a") as file:
            file.write("H100,1,vLLM,Llama-3-8B,512,-5,8,inf\n")
        process = self.assert_done(run("validate", "serve", "--rows", rows), 2)
        self.assertRegex(process.stderr, r"own.csv:4:\d+: error: osl")
        self.assertRegex(process.stderr, r"own.csv:4:\d+: error: latency_s")


class Usage(Folder):
    def test_without_a_command_the_overview_is_printed_and_the_code_is_2(self):
        process = self.assert_done(run(), 2)
        self.assertIn("Commands:", process.stdout)

    def test_help_of_each_command_names_options_with_defaults(self):
        names = commands()
        self.assertGreaterEqual(set(names), {"check", "train", "search", "avail", "rehearse", "validate", "import",
                                             "gather", "compare", "show", "list"})
        for name in names:
            process = self.assert_done(run(name, "--help"))
            self.assertTrue(process.stdout.startswith(f"Usage: windtunnel {name}"), name)
            self.assertEqual(process.stderr, "", name)

    def test_a_misspelt_command_names_the_nearest(self):
        process = self.assert_done(run("serach", SMALL_PLAN), 2)
        self.assertIn("serach", process.stderr)
        self.assertIn("search", process.stderr)
        self.assertEqual(process.stdout, "")

    def test_a_misspelt_option_of_any_command_stops_before_work(self):
        """UC-070: exit code, name of the option, nearest known one."""
        for name in commands():
            for option in options_of(name):
                wrong = f"--{option}x"
                process = self.assert_done(run(name, wrong, "no-such-file"), 2)
                self.assertIn(wrong, process.stderr)
                self.assertIn(f"--{option}", process.stderr.replace(wrong, ""))
                self.assertEqual(process.stdout, "")

    def test_version_names_program_compiler_mpi_and_hdf5(self):
        text = self.assert_done(run("--version")).stdout
        for word in ("windtunnel ", "git ", "compiler ", "MPI", "HDF5"):
            self.assertIn(word, text)

    def test_threads_sleep_while_they_wait(self):
        """Spinning made a search ten times slower on a machine that others use too."""
        told = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        for chosen, spins in ((None, "0"), ("active", "30000000000")):
            environment = {**told, "OMP_DISPLAY_ENV": "verbose", **({"OMP_WAIT_POLICY": chosen} if chosen else {})}
            process = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, env=environment,
                                     stdin=subprocess.DEVNULL, timeout=60)
            self.assertIn(f"GOMP_SPINCOUNT = '{spins}'", self.assert_done(process).stderr)

    def test_a_missing_plan_and_a_folder_for_a_plan_are_findings(self):
        for name in ("check", "train", "search", "avail", "rehearse"):
            for path in (self.path("absent.toml"), self.folder):
                process = self.assert_done(run(name, path), 2)
                self.assertIn(path, process.stderr)

    def test_numbers_out_of_range_are_findings(self):
        for words in (("avail", SMALL_PLAN, "--trials", "-1"), ("avail", SMALL_PLAN, "--trials", "1e6"),
                      ("avail", SMALL_PLAN, "--half-width", "nan"), ("avail", SMALL_PLAN, "--half-width", "-1%"),
                      ("search", SMALL_PLAN, "--top", "0"), ("search", SMALL_PLAN, "--threads", "0"),
                      ("search", SMALL_PLAN, "-o", "x.h5", "--part", "4/4"), ("search", SMALL_PLAN, "--part", "0/2"),
                      ("search", SMALL_PLAN, "--store", "some"), ("train", SMALL_PLAN, "--seed", "x"),
                      ("train", SMALL_PLAN, "--log-level", "loud"), ("train", SMALL_PLAN, "--set", "nonsense")):
            process = self.assert_done(run(*words, folder=self.folder), 2)
            self.assertIn("error", process.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_unknown_key_of_set_names_the_nearest(self):
        process = self.assert_done(run("check", SMALL_PLAN, "--set", "train.layout.tensor_paralel=4"), 2)
        self.assertIn("tensor_parallel", process.stderr)


class Plans(Folder):
    def test_six_plans_are_shipped(self):
        self.assertGreaterEqual(len(PLANS), 6)

    def test_every_plan_checks(self):
        for plan in PLANS:
            process = self.assert_done(run("check", plan))
            self.assertIn("groups", process.stdout)
            self.assertIn("split", process.stdout)
            document = json.loads(self.assert_done(run("check", plan, "--json")).stdout)
            layout = document["layout"]
            self.assertEqual(layout["tp"] * layout["cp"] * layout["dp"] * layout["pp"], layout["cards"])
            self.assertEqual(layout["etp"] * layout["ep"] * layout["edp"] * layout["pp"], layout["cards"])
            layers = sum(chunk["dense_layers"] + chunk["moe_layers"] for chunk in document["split"])
            self.assertEqual(layers, document["model"]["layers"])

    def test_every_plan_trains_and_parts_sum_to_the_step(self):
        for plan in PLANS:
            document = json.loads(self.assert_done(run("train", plan, "--json", "--quiet")).stdout)
            total = sum(document["parts_s"].values())
            self.assertAlmostEqual(total / document["step_time_s"], 1.0, places=9, msg=plan)
            self.assertTrue(0.0 < document["mfu"] < 1.0, plan)

    def test_every_plan_has_a_useful_time(self):
        """Spares keep the job from waiting for repairs: Llama 3 published an effective training time above 90 %."""
        for plan in PLANS:
            document = json.loads(self.assert_done(run("avail", plan, *FEW_TRIALS, "--json", "--quiet")).stdout)
            for variant in document["variants"]:
                self.assertGreater(variant["useful_share"]["mean"], 0.9 if "llama3" in plan else 0.8, plan)
                self.assertLessEqual(variant["useful_share"]["high_95"], 1.0, plan)

    def test_every_plan_is_searched_and_rehearsed(self):
        for plan in PLANS:
            result = self.path("r.h5")
            document = json.loads(self.assert_done(run("rehearse", plan, "--trials", "3", "--json", "--quiet", "-o", result,
                                                       "--overwrite")).stdout)
            self.assertEqual(sum(document["search"]["verdicts"].values()), document["search"]["num_designs"], plan)
            # check says how large the file gets
            runs = json.loads(self.assert_done(run("check", plan, "--json")).stdout)["runs"]
            said = {one["command"]: one["result_file_bytes"] for one in runs}["rehearse"]
            self.assertAlmostEqual(os.path.getsize(result) / said, 1.0, delta=0.3, msg=plan)

    def test_answers_fit_on_a_screen(self):
        for plan in PLANS:
            for name in ("check", "train"):
                lines = self.assert_done(run(name, plan, "--quiet")).stdout.splitlines()
                self.assertLessEqual(len(lines), 50, plan)


class Answers(Folder):
    def test_set_changes_the_answer(self):
        first = json.loads(self.assert_done(run("train", SMALL_PLAN, "--json")).stdout)
        other = json.loads(self.assert_done(run("train", SMALL_PLAN, "--json", "--set",
                                                "train.published.recompute=full" if first["layout"]["recompute"] != "full"
                                                else "train.published.recompute=selective")).stdout)
        self.assertNotEqual(first["step_time_s"], other["step_time_s"])

    def test_the_timeline_is_a_trace_event_file(self):
        timeline = self.path("step.json")
        answer = json.loads(self.assert_done(run("train", SMALL_PLAN, "--timeline", timeline, "--json")).stdout)
        with open(timeline, encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        self.assertGreater(len(events), 100)
        last = max(event["ts"] + event["dur"] for event in events)
        self.assertAlmostEqual(last * 1e-6 / answer["step_time_s"], 1.0, places=6)

    def test_the_timeline_of_every_shipped_plan_has_nested_events_that_sum_to_the_printed_parts(self):
        for plan in PLANS:
            timeline = self.path("step.json")
            answer = json.loads(self.assert_done(run("train", plan, "--timeline", timeline, "--json")).stdout)
            with open(timeline, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            tasks = [event for event in events if event["ph"] == "X" and event["cat"] != "part"]
            parts = [event for event in events if event["ph"] == "X" and event["cat"] == "part"]
            stages = {event["pid"] for event in tasks}
            self.assertEqual(len(stages), answer["layout"]["pp"], plan)
            names = {(event["pid"], event["tid"]) for event in events if event.get("name") == "thread_name"}
            self.assertEqual(names, {(event["pid"], event["tid"]) for event in tasks}, plan)
            # Each part lies inside the task before it on its thread.
            by_thread = {}
            for event in sorted(tasks, key=lambda event: event["ts"]):
                by_thread.setdefault((event["pid"], event["tid"]), []).append(event)
            starts = {thread: [event["ts"] for event in around] for thread, around in by_thread.items()}
            for event in parts:
                thread = event["pid"], event["tid"]
                task = by_thread[thread][bisect.bisect_right(starts[thread], event["ts"] + 1e-3) - 1]
                self.assertLessEqual(event["ts"] + event["dur"], task["ts"] + task["dur"] + 1e-3, plan)
            total = {}
            for event in parts:
                if event["pid"] == answer["last_stage"]:
                    total[event["name"]] = total.get(event["name"], 0.0) + event["dur"] * 1e-6
            for part, time in answer["parts_s"].items():
                if part not in ("bubble", "pp_comm"):  # waits, and transfers beside the work
                    self.assertAlmostEqual(total.get(part, 0.0), time, delta=1e-6 * answer["step_time_s"], msg=plan)
            memory = [event for event in events if event["ph"] == "C"]
            for stage, row in enumerate(answer["memory"]):
                most = max(event["args"]["bytes"] for event in memory if event["pid"] == stage)
                # The memory model counts chunks in flight by a closed form: within a hundredth here.
                self.assertLessEqual(most, row["total_bytes"] * 1.01, f"{plan}, stage {stage}")
                self.assertGreaterEqual(most, row["total_bytes"] * 0.99, f"{plan}, stage {stage}")

    def test_the_table_of_operators_sums_to_the_printed_parts(self):
        table, as_json = self.path("operators.csv"), self.path("operators.json")
        answer = json.loads(self.assert_done(run("train", SMALL_PLAN, "--operators", table, "--json")).stdout)
        self.assert_done(run("train", SMALL_PLAN, "--operators", as_json, "--json"))
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with open(as_json, encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["operators"]), len(rows))
        total = {}
        for row in rows:
            if int(row["stage"]) != answer["last_stage"] or row["pass"] == "step":
                continue
            times = float(row["blocks"]) * float(row["runs"])
            part = "recompute" if row["pass"] == "recompute" else row["part"]
            total[part] = total.get(part, 0.0) + (float(row["time_s"]) - float(row["hidden_s"])) * times
            launch = "recompute" if row["pass"] == "recompute" else "launch"
            total[launch] = total.get(launch, 0.0) + float(row["launch_s"]) * times
            self.assertIn(row["bound"], ("compute", "memory", "launch", "link", "host"))
        for part in ("gemm", "attention", "memory_bound", "launch", "recompute", "tp_comm"):
            self.assertAlmostEqual(total.get(part, 0.0), answer["parts_s"][part], delta=1e-9 * answer["step_time_s"])

    def test_a_layout_that_cannot_work_is_code_3_with_the_reason(self):
        process = run("train", SMALL_PLAN, "--set", "train.published.micro_batch_size=512",
                      "--set", "train.published.recompute=none")
        self.assertIn(process.returncode, (2, 3), process.stderr)
        self.assertRegex(process.stdout + process.stderr, r"memory|multiple|divis")

    def test_search_prints_its_best_and_counts_every_design(self):
        document = json.loads(self.assert_done(run("search", SMALL_PLAN, "--top", "3", "--json", "--quiet")).stdout)
        self.assertEqual(sum(document["verdicts"].values()), document["num_designs"])
        self.assertLessEqual(len(document["best"]), 3)

    def test_calibrate_fits_a_shipped_set_and_rows_of_the_user(self):
        quick = ("--starts", "1", "--folds", "2", "--resamples", "20", "--json", "--quiet")
        result = self.path("fit.h5")
        process = self.assert_done(run("calibrate", "--set", "maxtext-h100", *quick, "-o", result))
        found = json.loads(process.stdout)["sets"]
        self.assertEqual([entry["set"] for entry in found], ["maxtext-h100"])
        self.assertEqual(found[0]["fitted_rows"], 5)
        for value in found[0]["parameters"]:
            self.assertLessEqual(value["lower"], value["value"])
            self.assertLessEqual(value["value"], value["upper"])
            self.assertTrue(value["assumed"] or value["rows"] >= 5, value["name"])
        table = os.path.join(ROOT, "inputs", "measurements", "train", "simumax_b200.json")
        process = self.assert_done(run("calibrate", table, "--all-rows", "--name", "mine", "--parent", "simumax-b200",
                                       "--history", result, "--write", self.folder, *quick))
        mine = json.loads(process.stdout)["sets"][0]
        self.assertEqual((mine["set"], mine["judging_rows"]), ("mine", 0))
        self.assertLess(mine["error_fitted"], 0.05)
        self.assert_done(run("train", SMALL_PLAN, "--set", f"calibration.file={self.path('mine.toml')}"))
        process = self.assert_done(run("calibrate", "--set", "maxtex-h100"), 2)
        self.assertIn("maxtext-h100", process.stderr)
        self.assert_done(run("calibrate", table, "--name", "mine"), 2)

    def test_an_imported_record_gives_the_value_of_validate(self):
        table = os.path.join(ROOT, "inputs", "measurements", "train", "bloom_bigscience.json")
        process = run("validate", "train", "--rows", table, "--json")
        self.assertIn(process.returncode, (0, 1), process.stderr)      # 1: a limit of all rows, passed by those of one file
        rows = json.loads(process.stdout)["rows"]
        steps = [row for row in rows if row["quantity"] == "step_time_s" and row["predicted"] is not None]
        for row in steps[::40]:
            folder = self.path(row["id"])
            self.assert_done(run("import", "record", table, "--id", row["id"], "-o", folder))
            process = run("train", os.path.join(folder, "plan.toml"), "--json")
            self.assertIn(process.returncode, (0, 3), process.stderr)
            self.assertEqual(json.loads(process.stdout)["step_time_s"], row["predicted"], row["id"])
        self.assert_done(run("import", "record", table, "--id", steps[0]["id"], "-o", self.path(steps[0]["id"])), 2)
        process = self.assert_done(run("import", "record", table, "--id", "no such row", "-o", self.path("x")), 2)
        self.assertIn("is no record of the file", process.stderr)

    def test_a_record_that_cannot_be_simulated_is_refused_with_its_place(self):
        table = os.path.join(ROOT, "inputs", "measurements", "train", "bloom_bigscience.json")
        rows = json.loads(run("validate", "train", "--rows", table, "--json").stdout)["rows"]
        refused = next(row for row in rows if row["predicted"] is None and row["reason"].startswith("not printed"))
        process = self.assert_done(run("import", "record", table, "--id", refused["id"], "-o", self.path("x")), 2)
        self.assertRegex(process.stderr, r"bloom_bigscience.json:\d+: error: .*not printed")
        self.assertFalse(os.path.exists(self.path("x")))

    def test_an_imported_model_reads_back(self):
        config = self.path("config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
                       "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
                       "intermediate_size": 14336, "vocab_size": 128256, "hidden_act": "silu",
                       "tie_word_embeddings": False, "max_position_embeddings": 8192}, file)
        model = self.path("model.toml")
        self.assert_done(run("import", "hf", config, "-o", model))
        self.assert_done(run("import", "hf", config, "-o", model), 2)      # does not overwrite
        with open(model, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("num_kv_heads = 8", text)
        self.assertEqual(run("import", "hf", config).stdout, text)

    def test_the_shipped_inputs_are_listed(self):
        listed = self.assert_done(run("list", "plans", environment={"WINDTUNNEL_INPUTS": os.path.join(ROOT, "inputs")}))
        shipped = glob.glob(os.path.join(ROOT, "inputs", "plans", "**", "*.toml"), recursive=True)
        self.assertEqual(sorted(listed.stdout.split()), sorted(shipped))
        self.assertGreater(len(shipped), len(PLANS))
        wrong = self.assert_done(run("list", "plan", environment={"WINDTUNNEL_INPUTS": os.path.join(ROOT, "inputs")}), 2)
        self.assertIn("plans", wrong.stderr)


    def test_a_model_is_read_without_a_network(self):
        """UC-084: config.json alone, or its folder, on a node that reaches nothing."""
        config = os.path.join(ROOT, "tests", "input", "hugging_face", "llama3-8b")
        command = [PROGRAM, "import", "hf", config]
        apart = ["unshare", "--net", "--map-root-user"]
        if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode == 0:
            command = apart + command
        proxy = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "HF_ENDPOINT")}
        process = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30,
                                 env={**os.environ, **proxy})
        self.assert_done(process)
        self.assertIn("num_layers = 32", process.stdout)

    def test_the_advised_mapping_of_mixtral_is_near_the_top_with_the_shipped_calibration(self):
        """UC-043: EP 8 x TP 2 on 16 H100, dp 8, whose tensor parallelism cuts the experts too."""
        plan = self.path("plan.toml")
        inputs = os.path.join(ROOT, "inputs")
        with open(plan, "w", encoding="utf-8") as file:
            file.write(f"""[plan]
title = "Mixtral 8x7B on 16 H100"
model = "{inputs}/models/mixtral-8x7b.toml"
accelerator = "{inputs}/accelerators/h100-80gb-sxm.toml"
cards = 16
[calibration]
file = "{inputs}/calibrations/megatron-core-h100-moe.toml"
[train]
sequence_length = 4096
global_batch_size = 256
[train.layout]
cards = 16
tensor_parallel = [1, 2, 4, 8]
pipeline_parallel = [1, 2, 4]
expert_parallel = [1, 2, 4, 8]
expert_tensor_parallel = [1, 2]
recompute = ["none", "selective"]
micro_batch_size = 1
""")
        best = json.loads(self.assert_done(run("search", plan, "--json", "--quiet", "--top", "50")).stdout)["best"]
        advised = [design["tokens_per_second"] for design in best
                   if (design["layout"]["ep"], design["layout"]["tp"], design["layout"]["dp"]) == (8, 2, 8)]
        self.assertTrue(advised, "the advised mapping does not fit")
        self.assertGreater(advised[0], 0.8 * best[0]["tokens_per_second"])


class Outputs(Folder):
    def test_a_result_file_is_written_shown_and_not_overwritten(self):
        result = self.path("a.h5")
        self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", result))
        self.assertEqual(os.listdir(self.folder), ["a.h5"])
        self.assertIn("made by:", self.assert_done(run("show", result)).stdout)
        document = json.loads(self.assert_done(run("show", result, "--json", "--top", "2")).stdout)
        self.assertTrue(document["complete"])
        self.assertTrue(all(len(table["rows"]) <= 2 for table in document["tables"].values()))
        again = run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", result)
        self.assertIn(again.returncode, (1, 2))
        self.assertIn("--overwrite", again.stderr)
        self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", result, "--overwrite"))
        self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", result, "--resume"))

    def test_two_results_are_compared(self):
        a, b = self.path("a.h5"), self.path("b.h5")
        self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", a))
        self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "--seed", "9", "-o", b))
        self.assertIn("equal numbers", self.assert_done(run("compare", a, a)).stdout)
        document = json.loads(self.assert_done(run("compare", a, b, "--json")).stdout)
        self.assertTrue(any("seed" in line for line in document["differing_inputs"]))
        self.assertGreater(len(document["differences"]), 0)
        three = json.loads(self.assert_done(run("compare", a, b, a, "--json")).stdout)
        self.assertEqual([len(pair["differences"]) == 0 for pair in three], [False, True])

    def test_parts_are_gathered_into_the_undivided_result(self):
        parts = [self.path(f"part{i}.h5") for i in range(2)]
        for i, part in enumerate(parts):
            self.assertIn(run("search", SMALL_PLAN, "-o", part, "--part", f"{i}/2").returncode, (0, 75))
        journals = [part + ".journal" for part in parts]
        whole, gathered = self.path("whole.h5"), self.path("gathered.h5")
        self.assert_done(run("gather", *journals, "-o", gathered))
        self.assert_done(run("search", SMALL_PLAN, "-o", whole))
        document = json.loads(self.assert_done(run("compare", whole, gathered, "--json")).stdout)
        self.assertEqual(document["differences"], [])
        partial = self.path("partial.h5")
        self.assert_done(run("gather", journals[0], "-o", partial), 75)

    def test_dry_run_computes_and_writes_nothing(self):
        for name in ("search", "avail", "rehearse"):
            process = self.assert_done(run(name, SMALL_PLAN, "--dry-run", "-o", self.path("x.h5")))
            self.assertIn("groups", process.stdout)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_place_that_cannot_be_written_is_an_error_before_the_work(self):
        process = run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", self.path("absent/x.h5"))
        self.assertIn(process.returncode, (1, 2))
        self.assertIn("absent", process.stderr)

    def test_a_file_that_is_no_result_is_a_finding(self):
        text = self.path("x.h5")
        with open(text, "w", encoding="utf-8") as file:
            file.write("not a result\n")
        for words in (("show", text), ("show", self.path("absent.h5")), ("compare", text, text)):
            process = self.assert_done(run(*words), 2)
            self.assertIn(".h5", process.stderr)

    def test_a_full_disk_behind_stdout_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = run("check", SMALL_PLAN, stdout=full)
        self.assertEqual(process.returncode, 1)
        self.assertIn("standard output", process.stderr)

    def test_a_closed_pipe_behind_stdout_is_quiet_and_the_file_is_written(self):
        result = self.path("a.h5")
        command = f"'{PROGRAM}' avail '{SMALL_PLAN}' --trials 20 --quiet -o '{result}' | true; exit ${{PIPESTATUS[0]}}"
        process = subprocess.run(["bash", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertTrue(os.path.exists(result))

    def test_quiet_leaves_stderr_empty_and_data_goes_to_stdout_only(self):
        process = self.assert_done(run("search", SMALL_PLAN, "--quiet"))
        self.assertEqual(process.stderr, "")
        loud = self.assert_done(run("search", SMALL_PLAN))
        self.assertEqual(loud.stdout, process.stdout)


class Ranks(Folder):
    def test_several_ranks_print_once_and_the_same(self):
        alone = self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "--quiet"))
        shared = self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "--quiet", ranks=2))
        self.assertEqual(alone.stdout, shared.stdout)

    def test_wrong_input_is_reported_once_with_code_2(self):
        process = run("train", self.path("absent.toml"), ranks=2)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(process.stderr.count("absent.toml:") + process.stderr.count("absent.toml\""), 1, process.stderr)

    def test_a_batch_log_has_no_control_characters(self):
        process = self.assert_done(run("search", SMALL_PLAN, ranks=2))
        self.assertIsNone(re.search(r"[\x00-\x08\x0b-\x1f]", process.stderr))


class Serving(Folder):
    FOLDER = os.path.join(ROOT, "inputs", "plans", "serve")
    DENSE = os.path.join(FOLDER, "llama33-70b-8-h100.toml")
    SHORT = ("--trials", "2", "--set", "serve.load.requests=300")

    def answer(self, *words, code=0):
        return json.loads(self.assert_done(run("serve", *words, "--json"), code).stdout)

    def test_every_shipped_plan_is_served(self):
        plans = sorted(os.listdir(self.FOLDER))
        self.assertGreaterEqual(len(plans), 3)
        for name in plans:
            answer = self.answer(os.path.join(self.FOLDER, name), *self.SHORT)
            latency = answer["latency_s"]
            self.assertLess(0.0, latency["TTFT"]["mean"]["mean"], name)
            self.assertLess(latency["TTFT"]["P50"]["mean"], latency["E2E"]["P50"]["mean"], name)
            self.assertLessEqual(latency["E2E"]["P50"]["mean"], latency["E2E"]["P99"]["mean"], name)
            self.assertLess(latency["TPOT"]["mean"]["low_95"], latency["TPOT"]["mean"]["high_95"], name)
            self.assertIn(answer["limited_by"], ("load", "scheduler", "engine", "memory", "link"))
            self.assertIn("vLLM", answer["policy"])
            self.assertGreater(answer["measures"]["usd_per_million_tokens"]["mean"], 0.0, name)

    def test_every_request_can_be_written(self):
        path = self.path("requests.csv")
        self.assert_done(run("serve", self.DENSE, *self.SHORT, "--requests", path))
        with open(path) as file:
            names = file.readline().strip().split(",")
            rows = [dict(zip(names, line.strip().split(","))) for line in file]
        self.assertEqual(sorted(int(row["number"]) for row in rows), list(range(300)))
        for row in rows:
            times = [float(row[name]) for name in ("arrival_s", "queued_s", "scheduled_s", "first_token_s", "last_token_s")]
            self.assertEqual(times, sorted(times), row)

    def test_none_and_one_request(self):
        none = self.answer(self.DENSE, "--trials", "1", "--set", "serve.load.requests=0")
        self.assertEqual(none["requests"], 0)
        self.assertIsNone(none["latency_s"]["TTFT"]["mean"]["mean"])
        one = self.answer(self.DENSE, "--trials", "1", "--set", "serve.load.requests=1", "--set", "serve.load.warm_up=0")
        self.assertEqual(one["requests"], 1)
        self.assertEqual(one["latency_s"]["TTFT"]["P50"]["mean"], one["latency_s"]["TTFT"]["P99"]["mean"])

    def test_too_much_load_is_flagged(self):
        text = self.assert_done(run("serve", self.DENSE, "--trials", "1", "--set", "serve.load.requests=3000",
                                    "--set", "serve.load.request_rate=500")).stdout
        self.assertIn("SATURATED", text)
        self.assertNotIn("SATURATED", self.assert_done(run("serve", self.DENSE, *self.SHORT)).stdout)

    def test_a_trace_becomes_rows_and_laws_and_is_replayed(self):
        trace = os.path.join(ROOT, "inputs", "loads", "azure-conv-2023.csv")
        process = self.assert_done(run("import", "trace", trace, "-o", self.path("azure")))
        self.assertRegex(process.stdout, r"2,000 requests .*\n")
        self.assertIn("KS distance", process.stdout)
        with open(self.path("azure/load.toml")) as file:
            self.assertIn("[serve.load.output]", file.read())
        self.assert_done(run("import", "trace", trace, "-o", self.path("azure")), 2)   # is there already
        with open(self.DENSE) as file:
            text = re.sub(r"\n\[serve.load.input\].*?(?=\n\[serve.slo\])", "", file.read(), flags=re.DOTALL)
        text = text.replace('"../../', f'"{ROOT}/inputs/').replace('arrivals = "poisson"', 'arrivals = "trace"')
        text = text.replace("request_rate = 6", 'trace = "azure/requests.csv"').replace("requests = 4000", "requests = 2000")
        with open(self.path("plan.toml"), "w") as file:
            file.write(text.replace('warm_up = "5 %"', ""))
        answer = self.answer(self.path("plan.toml"))
        self.assertEqual((answer["trials"], answer["requests"]), (1, 2000))            # nothing is drawn at random
        blocks = os.path.join(ROOT, "inputs", "loads", "mooncake-conversation.csv")
        self.assert_done(run("import", "trace", blocks, "-o", self.path("mooncake")))
        with open(self.path("mooncake/requests.csv")) as file:
            self.assertEqual(file.readline().strip(), "arrival_s,input_tokens,output_tokens,block_ids")

    def test_bad_traces_are_findings(self):
        for text, message in (("a,b\n1,2\n", "no known trace"), ("", "holds no request"),
                              ("arrival_s,isl,osl\n1,5,5\n0,5,5\n", "before the row above"),
                              ("arrival_s,isl,osl\n0,-5,5\n", "-5 tokens"), ("arrival_s,isl,osl\ninf,5,5\n", "is no time"),
                              ("arrival_s,isl,osl\n0,5\n", "2 columns"), ('{"timestamp": 0}\n', "input_length")):
            with open(self.path("bad.csv"), "w") as file:
                file.write(text)
            process = self.assert_done(run("import", "trace", self.path("bad.csv"), "-o", self.path("out"), "--overwrite"), 2)
            self.assertIn(message, process.stderr)
            self.assertIn("bad.csv", process.stderr)

    def test_what_cannot_work_says_why(self):
        process = self.assert_done(run("serve", self.DENSE, "--set", "serve.deployment.tensor_parallel=1"), 3)
        self.assertIn("no room for a cache", process.stdout)
        process = self.assert_done(run("serve", self.DENSE, "--set", "serve.deployment.tensor_parallel=3"), 2)
        self.assertIn("one of 1, 2, 4, 8, 16, 32, 64", process.stderr)
        process = self.assert_done(run("serve", SMALL_PLAN), 2)
        self.assertIn("serve: is missing", process.stderr)


class Readme(Folder):
    def setUp(self):
        super().setUp()
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            self.text = file.read()

    def test_every_option_that_it_names_exists(self):
        snippets = re.findall(r"(?:windtunnel|\$windtunnel) (\w+)([^`\n#|]*)", self.text)
        self.assertGreater(len(snippets), 12)
        known = {name: set(options_of(name)) for name in commands()}
        for name, rest in snippets:
            if name not in known:
                continue
            for option in re.findall(r"--([\w-]+)", rest):
                self.assertIn(option, known[name], f"windtunnel {name} --{option}")

    def test_every_file_that_it_names_exists(self):
        for target in re.findall(r"\]\(([^)#]+)\)", self.text):
            if "://" not in target:
                self.assertTrue(os.path.exists(os.path.join(ROOT, target)), target)

    def test_its_plan_checks_and_trains(self):
        plan = self.path("plan.toml")
        with open(plan, "w", encoding="utf-8") as file:
            file.write(re.search(r"```toml\n(.*?)```", self.text, re.DOTALL)[1].replace('"../', f'"{ROOT}/inputs/'))
        for name in ("check", "train"):
            self.assertIn(run(name, plan).returncode, (0, 3), name)

    def test_the_commands_of_its_example_run(self):
        lines = [line for line in self.text.splitlines() if line.startswith("$windtunnel ") and "inputs/plans" in line]
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assert_done(run(*line.split()[1:], folder=ROOT))


class Recipes(Folder):
    """Every command of the README, in a folder of its own, with real files in place of the words in capitals."""
    RECORDS = os.path.join(ROOT, "inputs", "measurements", "train", "simumax_b200.json")
    NOT_HERE = ("COMMAND",)                           # --help of every command: Usage

    def prepare(self):
        for name in ("inputs", "analysis"):
            os.symlink(os.path.join(ROOT, name), self.path(name))
        for source, name in ((os.path.join(ROOT, "tests", "input", "hugging_face", "llama3-8b", "config.json"), "config.json"),
                             (self.RECORDS, "mine.json"), (self.RECORDS, "FILE.json")):
            shutil.copy(source, self.path(name))
        for name in ("A.h5", "B.h5", "RESULT.h5"):
            self.assert_done(run("train", SMALL_PLAN, "--quiet", "-o", self.path(name)))
        trace = [path for path in glob.glob(os.path.join(ROOT, "inputs", "loads", "*.csv"))][0]
        with open(self.RECORDS, encoding="utf-8") as file:
            records = json.load(file)
        first = (records["records"] if isinstance(records, dict) else records)[0]["id"]
        return {"PLAN": SMALL_PLAN, "FOLDER/plan.toml": "record/plan.toml", "FILE.json --id ID -o FOLDER": f"FILE.json --id {first} -o record",
                "FILE -o FOLDER": f"{trace} -o trace"}

    def test_each_runs(self):
        words = self.prepare()
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            text = file.read()
        block = "\n".join(re.findall(r"```bash\n(.*?)```", text, re.DOTALL))
        lines = [line.split("#")[0].strip() for line in block.splitlines() if "$windtunnel " in line]
        lines += re.findall(r"`(windtunnel [^`]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        lines = [line for line in lines if not any(word in line for word in self.NOT_HERE)]
        self.assertGreater(len(lines), 20)
        for line in lines:
            for word, meant in words.items():
                line = line.replace(word, meant)
            command = re.sub(r"^windtunnel ", "$windtunnel ", line)
            output = re.search(r"-o (\S+\.h5)\b", command)         # recipes stand alone: a name may come twice
            if output and "--resume" not in command and os.path.exists(self.path(output[1])):
                os.remove(self.path(output[1]))
            process = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT,
                                     env={**os.environ, "windtunnel": PROGRAM}, stdin=subprocess.DEVNULL)
            self.assertEqual(process.returncode, 0, command + "\n" + process.stdout[-600:] + process.stderr[-600:])


class Tutorial(Folder):
    def blocks(self, name):
        with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
            return re.findall(r"```bash\n(.*?)```", file.read(), re.DOTALL)

    def test_all_its_commands_run_one_after_the_other(self):
        """In a folder that looks like the project: links to what the commands read."""
        for name in ("inputs", "analysis"):
            os.symlink(os.path.join(ROOT, name), self.path(name))
        text = "set -eu\n" + "\n".join(self.blocks("tutorial.md"))
        process = subprocess.run(["bash", "-c", text], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT,
                                 env={**os.environ, "WINDTUNNEL": PROGRAM}, stdin=subprocess.DEVNULL)
        self.assertEqual(process.returncode, 0, process.stdout[-2000:] + process.stderr[-2000:])
        for name in ("model.toml", "search.h5", "rehearsal.h5", "report.html", "job.sh"):
            self.assertTrue(os.path.exists(self.path(os.path.join("tutorial", name))), name)

    def test_every_option_that_a_page_names_exists(self):
        known = {name: set(options_of(name)) for name in commands()}
        checked = 0
        for page in glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True):
            with open(page, encoding="utf-8") as file:
                text = file.read().replace("\\\n", " ")
            for name, rest in re.findall(r"(?:windtunnel|\$windtunnel|bin/windtunnel) (\w+)([^`\n#|]*)", text):
                if name not in known:
                    continue
                for option in re.findall(r"(?<![\w-])--([\w-]+)", rest.split(" > ")[0]):
                    self.assertIn(option, known[name], f"{page}: windtunnel {name} --{option}")
                    checked += 1
        self.assertGreater(checked, 15)

    def test_the_job_scripts_that_the_page_of_slurm_names_exist(self):
        words = " ".join(self.blocks("slurm.md"))
        scripts = re.findall(r"jobs/slurm/\S+", words)
        self.assertGreater(len(scripts), 2)
        for script in scripts:
            self.assertTrue(os.path.exists(os.path.join(ROOT, script)), script)


class Exports(Folder):
    def test_a_job_script_is_a_shell_script_that_runs_the_plan(self):
        script = self.path("job.sh")
        self.assert_done(run("export", "slurm", SMALL_PLAN, "--nodes", "3", "--cores-per-node", "16", "-o", script))
        self.assertEqual(subprocess.run(["bash", "-n", script]).returncode, 0)
        with open(script, encoding="utf-8") as file:
            text = file.read()
        for line in ("#SBATCH --nodes=3\n", "#SBATCH --ntasks-per-node=2\n", "#SBATCH --cpus-per-task=8\n", "--signal=B:USR1@120",
                     f"rehearse '{SMALL_PLAN}' -o 'gpt3-175b-1024-a100.rehearse.h5' --resume"):
            self.assertIn(line, text)
        self.assert_done(run("export", "slurm", SMALL_PLAN, "-o", script), 2)                 # it exists
        self.assert_done(run("export", "slurm"), 2)
        self.assert_done(run("export", "slurm", SMALL_PLAN, "--command", "sing"), 2)
        self.assert_done(run("export", "slurm", SMALL_PLAN, "--hours", "0"), 2)
        self.assert_done(run("export", "lsf", SMALL_PLAN), 2)

    def test_the_manual_page_names_every_option_and_groff_would_read_it(self):
        text = self.assert_done(run("export", "man")).stdout
        for name in commands():
            self.assertIn(f"\\fBwindtunnel {name}\\fR", text)
            for option in options_of(name):
                self.assertIn("\\fB\\-\\-" + option.replace("-", "\\-") + "\\fR", text)
        for line in text.splitlines():
            self.assertFalse(line.startswith("'"), line)

    def test_bash_completes_commands_and_options(self):
        script = self.path("completion")
        self.assert_done(run("export", "completion", "-o", script))
        code = ('source "$0"; COMP_WORDS=(windtunnel "$@"); COMP_CWORD=$#; _windtunnel; printf "%s\\n" "${COMPREPLY[@]}"')
        def complete(*words):
            return subprocess.run(["bash", "-c", code, script, *words], capture_output=True, text=True).stdout.split()
        self.assertEqual(complete("rehe"), ["rehearse"])
        self.assertEqual(complete("train", "--timel"), ["--timeline"])
        self.assertEqual(set(complete("")) - {"--help", "--version"}, set(commands()))


class Analysis(Folder):
    def analysis(self, *words):
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "analysis"), "MPLBACKEND": "Agg",
                       "MPLCONFIGDIR": self.path("matplotlib")}
        python = os.environ.get("PYTHON", "/usr/bin/python3")
        return subprocess.run([python, *words], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)

    def test_a_result_file_becomes_tables_with_units(self):
        result = self.path("a.h5")
        self.assert_done(run("avail", SMALL_PLAN, *FEW_TRIALS, "-o", result))
        code = ("import sys, windtunnel_results as w; r = w.read(sys.argv[1]); assert r.complete; assert r.tables; "
                "assert all(u for t in r.tables.values() for u in t.attrs['units'].values()); print(len(r.tables))")
        process = self.analysis("-c", code, result)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertGreater(int(process.stdout), 0)

    def test_three_plots_of_a_rehearsal(self):
        result = self.path("r.h5")
        self.assert_done(run("rehearse", SMALL_PLAN, *FEW_TRIALS, "-o", result))
        process = self.analysis("-m", "windtunnel_results", "plot", result, "--output", self.folder)
        self.assertEqual(process.returncode, 0, process.stderr)
        for name in ("pareto_front", "memory_by_stage", "useful_time"):
            for ending, start in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
                with open(self.path(name + ending), "rb") as file:
                    self.assertTrue(file.read(5).startswith(start[:5]), name + ending)

    def test_a_missing_package_is_named_with_its_remedy(self):
        code = "import windtunnel_results.packages as p; p.need('no_such_package')"
        process = self.analysis("-c", code)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("no_such_package", process.stderr)
        self.assertIn("pip install", process.stderr)


if __name__ == "__main__":
    unittest.main()
