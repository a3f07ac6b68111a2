"""The report page in a headless browser: what it shows, at two widths, in both themes, by mouse and by keyboard."""
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "analysis"))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))

from program import run                                                    # noqa: E402
from windtunnel_results.read import read                                   # noqa: E402
from windtunnel_results.report import MOST_ROWS, write_report              # noqa: E402

PLAN = os.path.join(ROOT, "inputs", "plans", "llama3-405b-16384-h100.toml")
SERVED = os.path.join(ROOT, "inputs", "plans", "serve", "llama33-70b-8-h100.toml")
WIDTHS = (400, 1400)
LARGEST_PAGE = 6_000_000
HOSTILE = "<script>document.title='owned'</script> \"quotes\" 'and' </script><!-- \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u2028 {{data}} & " + "long " * 2000


def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pages = {}
        for name, words in (("rehearse", ("rehearse", PLAN, "--trials", "40")), ("search", ("search", PLAN, "--store", "all")),
                            ("serve", ("serve", SERVED, "--trials", "2"))):
            result = os.path.join(cls.folder.name, name + ".h5")
            process = run(*words, "--quiet", "-o", result)
            if process.returncode != 0:
                raise AssertionError(process.stderr)
            cls.pages[name] = result[:-3] + ".html"
            write_report(result, cls.pages[name])
        cls.driver = browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.folder.cleanup()

    def open(self, name, width, dark=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.driver.get("file://" + self.pages.get(name, name))
        self.assertEqual(self.driver.execute_script("return document.documentElement.dataset.ready"), "yes")
        with open(os.path.join(HERE, "page_checks.js"), encoding="utf-8") as file:
            self.driver.execute_script(file.read())

    def check(self, name):
        return self.driver.execute_script(f"return checks.{name}()")

    def test_every_section_is_there_and_the_console_is_silent(self):
        self.open("rehearse", 1400)
        sections = self.check("sections")
        for name in ("answer", "pareto", "memory", "step", "pipeline", "rehearsal-goodput", "tokens-over-time", "rehearsal-useful", "tornado-rehearsal-sensitivity",
                     "verdicts", "provenance"):
            self.assertIn(name, sections)
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.driver.execute_script("return performance.getEntriesByType('resource').length"), 0)
        self.open("serve", 1400)
        self.assertLessEqual({"answer", "latency-first-token", "latency-tokens", "provenance"}, set(self.check("sections")))
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_the_page_can_be_read_at_both_widths_and_in_both_themes(self):
        for width in WIDTHS:
            for dark in (False, True):
                for name in self.pages:
                    with self.subTest(width=width, dark=dark, page=name):
                        self.open(name, width, dark)
                        for fault in ("wide", "smallText", "lowContrast", "overlaps"):
                            self.assertEqual(self.check(fault), [], fault)
                        self.picture(f"{name}-{width}-{'dark' if dark else 'light'}.png", width)

    def picture(self, name, width):
        height = self.driver.execute_script("return Math.min(8000, document.documentElement.scrollHeight)")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.save_screenshot(os.path.join(os.environ.get("WINDTUNNEL_PICTURES", self.folder.name), name))

    def test_opened_tables_keep_the_page_narrow(self):
        self.open("rehearse", 400)
        self.driver.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        time.sleep(0.3)
        self.assertEqual(self.check("wide"), [])
        self.assertEqual(self.check("lowContrast"), [])
        self.assertGreater(self.driver.execute_script("return document.querySelectorAll('section table').length"), 10)

    def test_a_click_on_a_point_shows_its_layout_and_why_it_lost(self):
        self.open("search", 1400)
        text = "return document.querySelector('#pareto .detail').textContent"
        self.assertIn("This is the best design", self.driver.execute_script(text))
        points = self.driver.find_elements("css selector", "circle.point")
        self.assertGreater(len(points), 10)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", points[0])
        points[0].click()
        lost = self.driver.execute_script(text)
        self.assertIn("fewer tokens per second than the best design", lost)
        self.assertIn("in place of", lost)

    def test_all_controls_work_by_keyboard(self):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        self.open("rehearse", 1400)
        controls = self.driver.execute_script("return Array.from(document.querySelectorAll('button, select, summary'))"
                                              ".filter(e => !e.parentElement.closest('details:not([open])') || "
                                              "e.parentElement.matches('details') && !e.parentElement.parentElement.closest('details:not([open])'))")
        wanted = {self.driver.execute_script("return arguments[0].outerHTML.slice(0, 200)", c) for c in controls if c.is_displayed()}
        reached = set()
        for _ in range(3 * len(controls)):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            reached.add(self.driver.execute_script("return document.activeElement.outerHTML.slice(0, 200)"))
        self.assertEqual(wanted - reached, set())
        theme = self.driver.find_element("id", "theme")
        theme.send_keys(Keys.ENTER)
        self.assertEqual(self.driver.execute_script("return document.documentElement.dataset.theme"), "dark")
        select = self.driver.find_element("css selector", "#pareto select")
        before = self.driver.find_element("css selector", "#pareto .detail").text
        select.send_keys(Keys.ARROW_DOWN)
        self.assertNotEqual(self.driver.find_element("css selector", "#pareto .detail").text, before)
        summary = self.driver.find_element("css selector", "#memory summary")
        summary.send_keys(Keys.ENTER)
        time.sleep(0.2)
        self.assertTrue(self.driver.find_element("css selector", "#memory table").is_displayed())

    def test_a_hostile_title_is_text(self):
        plan = os.path.join(self.folder.name, "hostile.toml")
        with open(PLAN, encoding="utf-8") as file:
            lines = file.read().splitlines()
        title = HOSTILE.replace("\\", "\\\\").replace('"', '\\"').replace("\u2028", "\\u2028")
        inputs = os.path.join(ROOT, "inputs")
        lines = [f'title = "{title}"' if line.startswith("title") else line.replace('"../', f'"{inputs}/') for line in lines]
        with open(plan, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        result = os.path.join(self.folder.name, "hostile.h5")
        process = run("train", plan, "--quiet", "-o", result)
        self.assertEqual(process.returncode, 0, process.stderr)
        page = result[:-3] + ".html"
        write_report(result, page)
        for width in WIDTHS:
            self.open(page, width)
            self.assertEqual(self.driver.execute_script("return document.getElementById('title').textContent"), HOSTILE)
            self.assertNotEqual(self.driver.title, "owned")
            self.assertEqual(self.check("wide"), [])
            self.assertEqual(self.driver.get_log("browser"), [])


class ManyRows(unittest.TestCase):
    """A file of 10^6 designs, written here column by column as the program does."""

    def test_a_million_rows_are_read_soon_and_sampled_in_the_page(self):
        import h5py
        import numpy
        with tempfile.TemporaryDirectory() as folder:
            path, count = os.path.join(folder, "many.h5"), 1_000_000
            with h5py.File(path, "w") as file:
                file.attrs["complete"] = 1
                group = file.create_group("results/search/designs")
                recompute = h5py.enum_dtype({"none": 0, "selective": 1, "full": 2}, basetype="i1")
                number = numpy.arange(count)
                for name, units, values in (("design", "1", number), ("memory_bytes", "byte", 1e9 + number % 977 * 1e8),
                                            ("tokens_per_second", "1/s", 1e5 + number % 1009 * 1e3),
                                            ("closed_form_s", "s", 1.0 + number % 13), ("cards", "1", number % 7 + 1)):
                    group.create_dataset(name, data=values).attrs["units"] = units
                kind = group.create_dataset("recompute", data=(number % 3).astype("i1"), dtype=recompute)
                kind.attrs["units"] = "1"
            start = time.process_time()
            table = read(path)["search/designs"]
            self.assertLess(time.process_time() - start, 5.0)
            self.assertEqual(len(table), count)
            self.assertEqual(list(table["recompute"][:4]), ["none", "selective", "full", "none"])
            page = path[:-3] + ".html"
            self.assertLess(write_report(path, page), LARGEST_PAGE)
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertIn(f'"rows":{count},"shown":{MOST_ROWS},"sampling":"evenly spaced', text)


class CommandLine(unittest.TestCase):
    def analysis(self, *words):
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "analysis")}
        return subprocess.run([sys.executable, "-m", "windtunnel_results", *words], capture_output=True, text=True,
                              env=environment, stdin=subprocess.DEVNULL)

    def test_read_compare_and_report_say_what_they_found(self):
        with tempfile.TemporaryDirectory() as folder:
            a, b = os.path.join(folder, "a.h5"), os.path.join(folder, "b.h5")
            self.assertEqual(run("train", PLAN, "--quiet", "-o", a).returncode, 0)
            self.assertEqual(run("train", PLAN, "--set", "train.published.recompute=\"full\"", "--quiet", "-o", b).returncode, 0)
            tables = self.analysis("read", a)
            self.assertIn("train/parts: 15 rows: point, part, time_s [s], share", tables.stdout)
            parts = self.analysis("read", a, "--table", "train/parts")
            self.assertEqual(len(parts.stdout.splitlines()), 16)
            self.assertEqual(self.analysis("read", a, "--table", "train/nothing").returncode, 2)
            text = self.analysis("compare", a, b).stdout
            self.assertIn("step_time_s", text)
            self.assertIn("recompute", text)
            report = self.analysis("report", a)
            self.assertEqual(report.returncode, 0, report.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "a.html")))
            self.assertEqual(self.analysis("report", os.path.join(folder, "missing.h5")).returncode, 1)


if __name__ == "__main__":
    unittest.main()
