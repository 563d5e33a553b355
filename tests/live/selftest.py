#!/usr/bin/env python3
"""Tests of these tools that need no server: selftest.py [VECTORS-FOLDER...] also checks the vectors of the folders."""

import json
import os
import sys
import threading
import unittest

import shrink
import vector as vectors
from cases import Case, vector_of
from recorder import CaseError, Recorder, Stuck, put_off

FOLDERS = []


def sound():
    return {
        "name": "pg-a", "source": "own", "engine": "postgres-15", "server_version": "x", "topic": "t",
        "isolation": "READ COMMITTED", "setup": [], "sessions": ["A", "B"],
        "steps": [{"session": "A", "sql": "INSERT INTO k VALUES (1)"}, {"session": "B", "sql": "SELECT id FROM k"},
                  {"session": None, "op": "sleep", "ms": 5}],
        "outcome": [{"step": 0, "result": 1, "blocked_until": None, "error": None},
                    {"step": 1, "result": [[1], [2]], "blocked_until": 2, "error": None},
                    {"step": 2, "result": "OK", "blocked_until": None, "error": None}],
        "final": {"k": [[1]]}}


def changed(change):
    vector = sound()
    change(vector)
    return vector


class Format(unittest.TestCase):
    def test_sound(self):
        self.assertEqual(vectors.problems(sound()), [])

    def test_each_fault_is_found(self):
        faults = [
            lambda v: v.pop("final"), lambda v: v.update(extra=1), lambda v: v.update(engine="oracle"),
            lambda v: v.update(isolation="MIXED"), lambda v: v.update(isolation="SNAPSHOT"),
            lambda v: v.update(sessions=["A"]), lambda v: v["steps"][2].update(op="wait"),
            lambda v: v["steps"][2].pop("ms"), lambda v: v["steps"][0].update(op="sleep"),
            lambda v: v["outcome"].pop(), lambda v: v["outcome"][0].update(step=1),
            lambda v: v["outcome"][0].update(blocked_until=0), lambda v: v["outcome"][1].update(blocked_until=3),
            lambda v: v["outcome"][0].update(error="23505"), lambda v: v["outcome"][0].update(result="FINE"),
            lambda v: (v["steps"][1].update(session="A"), v["outcome"][0].update(blocked_until=2))]
        for number, fault in enumerate(faults):
            with self.subTest(number):
                self.assertNotEqual(vectors.problems(changed(fault)), [])

    def test_written_text_reads_back(self):
        self.assertEqual(json.loads(vectors.text_of(sound())), sound())

    def test_folders(self):
        for folder in FOLDERS:
            files = vectors.files_of(folder)
            self.assertGreater(len(files), 0, folder)
            for path in files:
                vector = vectors.load(path)
                if "alternatives" in vector or str(vector.get("engine")).startswith("redis"):
                    continue
                with self.subTest(path):
                    self.assertEqual(vectors.problems(vector), [])
                    self.assertEqual(vectors.difference(vector, vector), [])
                    self.assertEqual(vector["name"], os.path.basename(path)[:-len(".json")])


class Difference(unittest.TestCase):
    def test_rows_without_order_are_a_multiset(self):
        other = changed(lambda v: v["outcome"][1].update(result=[[2], [1]]))
        self.assertEqual(vectors.difference(sound(), other), [])
        for vector in (ordered := changed(lambda v: v["steps"][1].update(sql="SELECT id FROM k ORDER BY id")),):
            other["steps"] = ordered["steps"]
            self.assertEqual(len(vectors.difference(vector, other)), 1)

    def test_messages_do_not_count_but_everything_else_does(self):
        self.assertEqual(vectors.difference(sound(), changed(lambda v: v["outcome"][0].update(message="m"))), [])
        for change in (lambda v: v["outcome"][0].update(blocked_until=1), lambda v: v["outcome"][0].update(result=2),
                       lambda v: v["outcome"][0].update(warnings=[1062]), lambda v: v.update(final={})):
            self.assertEqual(len(vectors.difference(sound(), changed(change))), 1)


