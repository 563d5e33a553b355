#!/usr/bin/python3
"""Writes random interleaved sessions, runs them on the real server and the model, and shrinks what differs.

Each case is run twice on the server; a case with two outcomes hangs on the scheduler and is thrown away. DIR gets
vectors/ (every case kept), finds/ (shrunk mismatches) and state.json: a second call with the same DIR goes on where
the first ended. Without --oncecheck cases are only recorded; --recheck asks the model about all that were recorded.
The exit status is 0 only without a mismatch.
"""

import argparse
import collections
import concurrent.futures
import fcntl
import json
import os
import re
import shutil
import sys
import tempfile
import time

import model
import shrink
import vector as vectors
from cases import Case, is_dull, vector_of
from recorder import CaseError, Recorder, put_off
from server import MariaDb, Postgres, read_ports

WINDOW = 0.06  # seconds; the server is asked as well whether the session waits
SLOW_WINDOW = 0.3
DEADLOCK_MS = 15  # well below the window: as in the recorded vectors, the session that closes a cycle finds it


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True, choices=("postgres", "mariadb"))
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oncecheck", metavar="PATH", help="the binary whose conform command is asked")
    parser.add_argument("--recheck", action="store_true", help="ask the model again about all recorded cases")
    parser.add_argument("--batch", type=int, default=60, help="cases between two questions (default: 60)")
    parser.add_argument("--shrink", type=int, default=3, metavar="N", help="mismatches shrunk a batch (default: 3)")
    parser.add_argument("--workers", type=int, default=3, help="cases run side by side (default: 3)")
    default = os.path.join(tempfile.gettempdir(), "oncecheck-live", "PORTS")
    parser.add_argument("--ports", default=default, help="the PORTS file of servers.sh (default: %(default)s)")
    options = parser.parse_args()
    if options.recheck and not options.oncecheck:
        parser.error("--recheck needs --oncecheck")
    return options


class Pool:
    """Recorders that work side by side, each on a database (PostgreSQL) or a server (MariaDB) of its own: purge and
    GET_LOCK are matters of the whole MariaDB server."""

    def __init__(self, engine, ports_path, workers):
        ports = read_ports(ports_path)
        self.locks = []
        if engine == "postgres":
            slots = {f"live_{n}": ports["postgres"] for n in range(16)}
            servers = [Postgres(slots[slot], slot, DEADLOCK_MS) for slot in self._claim(ports_path, slots, workers)]
        else:
            slots = {name: port for name, port in ports.items() if re.fullmatch(r"mariadb\d*", name)}
            servers = [MariaDb(slots[slot], "live") for slot in self._claim(ports_path, slots, workers)]
        if not servers:
            sys.exit("every server is in use by another run")
        self.free = collections.deque(Recorder(server, WINDOW, confirm=True) for server in servers)
        self.executor = concurrent.futures.ThreadPoolExecutor(len(servers))
        servers[0].reset()
        self.version = servers[0].version()

    def _claim(self, ports_path, slots, workers):
        """Slots that no other run works on; held until this process ends."""
        claimed = []
        for slot in slots:
            lock = open(f"{ports_path}.{slot}.lock", "w", encoding="utf-8")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                continue
            self.locks.append(lock)
            claimed.append(slot)
            if len(claimed) == workers:
                break
        return claimed

    def record(self, frame, choose, dull_ok=True):
        """The recorded vector, or the reason why there is none."""
        recorder = self.free.popleft()
        try:
            recording = recorder.run(frame, choose)
            if not dull_ok and is_dull(recording):
                return None, "dull"
            if not recorder.repeats(frame, recording):
                return None, "unstable"
            return vector_of(frame, recording, self.version), None
        except CaseError as error:
            return None, type(error).__name__ + ": " + str(error)[:200]
        except Exception as error:  # a setup that a shrunk case no longer bears, or a server in trouble
            return None, "error: " + str(error).strip().split("\n")[0]
        finally:
            self.free.append(recorder)

    def repeats(self, recorded):
        """Once more, by the method of the recorded vectors."""
        recorder = self.free.popleft()
        server, quick = recorder.server, recorder.server.deadlock_ms
        try:
            server.deadlock_ms = None
            return Recorder(server, SLOW_WINDOW).repeats(recorded, recorded)
        finally:
            server.deadlock_ms = quick
            self.free.append(recorder)

    def record_all(self, calls):
        return list(self.executor.map(lambda call: self.record(*call), calls))


