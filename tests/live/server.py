"""Real servers: connect, run one statement, say what came back in the words of the vector format."""

import datetime
import decimal
import json
import os
import signal
import socket
import time

POSTGRES_CLASSES = {
    "21000": "cardinality_violation", "22012": "division_by_zero", "23502": "not_null_violation",
    "23503": "fk_violation", "23505": "unique_violation", "23514": "check_violation", "25006": "read_only",
    "25P01": "no_transaction", "25P02": "in_failed_transaction", "25P03": "conn_lost", "3B001": "no_savepoint",
    "40001": "serialization_failure", "40P01": "deadlock", "42601": "syntax_error", "42P01": "no_table",
    "55P03": "lock_not_available", "57014": "cancelled", "57P01": "conn_lost"}
MARIADB_CLASSES = {
    1020: "serialization_failure", 1048: "not_null_violation", 1064: "syntax_error", 1093: "update_table_used",
    1146: "no_table", 1205: "lock_not_available", 1213: "deadlock", 1305: "no_savepoint", 1062: "unique_violation",
    1317: "cancelled", 1451: "fk_violation", 1452: "fk_violation", 1792: "read_only", 1927: "conn_lost",
    1969: "cancelled", 2006: "conn_lost", 2013: "conn_lost", 4025: "check_violation"}
DEPRECATED_SYNTAX = 1287


