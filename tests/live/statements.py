"""Random statements over the tables of tables.py, in the dialect of an engine. The weights favour what idempotent
endpoints write: inserts that may meet, upserts, compare-and-set, locking reads."""

from tables import FUTURE, PAST


class Statements:
    """Draws statements for one session of one case. `label` is the session's own value, so that a winner shows."""

    def __init__(self, rng, engine, tables, label):
        self.rng, self.engine, self.tables, self.label = rng, engine, tables, label
        self.postgres = engine == "postgres"

    def draw(self):
        kinds = [(self.insert, 15), (self.upsert, 22), (self.update, 24), (self.delete, 9), (self.select, 12),
                 (self.locking_select, 12), (self.insert_select, 4), (self.special, 6)]
        return self._weighted(kinds)(self.rng.choice(self.tables))

    def _weighted(self, pairs):
        return self.rng.choices([item for item, _ in pairs], [weight for _, weight in pairs])[0]

    def _chance(self, probability):
        return self.rng.random() < probability

    # ---- Values and conditions ----

    def value(self, column):
        if column.kind == "text" and not self._is_key_like(column) and self._chance(0.5):
            return f"'{self.label}'"
        return self.rng.choice(column.pool)

    @staticmethod
    def _is_key_like(column):
        return column.name in ("id", "req", "code", "tenant", "name", "identity_id", "state")

    def equals(self, column, literal):
        return f"{column.name} IS NULL" if literal == "NULL" else f"{column.name}={literal}"

    def key_condition(self, table, key=None):
        key = key or table.key()
        return " AND ".join(self.equals(table.column(name), self.rng.choice(table.column(name).pool)) for name in key)

    def not_null(self, column):
        return self.rng.choice([literal for literal in column.pool if literal != "NULL"])

    def range_condition(self, table):
        column = table.column(table.key()[-1])
        low, high = sorted((self.not_null(column), self.not_null(column)))
        return self.rng.choice([f"{column.name} >= {low}", f"{column.name} < {high}", f"{column.name} > {low}",
                                f"{column.name} BETWEEN {low} AND {high}"])

    def other_condition(self, table):
        column = self.rng.choice(table.others() or table.columns)
        if column.kind == "time":
            return self.rng.choice([f"{column.name} < NOW()", f"{column.name} > NOW()", f"{column.name} IS NULL"])
        if column.nullable and self._chance(0.3):
            return f"{column.name} IS " + self.rng.choice(["NULL", "NOT NULL"])
        if column.kind == "int" and self._chance(0.6):
            return f"{column.name} {self.rng.choice(['>=', '<', '>', '<>'])} {self.not_null(column)}"
        return f"{column.name}={self.not_null(column)}"

    def condition(self, table):
        """A WHERE clause, or nothing."""
        key = self.key_condition(table)
        kind = self._weighted([("key", 45), ("in", 6), ("range", 11), ("unique", 10), ("other", 12), ("both", 12),
                               ("or", 3), ("exists", 3), ("none", 5),
                               ("subquery", 3)])
        if kind == "in":
            column = table.column(table.key()[-1])
            return f" WHERE {column.name} IN ({self.not_null(column)},{self.not_null(column)})"
        if kind == "range":
            return " WHERE " + self.range_condition(table)
        if kind == "unique":
            return " WHERE " + self.key_condition(table, table.unique[-1])
        if kind == "other":
            return " WHERE " + self.other_condition(table)
        if kind == "both":
            return f" WHERE {key} AND {self.other_condition(table)}"
        if kind == "or":
            return f" WHERE {key} AND ({self.other_condition(table)} OR {self.other_condition(table)})"
        if kind == "exists" and len(self.tables) > 1:
            other = next(one for one in self.tables if one is not table)
            word = self.rng.choice(["EXISTS", "NOT EXISTS"])
            return f" WHERE {key} AND {word} (SELECT 1 FROM {other.name} WHERE {self.key_condition(other)})"
        if kind == "subquery":
            column = table.key()[0]
            return f" WHERE {column} IN (SELECT {column} FROM {table.name} WHERE {self.other_condition(table)})"
        return "" if kind == "none" else " WHERE " + key

    def assignments(self, table):
        """What an UPDATE sets: other columns mostly, now and then a key."""
        others = table.others()
        if not others or self._chance(0.1):
            column = table.column(self.rng.choice(self.rng.choice(table.unique)))
            return f"{column.name}={self.rng.choice(column.pool)}"
        count = 1 if self._chance(0.8) else min(2, len(others))
        return ", ".join(self.assignment(column) for column in self.rng.sample(others, count))

    def assignment(self, column):
        if column.kind == "int" and self._chance(0.7):
            return f"{column.name}={column.name}{self.rng.choice(['+1', '+10', '-10'])}"
        if column.kind == "text" and column.name == "v" and self._chance(0.3):
            return f"{column.name}=" + self.concat(column.name, f"'{self.label}'")
        return f"{column.name}={self.value(column)}"

    def concat(self, left, right):
        return f"{left}||{right}" if self.postgres else f"CONCAT({left},{right})"

    def returning(self, table, probability):
        if not self.postgres or not self._chance(probability):
            return ""
        columns = self.rng.sample(table.columns, 1 + self._chance(0.4))
        return " RETURNING " + ", ".join(column.name for column in columns)

    # ---- Inserts ----

    def insert_head(self, table, verb="INSERT"):
        """INSERT INTO t [(columns)] VALUES rows; with the columns that it names."""
        columns, names = table.written()
        if self._chance(0.15):
            columns = [column for column in columns if not (column.default or column.nullable) or self._chance(0.5)]
            names = table.names(columns)
        count = self._weighted([(1, 80), (2, 14), (3, 6)])
        rows = {}  # by key: a row that meets another of its own statement is rare
        for _ in range(count):
            row = [self.value(column) for column in columns]
            key = tuple(value for column, value in zip(columns, row) if column.name in table.key())
            rows[key if self._chance(0.9) else len(rows)] = "(" + ",".join(row) + ")"
        return f"{verb} INTO {table.name}{names} VALUES {','.join(rows.values())}"

    def insert(self, table):
        return self.insert_head(table) + self.returning(table, 0.15)

    def insert_select(self, table):
        columns, names = table.written()
        key = table.unique[-1] if names else table.key()
        literals = {name: self.not_null(table.column(name)) for name in key}
        values = ",".join(literals.get(column.name) or self.value(column) for column in columns)
        where = " AND ".join(f"{name}={literal}" for name, literal in literals.items())
        dual = "" if self.postgres else " FROM DUAL"
        return (f"INSERT INTO {table.name}{names} SELECT {values}{dual} "
                f"WHERE NOT EXISTS (SELECT 1 FROM {table.name} WHERE {where})")

    def upsert(self, table):
        if self.postgres:
            return self.on_conflict(table)
        if self._chance(0.45):
            return self.insert_head(table, "INSERT IGNORE")
        column = self.rng.choice(table.others() or [table.columns[-1]])
        changes = [self.assignment(column), f"{column.name}=VALUES({column.name})"]
        if column.kind == "text" and column.name == "v":
            changes.append(f"{column.name}=CONCAT({column.name},VALUES({column.name}))")
        return f"{self.insert_head(table)} ON DUPLICATE KEY UPDATE {self.rng.choice(changes)}"

    def on_conflict(self, table):
        index = self.rng.randrange(len(table.unique))
        target = "(" + ", ".join(table.unique[index]) + ")"
        if table.partial and index == len(table.unique) - 1:
            target += f" WHERE {table.partial}"
        head = self.insert_head(table)
        if self._chance(0.5):
            target = "" if self._chance(0.35) else target + " "
            return f"{head} ON CONFLICT {target}DO NOTHING{self.returning(table, 0.5)}"
        column = self.rng.choice(table.others() or [table.columns[-1]])
        changes = [f"{column.name}=EXCLUDED.{column.name}", f"{column.name}={self.value(column)}"]
        if column.kind == "int":
            changes.append(f"{column.name}={table.name}.{column.name}+1")
        if column.kind == "text" and column.name == "v":
            changes.append(f"{column.name}={table.name}.{column.name}||EXCLUDED.{column.name}")
        where = ""
        if self._chance(0.4):
            where = f" WHERE {table.name}.{self.other_condition(table)}"
        change = self.rng.choice(changes)
        return f"{head} ON CONFLICT {target} DO UPDATE SET {change}{where}{self.returning(table, 0.5)}"

    # ---- Changes ----

    def update(self, table):
        if table.name == "idempotency_record" and self._chance(0.5):
            return self.compare_and_set()
        sql = f"UPDATE {table.name} SET {self.assignments(table)}{self.condition(table)}"
        return sql + self.returning(table, 0.2)

    def compare_and_set(self):
        me = self.rng.choice(["'w1'", "'w2'"])
        key = self.rng.choice(["'K1'", "'K1'", "'K2'"])
        return self.rng.choice([
            "UPDATE idempotency_record SET state='SUCCESS', version=version+1 "
            f"WHERE identity_id={key} AND state='PROCESSING' AND (lease_expire_at > NOW() OR owner_id={me})",
            f"UPDATE idempotency_record SET owner_id={me}, version=version+1, lease_expire_at={FUTURE} "
            f"WHERE identity_id={key} AND state='PROCESSING' AND lease_expire_at < NOW()",
            "UPDATE idempotency_record SET state='SUCCESS', version=version+1 "
            f"WHERE identity_id={key} AND state='PROCESSING' AND owner_id={me} AND version=1",
            f"UPDATE idempotency_record SET lease_expire_at={self.rng.choice([PAST, FUTURE])} "
            f"WHERE identity_id={key} AND owner_id={me}"])

    def delete(self, table):
        return f"DELETE FROM {table.name}{self.condition(table)}{self.returning(table, 0.2)}"

    # ---- Reads ----

    def columns(self, table):
        if self._chance(0.25):
            return "*"
        return ", ".join(column.name for column in self.rng.sample(table.columns, 1 + self._chance(0.3)))

    def select(self, table):
        kind = self._weighted([("rows", 50), ("count", 20), ("sum", 10), ("order", 10), ("group", 6), ("join", 8)])
        where = self.condition(table)
        if kind == "count":
            return f"SELECT count(*) FROM {table.name}{where}"
        if kind == "sum":
            column = next((one for one in table.columns if one.kind == "int"), table.columns[0])
            name = self.rng.choice(["min", "max"] + (["sum", "sum"] if column.kind == "int" else []))
            return f"SELECT {name}({column.name}) FROM {table.name}{where}"
        if kind == "order":
            key = ", ".join(table.key())
            limit = f" LIMIT {self.rng.choice([1, 2])}" if self._chance(0.5) else ""
            return f"SELECT {self.columns(table)} FROM {table.name}{where} ORDER BY {key}{limit}"
        if kind == "group":
            column = self.rng.choice(table.others() or table.columns).name
            having = self.rng.choice(["", "", " HAVING count(*) > 1"])
            return f"SELECT {column}, count(*) FROM {table.name}{where} GROUP BY {column}{having}"
        if kind == "join" and len(self.tables) > 1:
            return self.join()
        return f"SELECT {self.columns(table)} FROM {table.name}{where}"

    def join(self):
        one, other = self.tables
        if other.parent:
            return self.rng.choice(["SELECT child.id, parent.v FROM child JOIN parent ON parent.id = child.pid",
                                    "SELECT child.id, parent.v FROM child LEFT JOIN parent ON parent.id = child.pid"])
        pairs = [(left, right) for left in one.columns for right in other.columns
                 if left.kind == right.kind and self._is_key_like(left) and self._is_key_like(right)]
        if not pairs:
            return f"SELECT count(*) FROM {one.name}, {other.name}"
        left, right = self.rng.choice(pairs)
        return (f"SELECT {one.name}.{left.name}, {other.name}.{other.columns[-1].name} FROM {one.name} "
                f"JOIN {other.name} ON {other.name}.{right.name} = {one.name}.{left.name}")

    def locking_select(self, table):
        if self.postgres:
            lock = self._weighted([("FOR UPDATE", 60), ("FOR SHARE", 25), ("FOR NO KEY UPDATE", 8),
                                   ("FOR KEY SHARE", 7)])
        else:
            lock = self._weighted([("FOR UPDATE", 65), ("LOCK IN SHARE MODE", 35)])
        lock += self._weighted([("", 76), (" NOWAIT", 10), (" SKIP LOCKED", 14)])
        order = ""
        if self._chance(0.2):
            order = f" ORDER BY {', '.join(table.key())}" + (" LIMIT 1" if self._chance(0.5) else "")
        return f"SELECT {self.columns(table)} FROM {table.name}{self.condition(table)}{order} {lock}"

    def special(self, table):
        """Claims by a subquery, writing CTEs."""
        if table.name in ("q", "qi"):
            skip = self.rng.choice(["", " FOR UPDATE", " FOR UPDATE SKIP LOCKED"]) if self.postgres else ""
            again = self.rng.choice(["", " AND state='NEW'"])
            return (f"UPDATE {table.name} SET state='TAKEN', owner='{self.label}' "
                    f"WHERE id=(SELECT id FROM {table.name} WHERE state='NEW' ORDER BY id LIMIT 1{skip})"
                    f"{again}{self.returning(table, 0.4)}")
        if self.postgres and self._chance(0.6):
            column = table.columns[-1].name
            write = self.rng.choice([f"{self.insert_head(table)} ON CONFLICT DO NOTHING",
                                     f"UPDATE {table.name} SET {self.assignments(table)}{self.condition(table)}",
                                     f"DELETE FROM {table.name}{self.condition(table)}"])
            return f"WITH w AS ({write} RETURNING {column}) SELECT {column} FROM w"
        if not self.postgres and self._chance(0.5):
            return f"UPDATE {table.name} SET {self.assignments(table)} ORDER BY {table.key()[0]} LIMIT 1"
        return self.update(table)
