"""Random interleaved cases. A case is drawn from (seed, engine, number); what its sessions do next may hang on what
the server answered, as with a client that gives up a failed transaction."""

import random

from recorder import Stuck
from statements import Statements
from tables import draw_tables

LEVELS = {
    "postgres": [("READ COMMITTED", 45), ("REPEATABLE READ", 25), ("SERIALIZABLE", 30)],
    "mariadb": [("READ UNCOMMITTED", 6), ("READ COMMITTED", 36), ("REPEATABLE READ", 42), ("SERIALIZABLE", 16)]}
VECTOR_ENGINE = {"postgres": "postgres-15", "mariadb": "mariadb-10.11"}
LONGEST = 14  # steps that are started; open transactions still end


def _weighted(rng, pairs):
    return rng.choices([item for item, _ in pairs], [weight for _, weight in pairs])[0]


class Case:
    """`frame` is the vector without steps and outcomes; `choose` is the script of its first run."""

    def __init__(self, seed, engine, number):
        self.rng = rng = random.Random(f"{seed}/{engine}/{number}")
        self.engine = engine
        self.tables = draw_tables(rng, engine)
        if rng.random() < 0.65:
            for table in self.tables:
                table.tighten()
        sessions = ["A", "B", "C"][:_weighted(rng, [(2, 60), (3, 40)])]
        self.frame = {
            "name": f"{'pg' if engine == 'postgres' else 'my'}-gen-{seed}-{number:06d}",
            "source": f"generated: seed {seed}, case {number}", "engine": VECTOR_ENGINE[engine], "server_version": "",
            "topic": "generated", "step_ms": 60, **self._isolation(sessions), "setup": self._setup(), "sessions": sessions}
        if engine == "mariadb" and rng.random() < 0.1:
            self.frame["client_options"] = {"found_rows": True}
        self.dull_ok = rng.random() < 0.4  # keep the case even when its sessions do not meet
        self.timeouts = set()  # sessions whose lock waits end after a second
        flavour = _weighted(rng, [("plain", 86), ("advisory", 8), ("timeout", 4), ("terminate", 2)])
        self.plans = {session: self._plan(session, flavour) for session in sessions}
        self.started, self.last = 0, None

    def _isolation(self, sessions):
        levels = LEVELS[self.engine]
        if self.rng.random() < 0.88:
            return {"isolation": _weighted(self.rng, levels)}
        chosen = {session: _weighted(self.rng, levels) for session in sessions}
        return {"isolation": "MIXED", "isolation_by_session": chosen}

    def _setup(self):
        statements = []
        for table in self.tables:
            statements += table.statements(self.engine)
        for table in self.tables:
            count = self.rng.choice([0, 1, 1, 2, len(table.rows)])
            rows = sorted(self.rng.sample(table.rows, min(count, len(table.rows))))
            if table.name == "child" and not any(one.startswith("INSERT INTO parent VALUES (1,") for one in statements):
                rows = []
            statements += [f"INSERT INTO {table.name}{table.written()[1]} VALUES {row}" for row in rows]
        return statements

    # ---- What each session means to do ----

    def _plan(self, session, flavour):
        draw = Statements(self.rng, self.engine, self.tables, session)
        steps = []
        if flavour == "timeout" and self.rng.random() < 0.6:
            self.timeouts.add(session)
            steps.append("SET lock_timeout='1s'" if self.engine == "postgres" else "SET innodb_lock_wait_timeout=1")
        shape = _weighted(self.rng, [("transaction", 74), ("autocommit", 16), ("two", 10)])
        if shape == "autocommit":
            steps += [draw.draw() for _ in range(self.rng.choice([1, 2, 2, 3]))]
        else:
            for _ in range(2 if shape == "two" else 1):
                steps += self._transaction(draw, 2 if shape == "two" else 4)
        if flavour == "advisory":
            self._add_advisory(steps)
        if flavour == "terminate" and self.rng.random() < 0.5 and steps[-1] in ("COMMIT", "ROLLBACK"):
            steps[-1] = {"session": None, "op": "terminate", "target": session}
        return steps

    def _transaction(self, draw, longest):
        body = [draw.draw() for _ in range(self.rng.randint(1, longest))]
        if self.rng.random() < 0.15:
            first = self.rng.randint(0, len(body))
            last = self.rng.randint(first, len(body))
            end = _weighted(self.rng, [("ROLLBACK TO SAVEPOINT s", 80), ("RELEASE SAVEPOINT s", 20)])
            body = body[:first] + ["SAVEPOINT s"] + body[first:last] + [end] + body[last:]
        return [self._begin(), *body, _weighted(self.rng, [("COMMIT", 70), ("ROLLBACK", 30)])]

    def _begin(self):
        if self.engine == "postgres" and self.rng.random() < 0.06:
            return "BEGIN ISOLATION LEVEL " + _weighted(self.rng, LEVELS["postgres"])
        if self.engine == "mariadb" and self.rng.random() < 0.03:
            return "START TRANSACTION WITH CONSISTENT SNAPSHOT"
        return "BEGIN"

    def _add_advisory(self, steps):
        """A lock beside the rows: before the work, and given back after it when it would outlive the transaction."""
        start = 1 if str(steps[0]).startswith("BEGIN") else 0
        if self.engine == "postgres":
            take = self.rng.choice(["SELECT 1 FROM (SELECT pg_advisory_xact_lock(42)) x",
                                    "SELECT pg_try_advisory_xact_lock(42)",
                                    "SELECT 1 FROM (SELECT pg_advisory_lock(42)) x", "SELECT pg_try_advisory_lock(42)"])
            give = "SELECT pg_advisory_unlock(42)" if "xact" not in take else ""
        else:
            take = self.rng.choice(["SELECT GET_LOCK('ord',10)", "SELECT GET_LOCK('ord',0)"])
            give = "SELECT RELEASE_LOCK('ord')"
        steps.insert(start, take)
        if give and self.rng.random() < 0.8:
            steps.insert(len(steps) - (self.rng.random() < 0.5), give)

    # ---- The order in which they do it ----

    def choose(self, state):
        """The next step: of a random session that is free; time passes for a time-out; the last resort is a cancel."""
        waiting = [session for session in self.timeouts if state.blocked(session)]
        if waiting and self.rng.random() < 0.7:
            return {"session": None, "op": "sleep", "ms": 1200}
        self._drop_rest(state)
        ready = [session for session, plan in self.plans.items() if plan and not state.blocked(session)]
        if ready:
            # An open transaction stays open for a while, so that others meet it.
            weights = [(0.3 if _ends(self.plans[one][0]) else 1) * (0.5 if one == self.last else 1) for one in ready]
            session = self.last = self.rng.choices(ready, weights)[0]
            step = self.plans[session].pop(0)
            self.started += 1
            if isinstance(step, dict):
                self.plans[session] = []
                return step
            return {"session": session, "sql": step}
        blocked = [session for session in self.plans if state.blocked(session)]
        if not blocked:
            return None
        if waiting:
            return {"session": None, "op": "sleep", "ms": 1200}
        if len(state.steps) > 2 * LONGEST:
            raise Stuck(blocked)
        return {"session": None, "op": "cancel", "target": self.rng.choice(blocked)}

    def _drop_rest(self, state):
        """After an error some clients give up their PostgreSQL transaction; a case that grew long comes to its end."""
        for session, plan in self.plans.items():
            failed = self.engine == "postgres" and state.last_error.pop(session, None)
            if failed and self.rng.random() < 0.5:
                self.plans[session] = _from_end(plan)
            if self.started > LONGEST:
                self.plans[session] = _from_end([step for step in plan if not _is(step, "ROLLBACK TO")])[:1]


def _is(step, *starts):
    return isinstance(step, str) and step.startswith(starts)


def _ends(step):
    return isinstance(step, dict) or _is(step, "COMMIT", "ROLLBACK")


def _from_end(plan):
    """The plan from where its open transaction ends, or rolls back to a savepoint; nothing when none is open."""
    for index, step in enumerate(plan):
        if _is(step, "BEGIN", "START"):
            return []
        if _ends(step):
            return plan[index:]
    return []


def is_dull(recording):
    """No session met another, as far as one can see."""
    return not any(outcome["blocked_until"] is not None or
                   outcome.get("class") in ("deadlock", "serialization_failure", "lock_not_available")
                   for outcome in recording["outcome"])


def vector_of(frame, recording, version):
    """The recorded vector: a frame and what the server did."""
    vector = {key: value for key, value in frame.items() if key not in ("steps", "outcome", "final")}
    vector.update(server_version=version, steps=recording["steps"], outcome=recording["outcome"],
                  final=recording["final"])
    return vector