def plain(value):
    """A cell as JSON has it."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("latin1")
    return value


def plain_rows(rows):
    return [[plain(cell) for cell in row] for row in rows]


def _error(code, classes, message):
    lost = code == "CONN_LOST"
    return {"result": None, "error": code, "class": "conn_lost" if lost else classes.get(code, "other"),
            "message": str(message).strip().split("\n")[0]}


class Server:
    """One server and one database on it, used by one case at a time. `admin` is a connection that holds no locks."""

    def __init__(self, port, database="live"):
        self.port, self.database = port, database
        self.admin = None
        self.deadlock_ms = None  # PostgreSQL's deadlock_timeout in sessions; None: as the server is configured

    def query(self, sql):
        cursor = self.admin.cursor()
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description is not None else None

    def final(self):
        tables = {}
        for (name,) in self.query(self.LIST_TABLES.format(self.database)):
            rows = plain_rows(self.query(f"SELECT * FROM {name}"))
            tables[name] = sorted(rows, key=json.dumps)
        return tables

    def gone(self, backend, seconds):
        end = time.monotonic() + seconds
        while self.query(self.COUNT_BACKEND.format(backend))[0][0] != 0:
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def terminate(self, backend):
        try:
            self.query(self.TERMINATE.format(backend))
        except self.driver.Error:
            pass  # it was gone already


class Postgres(Server):
    LIST_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    COUNT_BACKEND = "SELECT count(*) FROM pg_stat_activity WHERE pid = {}"
    TERMINATE = "SELECT pg_terminate_backend({})"
    CANCEL = "SELECT pg_cancel_backend({})"

    def __init__(self, port, database="live", deadlock_ms=None):
        super().__init__(port, database)
        import psycopg2
        self.driver, self.deadlock_ms = psycopg2, deadlock_ms

    def _connect(self, database):
        connection = self.driver.connect(host="127.0.0.1", port=self.port, user="postgres", dbname=database)
        connection.autocommit = True
        return connection

    def version(self):
        text = "PostgreSQL " + self.query("SHOW server_version")[0][0]
        return f"{text}, deadlock_timeout={self.query('SHOW deadlock_timeout')[0][0]}"

    def reset(self):
        if self.admin is None or self.admin.closed:
            first = self._connect("postgres")
            cursor = first.cursor()
            cursor.execute(f"SELECT 1 FROM pg_database WHERE datname = '{self.database}'")
            if not cursor.fetchall():
                cursor.execute(f"CREATE DATABASE {self.database}")
            first.close()
            self.admin = self._connect(self.database)
        self.query("SET client_min_messages = warning")
        self.query("DROP SCHEMA IF EXISTS public CASCADE")
        self.query("CREATE SCHEMA public")

    def ready(self, setup):
        pass

    def connect(self, isolation, vector):
        connection = self._connect(self.database)
        cursor = connection.cursor()
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + isolation)
        if self.deadlock_ms is not None:
            cursor.execute(f"SET deadlock_timeout = '{self.deadlock_ms}ms'")
        return connection, connection.get_backend_pid()

    def all_wait(self, backends):
        """Does each of the backends wait for another session, or for time to pass?"""
        ids = ",".join(map(str, backends))
        count = self.query(f"SELECT count(*) FROM pg_stat_activity WHERE pid IN ({ids}) AND "
                           "(wait_event_type IN ('Lock', 'Timeout') OR wait_event = 'SafeSnapshot')")
        return count[0][0] == len(backends)

    def run(self, connection, sql):
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            tag = (cursor.statusmessage or "").split()[:1]
            if cursor.description is not None:
                return {"result": plain_rows(cursor.fetchall()), "error": None}
            if tag and tag[0] in ("INSERT", "UPDATE", "DELETE", "MERGE"):
                return {"result": cursor.rowcount, "error": None}
            if tag == ["ROLLBACK"] and sql.strip().upper().startswith(("COMMIT", "END")):
                return {"result": "ROLLBACK", "error": None}
            return {"result": "OK", "error": None}
        except self.driver.Error as error:
            code = error.pgcode
            if code is None or (connection.closed and code not in ("57P01", "25P03")):
                code = "CONN_LOST"
            return _error(code, POSTGRES_CLASSES, error)

    def pause(self, backend):
        os.kill(backend, signal.SIGSTOP)

    def resume(self, backend):
        os.kill(backend, signal.SIGCONT)

    def shut_socket(self, connection):
        _shut(connection.fileno())


class MariaDb(Server):
    LIST_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = '{}' ORDER BY 1"
    COUNT_BACKEND = "SELECT count(*) FROM information_schema.processlist WHERE id = {}"
    TERMINATE = "KILL CONNECTION {}"
    CANCEL = "KILL QUERY {}"

    def __init__(self, port, database="live"):
        super().__init__(port, database)
        import pymysql
        self.driver = pymysql

    def _connect(self, database, found_rows=False):
        flags = self.driver.constants.CLIENT.FOUND_ROWS if found_rows else 0
        return self.driver.connect(host="127.0.0.1", port=self.port, user="live", password="", database=database,
                                   autocommit=True, client_flag=flags)

    def version(self):
        return "MariaDB " + self.query("SELECT version()")[0][0]

    def reset(self):
        if self.admin is None or not self.admin.open:
            self.admin = self._connect(None)
        self.query(f"DROP DATABASE IF EXISTS {self.database}")
        self.query(f"CREATE DATABASE {self.database}")
        self.admin.select_db(self.database)

    def ready(self, setup):
        """Waits for purge: no delete-marked records of the setup are left."""
        if any(not sql.upper().startswith(("CREATE", "INSERT")) for sql in setup):
            self.query("SET GLOBAL innodb_max_purge_lag_wait = 0")

    def connect(self, isolation, vector):
        connection = self._connect(self.database, vector.get("client_options", {}).get("found_rows", False))
        connection.cursor().execute("SET SESSION TRANSACTION ISOLATION LEVEL " + isolation)
        return connection, connection.thread_id()

    def all_wait(self, backends):
        """By the count of lock waits, since this case has the server to itself: innodb_trx is a cache that is never
        renewed for who asks more often than every 100 ms. The waits of GET_LOCK show in the list of processes."""
        ids = ",".join(map(str, backends))
        count = int(self.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1])
        if count < len(backends):
            count += self.query(f"SELECT count(*) FROM information_schema.processlist WHERE id IN ({ids}) "
                                "AND state IN ('User lock', 'User sleep')")[0][0]
        return count == len(backends)

    def run(self, connection, sql):
        try:
            cursor = connection.cursor()
            count = cursor.execute(sql)
            warnings = self._warnings(connection, cursor)
            if cursor.description is not None:
                outcome = {"result": plain_rows(cursor.fetchall()), "error": None}
            elif sql.split()[0].upper() in ("INSERT", "UPDATE", "DELETE", "REPLACE"):
                outcome = {"result": count, "error": None}
            else:
                outcome = {"result": "OK", "error": None}
            if warnings:
                outcome["warnings"] = warnings
            return outcome
        except self.driver.err.Error as error:
            code = error.args[0] if error.args else 0
            if not isinstance(code, int) or code in (0, 2006, 2013):
                code = "CONN_LOST"
            return _error(code, MARIADB_CLASSES, error.args[1] if len(error.args) > 1 else "")
        except (OSError, ValueError, AttributeError, RuntimeError) as error:
            return _error("CONN_LOST", MARIADB_CLASSES, type(error).__name__)  # the driver lost its socket under way

    @staticmethod
    def _warnings(connection, cursor):
        if cursor._result is None or not cursor._result.warning_count:
            return []
        return sorted({int(row[1]) for row in connection.show_warnings() or []} - {DEPRECATED_SYNTAX})

    def shut_socket(self, connection):
        _shut(connection._sock.fileno())


def _shut(descriptor):
    """The client dies: its socket ends without a farewell."""
    copy = socket.socket(fileno=os.dup(descriptor))
    copy.shutdown(socket.SHUT_RDWR)
    copy.close()


def read_ports(path):
    """DIR/PORTS of servers.sh: name -> port."""
    ports = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, separator, port = line.strip().partition("=")
            if separator:
                ports[name] = int(port)
    return ports
