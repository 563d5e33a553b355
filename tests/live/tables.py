"""Small tables for generated cases, in the shapes that idempotent endpoints use."""

from dataclasses import dataclass, field


@dataclass
class Column:
    name: str
    kind: str  # "text", "int" or "time"
    pool: list  # SQL literals to draw from
    nullable: bool = False
    default: bool = False  # an INSERT may leave it out
    fresh: bool = False  # the server gives the value: an INSERT leaves it out


@dataclass
class Table:
    name: str
    columns: list
    ddl: dict  # engine -> statements; "any" for both
    unique: list = field(default_factory=list)  # tuples of column names, the primary key first
    primary: bool = True  # the first of `unique` is the primary key
    partial: str = ""  # predicate of the partial unique index, the last of `unique`
    rows: list = field(default_factory=list)  # rows that the setup draws from
    parent: str = ""  # name of the table that this one references
    weight: int = 1

    def column(self, name):
        return next(column for column in self.columns if column.name == name)

    def key(self):
        return self.unique[0]

    def others(self):
        """Columns outside every unique key."""
        keyed = {name for key in self.unique for name in key}
        return [column for column in self.columns if column.name not in keyed]

    def tighten(self):
        """Two keys only, so that sessions meet."""
        for name in {name for key in self.unique for name in key}:
            pool = self.column(name).pool
            self.column(name).pool = [pool[0]] * 6 + [next(value for value in pool if value != pool[0])]

    def written(self):
        """The columns that an INSERT gives values for, and how it names them when it must."""
        columns = [column for column in self.columns if not column.fresh]
        return columns, "" if columns == self.columns else self.names(columns)

    @staticmethod
    def names(columns):
        return " (" + ", ".join(column.name for column in columns) + ")"

    def statements(self, engine):
        return self.ddl.get(engine) or self.ddl["any"]


def _texts(*values):
    return ["NULL" if value is None else f"'{value}'" for value in values]


def _ints(*values):
    return ["NULL" if value is None else str(value) for value in values]


PAST, FUTURE = "'2001-01-01 00:00:00'", "'2037-01-01 00:00:00'"
KEYS = _texts("k1", "k1", "k1", "k1", "k1", "k2", "k2", "k3", "k5")
IDS = _ints(1, 1, 1, 1, 1, 2, 2, 3, 5)