class FakeServer:
    """Statements are 'LOCK x', 'UNLOCK x' and anything else; a lock waits as a server's would."""

    def __init__(self):
        self.condition, self.owners, self.waiters = threading.Condition(), {}, set()
        self.backends = 0

    def reset(self):
        self.owners = {}

    def query(self, sql):
        return None

    def ready(self, setup):
        pass

    def connect(self, isolation, vector):
        self.backends += 1
        return FakeConnection(self.backends), self.backends

    def all_wait(self, backends):
        return backends <= self.waiters

    def run(self, connection, sql):
        verb, _, name = sql.partition(" ")
        with self.condition:
            if verb == "LOCK":
                self.waiters.add(connection.backend)
                self.condition.wait_for(lambda: self.owners.get(name) is None or connection.killed)
                self.waiters.discard(connection.backend)
                self.owners[name] = connection.backend
            elif verb == "UNLOCK":
                self.owners[name] = None
            self.condition.notify_all()
        return {"result": "OK", "error": None}

    def terminate(self, backend):
        with self.condition:
            FakeConnection.killed = True
            self.condition.notify_all()

    def gone(self, backend, seconds):
        return True

    def final(self):
        return {}


class FakeConnection:
    killed = False

    def __init__(self, backend):
        self.backend = backend

    def close(self):
        pass


def steps_of(text):
    return [{"session": part[0], "sql": part[2:]} for part in text.split("; ")]


class Recording(unittest.TestCase):
    def setUp(self):
        FakeConnection.killed = False
        self.case = {"setup": [], "sessions": ["A", "B"], "isolation": "SERIALIZABLE"}
        self.recorder = Recorder(FakeServer(), window=0.03, confirm=True)

    def run_steps(self, text, script=None):
        steps = steps_of(text)
        return self.recorder.run(dict(self.case, steps=steps), script(steps) if script else None)

    def test_a_blocked_step_has_the_step_that_woke_it(self):
        got = self.run_steps("A LOCK x; B LOCK x; A SELECT; A UNLOCK x; B SELECT")
        self.assertEqual([one["blocked_until"] for one in got["outcome"]], [None, 3, None, None, None])

    def test_a_step_of_a_blocked_session(self):
        text = "A LOCK x; B LOCK x; B SELECT; A UNLOCK x"
        with self.assertRaises(CaseError):
            self.run_steps(text)
        FakeConnection.killed = False
        got = self.run_steps(text, put_off)
        self.assertEqual([step["session"] for step in got["steps"]], ["A", "B", "A", "B"])
        self.assertTrue(self.recorder.repeats(self.case, got))

    def test_nothing_wakes_it(self):
        with self.assertRaises(Stuck):
            self.run_steps("A LOCK x; B LOCK x")

    def test_a_change_of_outcome_is_not_stable(self):
        got = self.run_steps("A LOCK x; A UNLOCK x")
        got["outcome"][0]["result"] = 7
        self.assertFalse(self.recorder.repeats(self.case, got))


