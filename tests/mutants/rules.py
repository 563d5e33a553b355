#!/usr/bin/env python3
"""Bugs planted in rules, one at a time: each must be noticed. Those of the SQL model by the recorded cases of real servers,
those of liveness and of hygiene by the verdicts of liveness.jsonc and hygiene.jsonc, those of windows by the tables of windows.jsonc.

rules.py --check    every planted bug still fits the source; needs no build, runs in CI
rules.py [NAME...]  builds oncecheck with each bug in a copy of the tree and runs `oncecheck conform`, `check` or `windows`; takes minutes
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# name: (file, what stands there, what is put there)
RULES = {
    "a READ COMMITTED update does not test the row again after a wait": (
        "model/world/postgres_rows.cpp",
        "if (s_.where != kNoExpr && !is_true(eval(ctx_, s_.where))) return Reach::Gone;",
        "if (false) return Reach::Gone;"),
    "a concurrent update is no serialization failure at REPEATABLE READ": (
        "model/world/postgres_rows.cpp", "    if (fixed_snapshot()) {\n      // A locking SELECT",
        "    if (false) {\n      // A locking SELECT"),
    "SKIP LOCKED waits": (
        "model/world/postgres_rows.cpp", "if (s_.policy == LockPolicy::SkipLocked) return Reach::Skip;", ""),
    "KEY SHARE excludes an update that changes no key": (
        "model/world/row_lock.cpp", "case RowLock::KeyShare: return strong == RowLock::Update;",
        "case RowLock::KeyShare: return strong >= RowLock::NoKeyUpdate;"),
    "nobody waits behind those who wait for the row": (
        "model/world/postgres_rows.cpp", "if (in_queue || !queued(s)) continue;", "if (true) continue;"),
    "ON CONFLICT DO NOTHING rests on a row that the snapshot does not have": (
        "model/world/postgres_insert.cpp",
        "if (fixed_snapshot() && !made_now && !version_visible(v, session_, ctx_.snapshot)) error(ErrorClass::SerializationFailure);",
        "(void)made_now;"),
    "a failed transaction of PostgreSQL runs statements": (
        "model/world/postgres_statement.cpp",
        "if (me_[kTx] == kFailedTx && !ends_block(s_.kind)) return observe_error(ErrorClass::InFailedTransaction);", ""),
    "SSI does not break a dangerous structure at COMMIT": (
        "model/world/ssi.cpp", "if (pivot) records.set_flag(near, kSsiDoomed);", "(void)pivot;"),
    "ROLLBACK TO keeps advisory locks": (
        "model/world/savepoint.cpp", "  end_transaction_advisory(plan, w, session, level);\n  wake_waiters",
        "  wake_waiters"),
    "ROLLBACK TO keeps row locks": (
        "model/world/savepoint.cpp", "if (table.locks >= 0) undo_row_lock(v[table.locks + s.number], level);", ""),
    "InnoDB: a gap lock does not stop an insert": (
        "model/world/innodb_locks.cpp", "if (!insert && (other & kLockGap)) return false;",
        "if (other & kLockGap) return false;"),
    "InnoDB: a deadlock undoes the statement only": (
        "model/world/innodb_transaction.cpp", "const bool whole = error == ErrorClass::Deadlock || (error",
        "const bool whole = (error"),
    "InnoDB: a lock time-out undoes the transaction": (
        "model/world/innodb_transaction.cpp", "(error == ErrorClass::LockTimeout && db.rollback_on_timeout);",
        "error == ErrorClass::LockTimeout;"),
    "InnoDB: unchanged rows count as affected": (
        "model/world/innodb_write.cpp", "count_ += db_.found_rows ? 1 : 0;", "count_ += 1;"),
}


LIVENESS = {
    "liveness: nothing is asked of fairness": (
        "model/check/liveness.cpp", "if (!end.stopped && !fair(end)) continue;", ""),
    "liveness: faults that cost something go on when faults have stopped": (
        "model/check/expansion.cpp", "if (paid && !p_.faults[e.fault].endless) return;", ""),
    "liveness: one state that leads to itself is no cycle": (
        "model/check/liveness.cpp", "loops[i] = loops[i] || local_[e->to] == i;", ""),
    "liveness: a state where nothing can happen is overlooked": (
        "model/check/liveness.cpp", "if (stopped) out.push_back(end_of({region_[i]}, true));", ""),
    "liveness: a component of several states is overlooked": (
        "model/check/liveness.cpp", "if (sizes[component[i]] > 1) members", "if (loops[i]) members"),
    "liveness: time may stand still": (
        "model/check/cycle.cpp", "      if (!way_to_end(0, t).empty()) continue;\n", "      if (t.a < 255) continue;\n"),
    "liveness: a deadline that is replaced goes on running": (
        "model/step/fairness.cpp", "if (to < 0) return std::nullopt;", "if (to < 0) return out;"),
    "liveness: one row is as good as another": (
        "invariants/liveness.cpp", "mix.add(time || v.kind == Kind::Fresh ? 0 : static_cast<std::uint64_t>(v.n));", ""),
    "liveness: any answer settles a request": (
        "invariants/liveness.cpp", "if (reply.outcome == Outcome::Ok || reply.outcome == Outcome::Failed) return true;",
        "return true;"),
    "liveness: who gives up was answered": (
        "model/check/liveness.cpp",
        "std::copy_if(further.begin(), further.end(), std::back_inserter(region_), [&](State s) { return g_.judged(s); });", ""),
    "liveness: a fault without end is spent": (
        "model/step/apply.cpp", "if (e.fault != kNoBudget && !p_.faults[e.fault].endless) --", "if (e.fault != kNoBudget) --"),
}
HYGIENE = {
    "hygiene: the sides of an if are taken for each other": (
        "model/step/task_run.cpp", "take_branch(instr.branch + (holds ? 0 : 1));", "take_branch(instr.branch + (holds ? 1 : 0));"),
    "hygiene: handlers are never seen": (
        "model/step/task_run.cpp", "        take_branch(instr.branch);\n        ++pc;", "        ++pc;"),
    "hygiene: rows of a for_each are never seen": (
        "model/step/task_run.cpp", "  take_branch(instr.branch);\n  for (int c", "  for (int c"),
    "hygiene: the search ends with the last violation": (
        "model/check/expansion.cpp", "covered(p_, workers).reached_all_marks(p_));", "true);"),
    "hygiene: a promise is armed from the beginning": (
        "model/step/coverage.cpp", "armed_[i].resize(program.invariants[i].premises.size());", ";"),
    "hygiene: the premise is asked of the first state only": (
        "model/step/coverage.cpp", "if (parent != nullptr && same(promise.reads, world, parent)) continue;",
        "if (parent != nullptr) continue;"),
    "hygiene: what is marked as unreached is not looked for": (
        "reports/hygiene.cpp", "if (covered) g.reason = mark.reason;", "(void)covered;"),
    "hygiene: a lost DEL is no lost write": (
        "model/step/occurrence.cpp", "return lacks(is, was) || lacks(was, is);", "return lacks(is, was);"),
    "hygiene: a retry is any further click": (
        "model/step/occurrence.cpp", "return me[kSenderAttempts] < info.retries;", "return me[kSenderAttempts] < info.retries - 1;"),
    "hygiene: whose handler it is nobody knows once the client has given up": (
        "model/step/handler_work.cpp", "if (caller != kNobody) return -1;", "return -1;"),
    "hygiene: an effect counts for nobody": (
        "model/step/occurrence.cpp", "if (at[0] != 0 && load_cell(l_, at + 2) == identity", "if (at[0] != 0 && load_cell(l_, at + 2) != identity"),
}
WINDOWS = {
    "windows: promises of liveness are left out": (
        "model/check/windows.cpp", "return breaks_anyway(i.spec.name);", "return is_liveness(i.spec.kind) || breaks_anyway(i.spec.name);"),
    "windows: what breaks without a disturbance is asked all the same": (
        "model/check/windows.cpp", "return r.name == promise && r.verdict == Verdict::Violated;", "return r.name == promise && false;"),
    "windows: a column without a verdict has none for each window": (
        "model/check/windows.cpp", "const bool safe = all.complete && holds(all);", "const bool safe = all.complete && !violated(all);"),
    "windows: what is open before the disturbance counts": (
        "model/check/expansion.cpp", "if (!judged) return;", ""),
    "windows: who was not answered before the disturbance counts": (
        "model/check/liveness.cpp", "return g_.judged(s);", "return s != kNoState;"),
    "windows: a cycle begins without the byte of the monitor": (
        "model/check/liveness.cpp", "CHECK_THAT(in_.states.allows(state.data(), e, state.data()));", ""),
    "windows: a world is one state, disturbed or not": (
        "model/check/search_states.hpp", "return oncecheck::fingerprint(state, bytes());",
        "return oncecheck::fingerprint(state, world_bytes());"),
}
FAMILIES = {"rules": RULES, "liveness": LIVENESS, "hygiene": HYGIENE, "windows": WINDOWS}
BUGS = {**RULES, **LIVENESS, **HYGIENE, **WINDOWS}


def family(name):
    return next(kind for kind, bugs in FAMILIES.items() if name in bugs)


def misfits():
    out = []
    for name, (file, old, _) in BUGS.items():
        count = (ROOT / file).read_text().count(old)
        if count != 1:
            out.append(f"{name}: its place in {file} occurs {count} times")
    return out


def build(copy, folder):
    subprocess.run(["cmake", "-S", copy, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"], check=True,
                   stdout=subprocess.DEVNULL)


def outcome(folder, name):
    """The last line of what it says, and what counts of it: how many vectors agree, how many variants are as expected, the tables."""
    made = subprocess.run(["cmake", "--build", folder, "--target", "oncecheck", "-j2"], capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(made.stdout[-3000:])
    args, count = ["conform", ROOT / "tests" / "vectors"], r"(\d+) agree"
    if family(name) in ("liveness", "hygiene"):
        args, count = ["check", ROOT / "tests" / "mutants" / f"{family(name)}.jsonc"], r"(\d+) as expected"
    if name in WINDOWS:
        args = ["windows", ROOT / "tests" / "mutants" / "windows.jsonc"]
    run = subprocess.run([folder / "oncecheck", *args], capture_output=True, text=True)
    last = (run.stdout.strip().splitlines() or ["no output"])[-1]
    if name in WINDOWS:
        return (run.stderr.strip().splitlines() or [last.strip()])[-1], run.stdout
    found = re.search(count, last)
    return last, int(found.group(1)) if found else 0


def noticed(copy, folder, name, sound):
    """What oncecheck says with the bug in place; None when it is as right as without it."""
    file, old, new = BUGS[name]
    path = copy / file
    text = path.read_text()
    path.write_text(text.replace(old, new))
    try:
        last, right = outcome(folder, name)
        wrong = right != sound if name in WINDOWS else right < sound
        return last if wrong else None
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only those whose name contains one of these")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    for misfit in (wrong := misfits()):
        print(misfit)
    if wrong:
        return 1
    if args.check:
        print(f"{len(BUGS)} planted bugs fit the source")
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        copy, folder = pathlib.Path(place) / "tree", pathlib.Path(place) / "build"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build", ".git"))
        build(copy, folder)
        sound = {kind: outcome(folder, next(iter(bugs)))[1] for kind, bugs in FAMILIES.items()}
        for name in BUGS:
            if args.names and not any(n in name for n in args.names):
                continue
            found = noticed(copy, folder, name, sound[family(name)])
            missed += found is None
            print(f"{'noticed' if found else 'MISSED '}  {name}" + (f": {found}" if found else ""), flush=True)
    print(f"{missed} planted bugs were not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