def tables():
    """New copies: a case may drop rows from them."""
    keyed = Table(
        "k", [Column("id", "text", KEYS), Column("v", "text", _texts("A", "B", "C"), nullable=True)],
        {"any": ["CREATE TABLE k (id varchar(64) PRIMARY KEY, v varchar(64))"]},
        [("id",)], rows=["('k1','old')", "('k3','old')", "('k9','old')"], weight=5)
    accounts = Table(
        "acc", [Column("id", "int", IDS), Column("bal", "int", _ints(0, 50, 100, 120))],
        {"any": ["CREATE TABLE acc (id int PRIMARY KEY, bal int)"]},
        [("id",)], rows=["(1,100)", "(2,100)", "(3,50)"], weight=5)
    requests = Table(
        "r", [Column("id", "int", IDS), Column("req", "text", KEYS), Column("v", "text", _texts("A", "B"), True)],
        {"any": ["CREATE TABLE r (id int PRIMARY KEY, req varchar(16) NOT NULL UNIQUE, v varchar(16))"]},
        [("id",), ("req",)], rows=["(1,'k1','old')", "(2,'k3','old')", "(9,'k9','old')"], weight=4)
    tenants = Table(
        "tk", [Column("tenant", "text", _texts("t1", "t1", "t2")), Column("req", "text", KEYS),
               Column("v", "text", _texts("A", "B"), True)],
        {"any": ["CREATE TABLE tk (tenant varchar(16), req varchar(16), v varchar(16), PRIMARY KEY (tenant, req))"]},
        [("tenant", "req")], rows=["('t1','k1','old')", "('t2','k1','old')"], weight=2)
    nullable = Table(
        "u", [Column("id", "int", IDS), Column("code", "int", _ints(1, 1, 2, None), True),
              Column("n", "int", _ints(0, 1, 2))],
        {"any": ["CREATE TABLE u (id int PRIMARY KEY, code int UNIQUE, n int NOT NULL DEFAULT 0)"]},
        [("id",), ("code",)], rows=["(1,1,0)", "(2,NULL,0)", "(5,7,0)"], weight=3)
    nullable.column("n").default = True
    jobs = Table(
        "job", [Column("id", "int", IDS), Column("name", "text", KEYS),
                Column("state", "text", _texts("LIVE", "LIVE", "DONE"))],
        {"postgres": ["CREATE TABLE job (id int PRIMARY KEY, name varchar(16), state varchar(16))",
                      "CREATE UNIQUE INDEX job_live ON job (name) WHERE state = 'LIVE'"]},
        [("id",), ("name",)], partial="state = 'LIVE'", rows=["(1,'k1','LIVE')", "(2,'k1','DONE')"], weight=3)
    work = Table(
        "q", [Column("id", "int", IDS), Column("state", "text", _texts("NEW", "TAKEN", "DONE")),
              Column("owner", "text", _texts("A", "B", None), True)],
        {"any": ["CREATE TABLE q (id int PRIMARY KEY, state varchar(16), owner varchar(16))"]},
        [("id",)], rows=["(1,'NEW',NULL)", "(2,'NEW',NULL)", "(3,'DONE','A')"], weight=3)
    indexed = Table(
        "qi", [Column("id", "int", IDS), Column("state", "text", _texts("NEW", "TAKEN", "DONE")),
               Column("owner", "text", _texts("A", "B", None), True)],
        {"any": ["CREATE TABLE qi (id int PRIMARY KEY, state varchar(16), owner varchar(16))",
                 "CREATE INDEX qi_state ON qi (state)"]},
        [("id",)], rows=["(1,'NEW',NULL)", "(2,'NEW',NULL)", "(3,'DONE','A')"], weight=2)
    parent = Table(
        "parent", [Column("id", "int", IDS), Column("v", "int", _ints(0, 1))],
        {"any": ["CREATE TABLE parent (id int PRIMARY KEY, v int)"]},
        [("id",)], rows=["(1,0)", "(2,0)"], weight=0)
    child = Table(
        "child", [Column("id", "int", IDS), Column("pid", "int", _ints(1, 1, 2, None), True)],
        {"any": ["CREATE TABLE child (id int PRIMARY KEY, pid int, FOREIGN KEY (pid) REFERENCES parent(id))"]},
        [("id",)], rows=["(1,1)"], parent="parent", weight=2)
    records = Table(
        "idempotency_record",
        [Column("identity_id", "text", _texts("K1", "K1", "K1", "K2")),
         Column("state", "text", _texts("PROCESSING", "PROCESSING", "SUCCESS")),
         Column("owner_id", "text", _texts("w1", "w2")), Column("version", "int", _ints(1, 1, 2), default=True),
         Column("lease_expire_at", "time", [PAST, FUTURE, "NULL"], True),
         Column("result", "text", _texts("A", None), True)],
        {"any": ["CREATE TABLE idempotency_record (identity_id varchar(64) PRIMARY KEY, state varchar(16) NOT NULL, "
                 "owner_id varchar(64), version int NOT NULL DEFAULT 0, lease_expire_at timestamp NULL, "
                 "result varchar(64))"]},
        [("identity_id",)],
        rows=[f"('K1','PROCESSING','w1',1,{PAST},NULL)", f"('K2','PROCESSING','w1',1,{FUTURE},NULL)"], weight=4)
    numbered = Table(
        "a", [Column("n", "int", _ints(1, 1, 2, 3), fresh=True), Column("req", "text", KEYS),
              Column("v", "text", _texts("A", "B"), True)],
        {"postgres": ["CREATE TABLE a (n serial PRIMARY KEY, req varchar(16) UNIQUE, v varchar(16))"],
         "mariadb": ["CREATE TABLE a (n int AUTO_INCREMENT PRIMARY KEY, req varchar(16) UNIQUE, v varchar(16))"]},
        [("n",), ("req",)], rows=["('k1','old')", "('k3','old')"], weight=2)
    return [keyed, accounts, requests, tenants, nullable, jobs, work, indexed, parent, child, records, numbered]


def draw_tables(rng, engine):
    """One table, or two; a child comes with its parent."""
    known = [table for table in tables() if engine in table.ddl or "any" in table.ddl]
    chosen = rng.choices(known, [table.weight for table in known])[0]
    if chosen.parent:
        return [next(table for table in known if table.name == chosen.parent), chosen]
    if rng.random() < 0.2:
        plain = [table for table in known if table.weight and not table.parent and table.name != chosen.name]
        return [chosen, rng.choice(plain)]
    return [chosen]
