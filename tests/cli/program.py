"""Runs the program of the build under test."""
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("WINDTUNNEL", os.path.join(ROOT, "build", "ci", "bin", "windtunnel"))
PLANS = sorted(glob.glob(os.path.join(ROOT, "inputs", "plans", "*.toml")))
SMALL_PLAN = os.path.join(ROOT, "inputs", "plans", "gpt3-175b-1024-a100.toml")
TIMEOUT = 120


def run(*words, ranks=0, folder=None, stdout=subprocess.PIPE, environment=None):
    """The finished process; ranks > 0: under mpirun."""
    command = [PROGRAM, *words]
    if ranks:
        command = [os.environ.get("MPIEXEC", "mpirun"), "-n", str(ranks), *command]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=TIMEOUT, cwd=folder, env={**os.environ, **(environment or {})})


def commands():
    """Names of the subcommands, from the overview."""
    text = run("--help").stdout
    block = text.split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in block.splitlines() if line.strip()]


def options_of(command):
    """Long options of a subcommand, from its help."""
    return re.findall(r"^\s+(?:-\w, )?--([\w-]+)", run(command, "--help").stdout, re.MULTILINE)
