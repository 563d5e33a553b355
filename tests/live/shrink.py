"""Makes a failing case small: drops sessions, steps, setup and rows while it still fails.

The oracle takes a list of candidates and gives for each the recorded vector when it still fails, else None. So it can
run the candidates side by side, and ask the model once for all of them.
"""

import re

_ROW = r"\((?:[^()']|'[^']*')*\)"
_ROWS = re.compile(rf"VALUES ({_ROW}(?:,{_ROW})+)")


def size(vector):
    text = " ".join(step.get("sql", "") for step in vector["steps"]) + " ".join(vector["setup"])
    return (len(vector["sessions"]), len(vector["steps"]), len(vector["setup"]), vector["isolation"] == "MIXED",
            len(text))


def _frame(vector):
    return {key: value for key, value in vector.items() if key not in ("outcome", "final")}


def without_steps(vector, indexes):
    """Sessions that have nothing left to do go too; at least one stays."""
    steps = [step for index, step in enumerate(vector["steps"]) if index not in indexes]
    used = {step.get("session") or step.get("target") for step in steps}
    sessions = [session for session in vector["sessions"] if session in used] or vector["sessions"][:1]
    smaller = dict(_frame(vector), steps=steps, sessions=sessions)
    if "isolation_by_session" in smaller:
        levels = {session: smaller["isolation_by_session"][session] for session in sessions}
        smaller["isolation_by_session"] = levels
        if len(set(levels.values())) == 1:
            smaller["isolation"] = next(iter(levels.values()))
            del smaller["isolation_by_session"]
    return smaller


def _session_drops(vector):
    if len(vector["sessions"]) < 2:
        return []
    owners = [step.get("session") or step.get("target") for step in vector["steps"]]
    return [{index for index, owner in enumerate(owners) if owner == session} for session in vector["sessions"]]


def _step_drops(vector):
    """Tails first, they are cheap to lose; a BEGIN goes with its end; then single steps."""
    count = len(vector["steps"])
    drops = [set(range(keep, count)) for keep in (count // 2, (3 * count) // 4) if 0 < keep < count - 1]
    for index, step in enumerate(vector["steps"]):
        if step.get("sql", "").startswith(("BEGIN", "SAVEPOINT")):
            ends = ("COMMIT", "ROLLBACK") if step["sql"].startswith("BEGIN") else ("ROLLBACK TO", "RELEASE")
            end = next((later for later in range(index + 1, count)
                        if vector["steps"][later].get("session") == step["session"]
                        and vector["steps"][later]["sql"].startswith(ends)), None)
            if end is not None:
                drops.append({index, end})
    return drops + [{index} for index in reversed(range(count))]


def _simpler(vector):
    """The same steps, with less in them."""
    found = []
    for index in range(len(vector["setup"])):
        found.append(dict(_frame(vector), setup=vector["setup"][:index] + vector["setup"][index + 1:]))
    for index, sql in enumerate(vector["setup"]):
        found += [dict(_frame(vector), setup=vector["setup"][:index] + [less] + vector["setup"][index + 1:])
                  for less in fewer_rows(sql)]
    for index, step in enumerate(vector["steps"]):
        if "sql" not in step:
            continue
        for less in fewer_rows(step["sql"]) + _without_returning(step["sql"]):
            steps = list(vector["steps"])
            steps[index] = dict(step, sql=less)
            found.append(dict(_frame(vector), steps=steps))
    if vector["isolation"] == "MIXED":
        for level in sorted(set(vector["isolation_by_session"].values())):
            plain = dict(_frame(vector), isolation=level)
            del plain["isolation_by_session"]
            found.append(plain)
    if "client_options" in vector:
        found.append({key: value for key, value in _frame(vector).items() if key != "client_options"})
    return found


def fewer_rows(sql):
    """The statement with one of its VALUES rows less, for each row."""
    match = _ROWS.search(sql)
    if not match:
        return []
    rows = re.findall(_ROW, match.group(1))
    return [sql[:match.start(1)] + ",".join(rows[:skip] + rows[skip + 1:]) + sql[match.end(1):]
            for skip in range(len(rows))]


def _without_returning(sql):
    shorter = re.sub(r" RETURNING [a-z_, ]+$", "", sql)
    return [shorter] if shorter != sql else []


def shrink(vector, oracle, rounds=12):
    """The smallest failing vector found; the given one when nothing smaller fails."""
    for _ in range(rounds):
        smaller = _drop_steps(vector, oracle, _session_drops(vector)) or \
            _drop_steps(vector, oracle, _step_drops(vector)) or _best(oracle(_simpler(vector)), vector)
        if smaller is None:
            return vector
        vector = smaller
    return vector


def _best(results, vector):
    failing = [result for result in results if result is not None and size(result) <= size(vector)]
    return min(failing, key=size) if failing else None


def _drop_steps(vector, oracle, drops):
    """Tries each drop by itself, then all that kept the failure at once."""
    if not drops:
        return None
    results = oracle([without_steps(vector, drop) for drop in drops])
    kept = [drop for drop, result in zip(drops, results) if result is not None]
    if len(kept) > 1:
        union = set().union(*kept)
        if len(union) < len(vector["steps"]):
            together = _best(oracle([without_steps(vector, union)]), vector)
            if together is not None:
                return together
    return _best(results, vector)


def shape(text):
    """A statement without its literals."""
    return re.sub(r"\([?,]*\)(,\([?,]*\))*", "(?)", re.sub(r"'[^']*'|\b\d+\b", "?", text))


def signature(vector):
    """Cases alike in all but literals are one find."""
    names = {session: str(index) for index, session in enumerate(vector["sessions"])}
    return "; ".join(f"{names.get(step.get('session'), '-')} {shape(step.get('sql') or step['op'])}"
                     for step in vector["steps"])
