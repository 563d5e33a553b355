#!/usr/bin/env python3
"""Times oncecheck, SPIN and Rumur side by side on pay-lease, and prints one table.

    tests/bench/compare.py [--tool build/release/oncecheck] [--handlers 2 3 4 5] [--limit 300] [--runs 3]

The peers are the Debian packages spin and rumur, and gcc. One that is missing is left out. GNU time (package time) is needed. Runs
under 30 s are made --runs times and the median is taken. Seconds are the checker's own wall time, and processor seconds are beside
them for a machine that others use too; compilation of the peers' verifiers is not counted.
Each budget is 1 (R,T,L,C,E = 1). Complete searches with the key honoured; every search goes on to the end.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("N", "R", "T", "L", "C", "E")
LOG_STATES = {2: 18, 3: 21, 4: 25, 5: 28}
MOST = {"spin": 4, "spin-bfs": 4, "rumur": 6, "rumur-nosym": 4}  # handlers; beyond it they need hours or more memory than there is


class Run:
    def __init__(self, states, transitions, seconds, cost, visited=""):
        self.states, self.transitions, self.seconds = states, transitions, seconds
        self.cpu, self.kilobytes = cost  # processor seconds of all threads, peak memory
        self.visited = visited           # bytes of the set of visited states, a state


def number(text):
    return int(float(text.replace(",", "")))


def last(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else None


def timed(command, folder, limit):
    """Wall seconds, (processor seconds, peak memory in KiB), output; None when the limit was reached."""
    log = os.path.join(folder, "cost.txt")
    start = time.monotonic()
    process = subprocess.Popen(["/usr/bin/time", "-f", "%U %S %M", "-o", log] + command, cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    seconds = time.monotonic() - start
    with open(log) as f:
        user, system, memory = f.read().strip().split("\n")[-1].split()
    return seconds, (float(user) + float(system), int(memory)), output


def measured(command, folder, options):
    """The median by processor seconds of a few runs."""
    runs = []
    while len(runs) < options.runs:
        run = timed(command, folder, options.limit)
        if run is None:
            return None
        runs.append(run)
        if run[0] >= 30:
            break
    runs.sort(key=lambda r: r[1][0])
    return runs[(len(runs) - 1) // 2]


def oncecheck(options, handlers, threads, extra):
    command = [os.path.abspath(options.tool), "check", os.path.join(HERE, "pay-lease.jsonc"), "--variant", "key-honoured", "--all-states",
               "--verbose", "--threads", str(threads), "--set", "handlers=%d" % handlers] + extra
    with tempfile.TemporaryDirectory() as folder:
        result = measured(command, folder, options)
    if result is None:
        return None
    _, cost, output = result
    found = re.search(r"([\d,]+) states, ([\d,]+) transitions, depth \d+, \d+ bytes a state, ([\d.]+) s", output)
    seen = re.search(r"([\d.]+) bytes a visited state", output)
    return Run(number(found[1]), number(found[2]), float(found[3]), cost, seen[1] if seen else "")


def spin(options, handlers, reduce, bfs):
    if not (shutil.which("spin") and shutil.which("gcc")):
        return None
    with tempfile.TemporaryDirectory() as folder:
        defines = ["-D%s=%d" % (n, handlers if n == "N" else 1) for n in NAMES] + ["-DHON=1"]
        subprocess.run(["spin", "-o2", "-a"] + defines + [os.path.join(HERE, "pay_lease.pml")], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        flags = ["-DSAFETY"] + ([] if reduce else ["-DNOREDUCE"]) + (["-DBFS_PAR"] if bfs else [])
        subprocess.run(["gcc", "-O3", "-w"] + flags + ["-o", "pan", "pan.c"], cwd=folder, check=True)
        result = measured(["./pan", "-E", "-w%d" % LOG_STATES[handlers]] + (["-u2"] if bfs else []), folder, options)
    if result is None:
        return None
    seconds, cost, output = result
    elapsed = last(r"elapsed time ([\d.e+]+) seconds", output)
    return Run(number(last(r"([\d.e+]+) states, stored", output)), number(last(r"([\d.e+]+) transitions \(", output)) - 1,
               float(elapsed) if elapsed and float(elapsed) > 0 else seconds, cost)


def rumur(options, handlers, symmetry, threads):
    if not (shutil.which("rumur") and shutil.which("gcc")):
        return None
    with open(os.path.join(HERE, "pay_lease.m")) as f:
        model = f.read()
    for name, value in zip(NAMES, (handlers, 1, 1, 1, 1, 1)):
        model = re.sub(r"(?m)^  %s: .*;" % name, "  %s: %d;" % (name, value), model)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.m"), "w") as f:
            f.write(model)
        subprocess.run(["rumur", "--quiet", "--symmetry-reduction", symmetry, "--deadlock-detection", "off", "--threads", str(threads),
                        "--output", "a.c", "a.m"], cwd=folder, check=True)
        subprocess.run(["gcc", "-O3", "-march=native", "-mcx16", "-w", "-o", "a", "a.c", "-lpthread", "-latomic"], cwd=folder, check=True)
        result = measured(["./a"], folder, options)
    if result is None:
        return None
    seconds, cost, output = result
    states, rules = re.findall(r"(\d+) states, (\d+) rules fired", output)[-1]
    return Run(int(states), int(rules), seconds, cost)


def checkers(options, n):
    """In the order of the table: name, reductions, function."""
    yield "oncecheck, 1 thread", "off", lambda: oncecheck(options, n, 1, ["--no-reductions"]) if n <= 4 else None
    yield "SPIN, depth first", "off", lambda: spin(options, n, False, False) if n <= MOST["spin"] else None
    yield "SPIN, 2 cores, breadth first", "off", lambda: spin(options, n, False, True) if n <= MOST["spin-bfs"] else None
    yield "Rumur, 2 threads", "off", lambda: rumur(options, n, "off", 2) if n <= MOST["rumur-nosym"] else None
    yield "oncecheck, 1 thread", "default", lambda: oncecheck(options, n, 1, [])
    yield "oncecheck, 2 threads", "default", lambda: oncecheck(options, n, 2, [])
    yield "SPIN, depth first", "partial order", lambda: spin(options, n, True, False) if n <= MOST["spin"] else None
    yield "Rumur, 1 thread", "symmetry", lambda: rumur(options, n, "heuristic", 1) if n <= MOST["rumur"] else None
    yield "Rumur, 2 threads", "symmetry", lambda: rumur(options, n, "heuristic", 2) if n <= MOST["rumur"] else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default="build/release/oncecheck")
    parser.add_argument("--handlers", type=int, nargs="+", default=[2, 3, 4, 5])
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print("| N | checker | reductions | states | transitions | seconds | CPU seconds | M transitions a CPU second | bytes a state, whole process | of these visited | seconds to the best peer's |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for n in options.handlers:
        rows = [(name, how, run()) for name, how, run in checkers(options, n)]
        rows = [(name, how, run) for name, how, run in rows if run is not None]
        for name, how, run in rows:
            peers = [r.seconds for other, h, r in rows if not other.startswith("oncecheck") and (h == "off") == (how == "off")]
            ratio = "%.2f" % (run.seconds / min(peers)) if peers and min(peers) > 0 else ""
            rate = "%.2f" % (run.transitions / run.cpu / 1e6) if run.cpu > 0.05 else ""
            memory = "%d" % (run.kilobytes * 1024 / run.states) if run.states > 100000 else ""
            print("| %d | %s | %s | %s | %s | %.2f | %.2f | %s | %s | %s | %s |" % (n, name, how, f"{run.states:,}", f"{run.transitions:,}",
                                                                                 run.seconds, run.cpu, rate, memory, run.visited, ratio))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
