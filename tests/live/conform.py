#!/usr/bin/python3
"""Replays recorded vectors on real servers and reports what differs from the record.

The servers are those of servers.sh. Vectors of MySQL are skipped: Debian 12 has no MySQL. The exit status is 0 only
when nothing differs.
"""

import argparse
import os
import sys
import tempfile

import vector as vectors
from recorder import CaseError, Recorder
from server import MariaDb, Postgres, read_ports


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", required=True, metavar="DIR|FILE", help="vectors to replay")
    parser.add_argument("--engine", choices=sorted(vectors.ENGINES.values()), help="only this engine's vectors")
    default = os.path.join(tempfile.gettempdir(), "oncecheck-live", "PORTS")
    parser.add_argument("--ports", default=default, help="the PORTS file of servers.sh (default: %(default)s)")
    parser.add_argument("--window-ms", type=int, help="a step counts as blocked after (default: the vector's step_ms, else 300)")
    return parser.parse_args()


def server_name(vector):
    if vectors.engine_of(vector) == "mariadb" and vector.get("server_options"):
        if vector["server_options"] == {"innodb_rollback_on_timeout": "ON"}:
            return "mariadb_rollback"
        return None
    return vectors.engine_of(vector)


def replay(server, vector, window):
    try:
        return vectors.difference(vector, Recorder(server, window).run(vector))
    except CaseError as error:
        return [str(error)]


def main():
    options = parse()
    ports = read_ports(options.ports)
    makers = {"postgres": Postgres, "mariadb": MariaDb, "mariadb_rollback": MariaDb}
    servers = {name: makers[name](ports[name], "live_conform") for name in makers if name in ports}
    counts = {"same": 0, "differ": 0, "skipped": 0}
    skipped = {}
    for path in vectors.files_of(options.live):
        vector = vectors.load(path)
        if vector.get("engine") not in vectors.ENGINES or options.engine not in (None, vectors.engine_of(vector)):
            continue
        name = server_name(vector)
        if name not in servers:
            counts["skipped"] += 1
            skipped[vector["engine"]] = skipped.get(vector["engine"], 0) + 1
            continue
        lines = vectors.problems(vector) or replay(servers[name], vector, (options.window_ms or vector.get("step_ms", 300)) / 1000)
        counts["differ" if lines else "same"] += 1
        if lines:
            print(f"DIFFERS {path}", *lines, sep="\n    ", flush=True)
    for engine, count in sorted(skipped.items()):
        print(f"skipped {count} of {engine}: no such server")
    print("{same} same, {differ} differ, {skipped} skipped".format(**counts))
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