class Run:
    def __init__(self, options):
        self.options = options
        self.pool = None
        if options.oncecheck:  # a copy, so that a build in the meantime changes nothing
            self.scratch = tempfile.TemporaryDirectory()
            options.oncecheck = shutil.copy2(options.oncecheck, os.path.join(self.scratch.name, "oncecheck"))
        self.state_path = os.path.join(options.out, "state.json")
        self.state = {"engine": options.engine, "seed": options.seed, "next": 0, "thrown_away": {}, "verdicts": {},
                      "shrunk": {}}
        if os.path.exists(self.state_path):
            with open(self.state_path, encoding="utf-8") as file:
                self.state = json.load(file)
            if (self.state["engine"], self.state["seed"]) != (options.engine, options.seed):
                sys.exit(f"{self.state_path} is of engine {self.state['engine']}, seed {self.state['seed']}")
        self.finds = {}  # signature -> name
        for path in vectors.files_of(self.folder("finds")):
            find = vectors.load(path)
            self.finds[shrink.signature(find)] = find["name"]
            self.state["shrunk"].setdefault(find["name"], find["name"])
        self.mended = set()  # finds that the model answers right by now

    def folder(self, name):
        return os.path.join(self.options.out, name)

    def servers(self):
        if self.pool is None:
            self.pool = Pool(self.options.engine, self.options.ports, self.options.workers)
        return self.pool

    # ---- Recording ----

    def record_batch(self):
        first = self.state["next"]
        cases = [Case(self.options.seed, self.options.engine, first + n) for n in range(self.options.batch)]
        batch = []
        for recorded, reason in self.servers().record_all([(case.frame, case.choose, case.dull_ok) for case in cases]):
            if recorded is None:
                self.count("thrown_away", reason.split(":")[0])
                if reason not in ("unstable", "dull"):
                    print("thrown away:", reason, flush=True)
                continue
            problems = vectors.problems(recorded)
            if problems:
                sys.exit(f"{recorded['name']}: {problems}")
            vectors.save(os.path.join(self.folder("vectors"), recorded["name"] + ".json"), recorded)
            batch.append(recorded)
        self.state["next"] = first + self.options.batch
        return batch

    def count(self, group, key, by=1):
        self.state[group][key] = self.state[group].get(key, 0) + by

    def save(self):
        with open(self.state_path + ".part", "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1, sort_keys=True)
        os.replace(self.state_path + ".part", self.state_path)

    # ---- The model ----

    def check(self, batch):
        """Verdicts are kept by name, so that a recheck replaces them. Of mismatches that look alike, the smallest is
        shrunk, unless one was before and its find still stands; the most frequent come first."""
        alike = collections.defaultdict(list)
        if not batch:
            return
        for recorded, (verdict, entry) in zip(batch, model.ask(self.options.oncecheck, batch)):
            self.state["verdicts"][recorded["name"]] = verdict
            if verdict == "mismatch":
                alike[model.what_differs(recorded, entry)].append(recorded)
        groups = sorted(alike.items(), key=lambda item: -len(item[1]))
        left = self.options.shrink
        for what, group in groups:
            print(f"mismatch, {len(group)} times: {what}; {', '.join(one['name'] for one in group[:3])}", flush=True)
            before = {self.state["shrunk"].get(one["name"]) for one in group} - {None} - self.mended
            fresh = [one for one in group if one["name"] not in self.state["shrunk"]]
            if before:
                print(f"    shrunk before: {', '.join(sorted(before))}", flush=True)
            elif fresh and left > 0:
                left -= 1
                self.look_into(min(fresh, key=shrink.size))

    def look_into(self, recorded):
        if self.slowly_too(recorded):
            self.shrink(recorded)
        else:
            self.throw_away(recorded)

    def slowly_too(self, recorded):
        """Does the recorded outcome come again by the slow method? InnoDB's purge may come between two steps there."""
        return self.servers().repeats(recorded)

    def throw_away(self, recorded):
        self.count("thrown_away", "unstable")
        del self.state["verdicts"][recorded["name"]]
        os.remove(os.path.join(self.folder("vectors"), recorded["name"] + ".json"))

    def oracle(self, candidates):
        """Records the candidates, asks the model about those that were recorded; see shrink.py."""
        results = [recorded for recorded, _ in self.servers().record_all(
            [(candidate, put_off(candidate["steps"])) for candidate in candidates])]
        kept = [index for index, recorded in enumerate(results) if recorded is not None]
        asked = model.ask(self.options.oncecheck, [results[index] for index in kept]) if kept else []
        for index, (verdict, _) in zip(kept, asked):
            if verdict != "mismatch":
                results[index] = None
        return results

    def shrink(self, recorded):
        small = shrink.shrink(recorded, self.oracle)
        if not self.slowly_too(small):
            small = recorded
        sign = shrink.signature(small)
        name = self.finds.setdefault(sign, small["name"])
        self.state["shrunk"][recorded["name"]] = name
        print(f"    {'find' if name == small['name'] else 'known find'} {name}: {sign}", flush=True)
        if name == small["name"]:
            vectors.save(os.path.join(self.folder("finds"), name + ".json"), small)

    # ---- The loop ----

    def go(self):
        os.makedirs(self.folder("vectors"), exist_ok=True)
        os.makedirs(self.folder("finds"), exist_ok=True)
        end = time.monotonic() + 60 * self.options.minutes
        try:
            if self.options.recheck:
                self.recheck_finds()
                self.check([vectors.load(path) for path in vectors.files_of(self.folder("vectors"))])
            while not self.options.recheck and time.monotonic() < end:
                batch = self.record_batch()
                if self.options.oncecheck:
                    self.check(batch)
                self.save()
                print(self.line(), flush=True)
        finally:
            self.save()
        return self.summary()

    def recheck_finds(self):
        finds = [vectors.load(path) for path in vectors.files_of(self.folder("finds"))]
        if not finds:
            return
        answers = [verdict for verdict, _ in model.ask(self.options.oncecheck, finds)]
        self.mended = {find["name"] for find, verdict in zip(finds, answers) if verdict != "mismatch"}
        found = collections.Counter(answers)
        print("finds now: " + ", ".join(f"{verdict} {count}" for verdict, count in sorted(found.items())))

    def line(self):
        counts = collections.Counter(self.state["verdicts"].values())
        kept = len(vectors.files_of(self.folder("vectors")))
        text = ", ".join(f"{verdict} {counts[verdict]}" for verdict in model.VERDICTS)
        return f"generated {kept}, {text}; thrown away {sum(self.state['thrown_away'].values())}"

    def summary(self):
        print(self.line())
        return 1 if "mismatch" in self.state["verdicts"].values() else 0


if __name__ == "__main__":
    sys.exit(Run(parse()).go())
