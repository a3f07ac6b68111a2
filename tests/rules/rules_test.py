"""Checks this repository against the rules of the house, and the rules against texts that break them."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import unittest

import house_rules as rules

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ("topology", "compute", "comm", "train", "avail", "rehearse")


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def tracked_files():
    """Files under version control; all files where there is no git."""
    git = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if git.returncode == 0 and git.stdout:
        return [path for path in git.stdout.split("\0") if path and os.path.isfile(os.path.join(ROOT, path))]
    return list(rules.files_below(ROOT, ("include", "src", "tests", "cmake", "jobs", "analysis", "docs", "inputs"), ""))


class House(unittest.TestCase):
    maxDiff = None

    def assert_no_faults(self, faults):
        self.assertFalse(faults, "\n" + "\n".join(faults))

    def setUp(self):
        self.rooms = rules.read_rooms(text_of("tests/rules/rooms.txt"))

    def test_every_include_is_on_the_line_of_its_room(self):
        faults, seen = [], 0
        for path in rules.files_below(ROOT, ("include/windtunnel", "src"), (".hpp", ".cpp")):
            room = path.split("/")[2 if path.startswith("include") else 1]
            self.assertIn(room, self.rooms, f"{path} lies in no room")
            faults += rules.include_faults(path, text_of(path), room, self.rooms)
            seen += 1
        self.assertGreater(seen, 20)
        self.assert_no_faults(faults)

    def test_the_table_equals_the_libraries_of_cmake(self):
        self.assert_no_faults(rules.table_faults(self.rooms, rules.cmake_rooms(text_of("CMakeLists.txt"))))

    def test_no_unfinished_work_and_no_machine_paths(self):
        faults = []
        for path in tracked_files():
            if path.startswith("tests/rules/") or path == "LICENSE":
                continue
            try:
                faults += rules.text_faults(path, text_of(path))
            except UnicodeDecodeError:
                continue
        self.assert_no_faults(faults)

    def test_a_long_file_has_a_reason(self):
        endings = (".hpp", ".cpp", ".py", ".sh", ".cmake")
        lengths = {path: text_of(path).count("\n") for path in tracked_files() if path.endswith(endings)}
        self.assert_no_faults(rules.length_faults(lengths, text_of("tests/rules/long_files.txt")))

    def test_a_kernel_header_names_its_model_or_source(self):
        folders = [f"include/windtunnel/{room}" for room in KERNELS]
        faults = []
        for path in rules.files_below(ROOT, folders, (".hpp",)):
            faults += rules.kernel_header_faults(path, text_of(path))
        self.assert_no_faults(faults)

    def test_every_header_compiles_alone(self):
        headers = list(rules.files_below(ROOT, ("include/windtunnel",), (".hpp",)))
        compiler = os.environ.get("CXX") or "c++"
        flags = include_flags(os.environ.get("WINDTUNNEL_COMPILE_COMMANDS", ""))

        def compile_alone(header):
            command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", *flags,
                       "-I", os.path.join(ROOT, "include"), "-include", os.path.join(ROOT, header), os.devnull]
            run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            return "" if run.returncode == 0 else f"{header}:\n{run.stderr}"

        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            self.assert_no_faults([fault for fault in pool.map(compile_alone, headers) if fault])

    def test_the_format_is_that_of_clang_format(self):
        tool = shutil.which("clang-format")
        if tool is None:
            if os.environ.get("CI"):
                self.fail("clang-format is missing: install it, a skipped check is no check")
            self.skipTest("clang-format is not installed")
        files = [path for path in tracked_files() if path.endswith((".hpp", ".cpp"))]
        run = subprocess.run([tool, "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr[:4000])


def include_flags(compile_commands):
    """-I and -isystem of the build, so that headers of packages outside the standard places are found."""
    if not os.path.isfile(compile_commands):
        return []
    flags = []
    with open(compile_commands, encoding="utf-8") as file:
        for entry in json.load(file):
            words = shlex.split(entry["command"])
            for at, word in enumerate(words):
                pair = ([word] if word.startswith("-I") and len(word) > 2 else
                        words[at:at + 2] if word in ("-I", "-isystem") else [])
                if pair and pair[-1] not in flags:
                    flags += pair
    return flags


class RulesFindFaults(unittest.TestCase):
    rooms = {"base": (set(), set()), "model": ({"base"}, set()), "store": ({"base"}, {"hdf5"})}

    def test_a_room_that_is_not_on_the_line(self):
        faults = rules.include_faults("x.hpp", '#include "windtunnel/store/table.hpp"\n', "model", self.rooms)
        self.assertEqual(faults, ["x.hpp:1: room model may not include room store (windtunnel/store/table.hpp)"])

    def test_a_room_on_the_line_is_fine(self):
        self.assertEqual(rules.include_faults("x", '#include "windtunnel/base/ids.hpp"\n', "model", self.rooms), [])

    def test_a_restricted_header(self):
        for header in ("mpi.h", "omp.h", "hdf5.h", "fstream", "thread", "toml++/toml.h", "nlohmann/json.hpp"):
            self.assertEqual(len(rules.include_faults("x", f"#include <{header}>\n", "model", self.rooms)), 1, header)
        self.assertEqual(rules.include_faults("x", "#include <hdf5.h>\n", "store", self.rooms), [])

    def test_an_unknown_library(self):
        self.assertEqual(len(rules.include_faults("x", "#include <boost/json.hpp>\n", "model", self.rooms)), 1)

    def test_a_cycle(self):
        rooms = {"a": ({"b"}, set()), "b": ({"a"}, set())}
        self.assertEqual(len(rules.table_faults(rooms, {"a": {"b"}, "b": {"a"}})), 2)

    def test_a_table_that_differs_from_cmake(self):
        linked = rules.cmake_rooms("windtunnel_room(base)\nwindtunnel_room(model ROOMS base LIBRARIES x)\n")
        self.assertEqual(linked, {"base": set(), "model": {"base"}})
        self.assertEqual(len(rules.table_faults(self.rooms, linked)), 1)

    def test_unfinished_work_and_machine_paths(self):
        self.assertEqual(len(rules.text_faults("x", "// TO" "DO: later\nread(\"/home/me/x\")\n")), 2)
        self.assertEqual(rules.text_faults("x", "see https://a.org/home/me and ${TMPDIR:-/tmp}/x\n"), [])

    def test_a_long_file_and_a_stale_reason(self):
        self.assertEqual(len(rules.length_faults({"a": 301, "b": 12}, "b: was long\n")), 2)
        self.assertEqual(rules.length_faults({"a": 301}, "a: one table\n"), [])

    def test_a_kernel_header_without_source(self):
        self.assertEqual(len(rules.kernel_header_faults("x", "[[nodiscard]] int f(int);\n")), 1)
        self.assertEqual(rules.kernel_header_faults("x", "/// Source: a book\n[[nodiscard]] int f(int);\n"), [])


if __name__ == "__main__":
    unittest.main()
