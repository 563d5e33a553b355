"""Runs one interleaved case on a real server: a connection and a thread for each session, steps issued one at a time.

A step that has not returned after a while counts as blocked, and the next is issued. While any step is blocked, the
same while passes after the last event before the next step, so what a step woke returns in that step's window.
"""

import queue
import threading
import time

import vector as vectors


class CaseError(Exception):
    """The case cannot be recorded, or not replayed as recorded."""


class Stuck(CaseError):
    """Steps that never returned: nothing was left to wake them."""

    def __init__(self, steps):
        super().__init__(f"steps {steps} never returned")
        self.steps = steps


class _Session:
    """A thread that runs the statements of one connection. `current` is the step that has not returned yet."""

    def __init__(self, server, opened, condition):
        self.server, self.condition = server, condition
        self.connection, self.backend = opened
        self.current, self.finished = None, None
        self.jobs = queue.Queue()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def submit(self, index, sql):
        self.current = index
        self.jobs.put(sql)

    def _work(self):
        while (sql := self.jobs.get()) is not None:
            try:
                outcome = self.server.run(self.connection, sql)
            except Exception as error:  # a fault of this tool: it must show up, not hang
                outcome = {"result": None, "error": "TOOL", "class": "tool", "message": repr(error)}
            with self.condition:
                self.finished = outcome
                self.condition.notify_all()
        try:
            self.connection.close()
        except Exception:
            pass  # it was cut

    def close(self):
        self.jobs.put(None)


class State:
    """What a script may look at when it chooses the next step."""

    def __init__(self, sessions):
        self._sessions = sessions
        self.steps, self.outcomes = [], []
        self.last_error = {}

    def blocked(self, session):
        return self._sessions[session].current is not None

    def any_blocked(self):
        return any(session.current is not None for session in self._sessions.values())


def in_order(steps):
    """A script that issues the steps as they stand."""
    todo = list(steps)

    def choose(state):
        if not todo:
            return None
        if todo[0].get("session") is not None and state.blocked(todo[0]["session"]):
            raise CaseError(f"step {len(state.steps)}: session {todo[0]['session']} is still blocked")
        return todo.pop(0)

    return choose


def put_off(steps):
    """A script that puts off the steps of a blocked session until it is free."""
    todo = list(steps)

    def choose(state):
        for index, step in enumerate(todo):
            if step.get("session") is None or not state.blocked(step["session"]):
                return todo.pop(index)
        if todo:
            raise Stuck(todo)
        return None

    return choose


class Recorder:
    """`window`: seconds after which a step counts as blocked. `confirm`: ask the server whether it waits indeed, so
    that a short window does not take a slow statement for a blocked one."""

    def __init__(self, server, window=0.3, confirm=False):
        self.server, self.window, self.confirm = server, window, confirm

    def run(self, case, choose=None):
        """Returns {steps, outcome, final}."""
        run = _Run(self, case)
        try:
            run.open()
            run.play(choose or in_order(case["steps"]))
        finally:
            run.close()
        return {"steps": run.state.steps, "outcome": run.outcome(), "final": run.final()}

    def repeats(self, case, recording):
        """Does the case, run again in the same order, come out the same? If not, it hangs on the scheduler."""
        try:
            return not vectors.difference(recording, self.run(dict(case, steps=recording["steps"])))
        except CaseError:
            return False


class _Run:
    LONGEST = 5.0  # seconds that a statement may take that waits for nobody

    def __init__(self, recorder, case):
        self.server, self.window, self.confirm = recorder.server, recorder.window, recorder.confirm
        self.case = case
        self.condition = threading.Condition()
        self.sessions, self.paused = {}, set()
        self.state = State(self.sessions)
        self.until = []

    def open(self):
        self.server.reset()
        for sql in self.case["setup"]:
            self.server.query(sql)
        self.server.ready(self.case["setup"])
        for name in self.case["sessions"]:
            opened = self.server.connect(vectors.isolation_of(self.case, name), self.case)
            self.sessions[name] = _Session(self.server, opened, self.condition)

    def play(self, choose):
        while (step := choose(self.state)) is not None:
            self.state.steps.append(dict(step))
            self.state.outcomes.append(None)
            self.until.append(None)
            index = len(self.state.steps) - 1
            if "sql" in step:
                self.sessions[step["session"]].submit(index, step["sql"])
            else:
                self._operate(step)
                self.state.outcomes[index] = {"result": "OK", "error": None}
            self._settle(index)
        stuck = [session.current for session in self.sessions.values() if session.current is not None]
        if stuck:
            raise Stuck(sorted(stuck))

    def _settle(self, index):
        """Waits until nothing runs, or nothing has happened for a window."""
        last = started = time.monotonic()
        with self.condition:
            while True:
                if self._collect(index):
                    last = time.monotonic()
                running = {session.backend for session in self.sessions.values() if session.current is not None}
                if not running:
                    return
                left = last + self.window - time.monotonic()
                if left > 0:
                    self.condition.wait(left)
                    continue
                if not self.confirm or time.monotonic() - started > self.LONGEST:
                    return
                if self.server.all_wait(running) and not self._finished():
                    return
                last = time.monotonic() - self.window / 2

    def _finished(self):
        return any(session.finished is not None for session in self.sessions.values())

    def _collect(self, index):
        """Takes in the statements that returned in the window of step `index`."""
        any_finished = False
        for name, session in self.sessions.items():
            if session.finished is None:
                continue
            step, session.current = session.current, None
            self.state.outcomes[step], session.finished = session.finished, None
            self.state.last_error[name] = self.state.outcomes[step]["error"]
            self.until[step] = None if step == index else index
            any_finished = True
        return any_finished

    def _operate(self, step):
        op = step["op"]
        if op == "sleep":
            time.sleep(step["ms"] / 1000)
            return
        target = self.sessions[step["target"]]
        if op == "terminate":
            self.server.terminate(target.backend)
            self.server.gone(target.backend, 5)
        elif op == "cancel":
            self.server.query(self.server.CANCEL.format(target.backend))
        elif op == "drop_client":
            self.server.shut_socket(target.connection)
            self.server.gone(target.backend, 0.3)
        elif op == "pause":
            self.server.pause(target.backend)
            self.paused.add(target.backend)
        elif op == "resume":
            self.server.resume(target.backend)
            self.paused.discard(target.backend)
        else:
            raise CaseError(f"unknown op {op}")

    def close(self):
        """No session, lock or stopped process stays behind."""
        for backend in self.paused:
            self.server.resume(backend)
        for session in self.sessions.values():
            session.close()
            if session.current is not None:
                self.server.terminate(session.backend)
        for session in self.sessions.values():
            session.thread.join(5)
            if not self.server.gone(session.backend, 1):
                self.server.terminate(session.backend)
                self.server.gone(session.backend, 5)
        for sql in self.case.get("teardown", []):
            self.server.query(sql)

    def outcome(self):
        found = []
        for index, outcome in enumerate(self.state.outcomes):
            if outcome["error"] == "TOOL":
                raise CaseError(f"step {index}: {outcome['message']}")
            line = {"step": index, "result": outcome["result"], "blocked_until": self.until[index],
                    "error": outcome["error"]}
            line.update({key: outcome[key] for key in ("class", "message", "warnings") if key in outcome})
            found.append(line)
        return found

    def final(self):
        return self.server.final()