class Shrinking(unittest.TestCase):
    def record(self, case):
        outcome = [{"step": index, "result": "OK", "blocked_until": None, "error": None}
                   for index in range(len(case["steps"]))]
        return vector_of(case, {"steps": case["steps"], "outcome": outcome, "final": {}}, "fake")

    def oracle(self, fails):
        def ask(candidates):
            self.asked += len(candidates)
            for candidate in candidates:
                self.assertEqual(vectors.problems(self.record(candidate)), [])
            return [self.record(candidate) if fails(candidate) else None for candidate in candidates]
        self.asked = 0
        return ask

    @staticmethod
    def big():
        frame = dict(sound(), sessions=["A", "B", "C"], isolation="MIXED",
                     isolation_by_session={"A": "SERIALIZABLE", "B": "READ COMMITTED", "C": "SERIALIZABLE"},
                     setup=["CREATE TABLE k (id int)", "CREATE TABLE l (id int)",
                            "INSERT INTO k VALUES (1,'a,(b'),(2,'c')"])
        frame["steps"] = steps_of("A BEGIN; B BEGIN; C SELECT 1; A INSERT INTO k VALUES (1,1),(7,7),(2,2) "
                                  "RETURNING id; C SELECT 2; B UPDATE k SET id=1; A COMMIT; B COMMIT; C SELECT 3")
        return frame

    def test_down_to_the_two_steps_that_matter(self):
        def fails(case):
            texts = [step["sql"] for step in case["steps"]]
            insert = next((n for n, text in enumerate(texts) if "(7,7)" in text), None)
            table = "CREATE TABLE k (id int)" in case["setup"]
            return table and insert is not None and "UPDATE k SET id=1" in texts[insert:]

        small = shrink.shrink(self.record(self.big()), self.oracle(fails))
        self.assertEqual(small["steps"], steps_of("A INSERT INTO k VALUES (7,7); B UPDATE k SET id=1"))
        self.assertEqual((small["sessions"], small["setup"]), (["A", "B"], ["CREATE TABLE k (id int)"]))
        self.assertNotEqual(small["isolation"], "MIXED")
        self.assertLess(self.asked, 150)

    def test_what_does_not_shrink_comes_back_whole(self):
        vector = self.record(self.big())
        self.assertEqual(shrink.shrink(vector, self.oracle(lambda case: False)), vector)

    def test_rows(self):
        self.assertEqual(shrink.fewer_rows("INSERT INTO k VALUES (1,'),(')"), [])
        self.assertEqual(shrink.fewer_rows("INSERT INTO k VALUES (1,'),('),(2,'b') ON CONFLICT DO NOTHING"),
                         ["INSERT INTO k VALUES (2,'b') ON CONFLICT DO NOTHING",
                          "INSERT INTO k VALUES (1,'),(') ON CONFLICT DO NOTHING"])

    def test_alike_but_for_literals(self):
        one, other = self.big(), self.big()
        other["steps"][5]["sql"] = "UPDATE k SET id=22"
        self.assertEqual(shrink.signature(one), shrink.signature(other))
        other["steps"][5]["session"] = "A"
        self.assertNotEqual(shrink.signature(one), shrink.signature(other))


class Generating(unittest.TestCase):
    def play(self, engine, number):
        case = Case(5, engine, number)
        state = FakeState()
        while (step := case.choose(state)) is not None:
            state.steps.append(step)
        return case, state.steps

    def test_the_same_seed_gives_the_same_case(self):
        first, second = self.play("postgres", 3), self.play("postgres", 3)
        self.assertEqual((first[0].frame, first[1]), (second[0].frame, second[1]))
        self.assertNotEqual(first[1], self.play("postgres", 4)[1])

    def test_cases_are_sound_and_transactions_end(self):
        for engine in ("postgres", "mariadb"):
            kinds = set()
            for number in range(300):
                case, steps = self.play(engine, number)
                outcome = [{"step": n, "result": "OK", "blocked_until": None, "error": None} for n in range(len(steps))]
                vector = vector_of(case.frame, {"steps": steps, "outcome": outcome, "final": {}}, "fake")
                self.assertEqual(vectors.problems(vector), [])
                for session in vector["sessions"]:
                    own = [step.get("sql", step.get("op")) for step in steps
                           if session in (step.get("session"), step.get("target"))]
                    opened = sum(text.startswith(("BEGIN", "START")) for text in own)
                    ended = sum(text in ("COMMIT", "ROLLBACK", "terminate") for text in own)
                    self.assertEqual(opened, ended, own)
                kinds |= {" ".join(step.get("sql", step.get("op")).split()[:2]) for step in steps}
            self.assertGreater(len(kinds), 40, engine)


class FakeState:
    def __init__(self):
        self.steps, self.last_error = [], {}

    def blocked(self, session):
        return False


if __name__ == "__main__":
    FOLDERS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
