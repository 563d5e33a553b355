"""The vector format: one interleaved case of SQL sessions and what a server answered. Read, check, compare, write."""

import json
import os

ISOLATIONS = ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
ENGINES = {"postgres-15": "postgres", "mariadb-10.11": "mariadb", "mysql-9.7": "mysql"}
TARGET_OPS = ("terminate", "cancel", "drop_client", "pause", "resume")
REQUIRED = ("name", "source", "engine", "server_version", "topic", "isolation", "setup", "sessions", "steps", "outcome",
            "final")
OPTIONAL = ("isolation_by_session", "client_options", "server_options", "note", "teardown", "hermitage_comments",
            "mysql_9_7", "mysql_9_7_difference", "differs_from_mysql8", "step_ms")


def engine_of(vector):
    """The name that the command line uses: postgres, mariadb or mysql."""
    return ENGINES.get(vector.get("engine"), str(vector.get("engine")))


def isolation_of(vector, session):
    if vector["isolation"] == "MIXED":
        return vector["isolation_by_session"][session]
    return vector["isolation"]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def files_of(path):
    """The vector files at a path: itself, or all below a folder, in order."""
    if os.path.isfile(path):
        return [path]
    found = []
    for folder, _, names in os.walk(path):
        found += [os.path.join(folder, name) for name in names if name.endswith(".json") and name != "schema.json"]
    return sorted(found)


# ---- Checks ----


def problems(vector):
    """What is wrong with a vector, in words; empty when it is sound."""
    if not isinstance(vector, dict):
        return ["not an object"]
    found = [f"{key} is missing" for key in REQUIRED if key not in vector]
    found += [f"unknown key {key}" for key in vector if key not in REQUIRED + OPTIONAL]
    if found:
        return found
    if vector["engine"] not in ENGINES:
        found.append(f"unknown engine {vector['engine']}")
    sessions = vector["sessions"]
    if not sessions or len(set(sessions)) != len(sessions):
        found.append("sessions must be distinct, at least one")
    levels = [vector["isolation"]]
    if vector["isolation"] == "MIXED":
        levels = [vector.get("isolation_by_session", {}).get(session) for session in sessions]
    found += [f"unknown isolation {level}" for level in levels if level not in ISOLATIONS]
    for index, step in enumerate(vector["steps"]):
        found += [f"step {index}: {what}" for what in _step_problems(step, sessions)]
    if len(vector["outcome"]) != len(vector["steps"]):
        return found + ["not one outcome for each step"]
    for index, outcome in enumerate(vector["outcome"]):
        found += [f"outcome {index}: {what}" for what in _outcome_problems(outcome, index, len(vector["steps"]))]
    return found + _blocked_session_problems(vector)


def _step_problems(step, sessions):
    if step.get("session") is not None:
        if set(step) != {"session", "sql"}:
            return ["a session's step has exactly sql"]
        return [] if step["session"] in sessions else [f"unknown session {step['session']}"]
    op = step.get("op")
    if op == "sleep":
        return [] if isinstance(step.get("ms"), int) else ["sleep needs ms"]
    if op not in TARGET_OPS:
        return [f"unknown op {op}"]
    return [] if step.get("target") in sessions else [f"unknown target {step.get('target')}"]


def _outcome_problems(outcome, index, count):
    found = []
    if outcome.get("step") != index:
        found.append("step does not count up")
    found += [f"{key} is missing" for key in ("result", "blocked_until", "error") if key not in outcome]
    until = outcome.get("blocked_until")
    if until is not None and not index < until < count:
        found.append("blocked_until must be a later step")
    result = outcome.get("result")
    if (outcome.get("error") is None) == (result is None):
        found.append("exactly one of result and error must be null")
    rows = isinstance(result, list) and all(isinstance(row, list) for row in result)
    if not (rows or isinstance(result, int) or result in ("OK", "ROLLBACK", None)):
        found.append("result is neither rows, a count, OK nor ROLLBACK")
    return found


def _blocked_session_problems(vector):
    """A step is never given to a session that is still blocked."""
    found, busy = [], {}
    for index, (step, outcome) in enumerate(zip(vector["steps"], vector["outcome"])):
        session = step.get("session")
        if session is None:
            continue
        if busy.get(session, -1) >= index:
            found.append(f"step {index}: session {session} is still blocked")
        busy[session] = outcome["blocked_until"] if outcome.get("blocked_until") is not None else -1
    return found


# ---- Comparison ----


def _rows_key(row):
    return json.dumps(row, sort_keys=True)


def _comparable(result, sql):
    """Rows of a statement without ORDER BY are a multiset."""
    if isinstance(result, list) and "ORDER BY" not in sql.upper():
        return sorted(result, key=_rows_key)
    return result


def difference(expected, got):
    """How a replay (steps, outcome, final) differs from the record, in lines; messages are for people only."""
    lines = []
    if expected["steps"] != got["steps"]:
        lines.append("the steps were issued in another order")
    for old, new in zip(expected["outcome"], got["outcome"]):
        step = expected["steps"][old["step"]]
        sql = step.get("sql", "")
        what = f"step {old['step']} {step.get('session') or step.get('op')}"
        for key in ("blocked_until", "error", "class", "warnings"):
            if old.get(key) != new.get(key):
                lines.append(f"{what} {key}: expected {old.get(key)!r}, got {new.get(key)!r}")
        if _comparable(old["result"], sql) != _comparable(new["result"], sql):
            lines.append(f"{what} result: expected {old['result']!r}, got {new['result']!r}")
    if expected["final"] != got["final"]:
        lines.append(f"final: expected {json.dumps(expected['final'])}, got {json.dumps(got['final'])}")
    return lines


# ---- Writing ----

_LINE_EACH = ("setup", "teardown", "steps", "outcome", "hermitage_comments", "mysql_9_7_difference")


def text_of(vector):
    """JSON with one line for each step and each outcome."""
    parts = []
    for key, value in vector.items():
        if key in _LINE_EACH and value:
            body = ",\n".join("    " + json.dumps(item, ensure_ascii=False) for item in value)
            parts.append(f"  {json.dumps(key)}: [\n{body}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def save(path, vector):
    """Written beside and moved into place, so that a broken run leaves no half file."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text_of(vector))
    os.replace(path + ".part", path)
