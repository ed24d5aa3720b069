"""The contenders, their programs, and how one of them is run on fresh copies of its database."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
BUILD = PACKAGE / ".build"
# The folder that Scripts/agreement and Scripts/oracle build in: the library is compiled once for all.
PRODUCTS = PACKAGE.parent / ".build-release"
RELEASE = PRODUCTS / "release"
WORK = BUILD / "yardstick"

# insert            make all patients, with their injury, and save them in one transaction
# fetch             fetch all; ours read nothing, plain C reads everything
# fetchRead         fetch all and read every attribute
# filter            two conditions, a sort and a limit of 100; read every attribute
# lookup            half of the patients by key, each once, none in memory; read every attribute
# lookupRegistered  the same half, all in memory; read the age
# update            change the weight of a tenth and save; the fetch is not counted
# delete            delete a tenth and save; the fetch is not counted
# toOne             fetch patients and injuries; read the name of each patient's injury
# toMany            one injury after the other, all its patients; read every attribute
# commit            500 transactions of one new patient
# open              open the file and read one patient
# toOneWalk         one hop from each patient to an injury that was reached before
# toManyPrefetch    all injuries with all their patients, in as few statements as the contender can; read every attribute
# faults            a tenth of the patients, of which the keys are known, one after the other; read every attribute
# undo              take one change of each patient back
# redo              do it again
# saveDirty         save another weight of one patient in a hundred, while all are in memory; setting it is not counted
# request           a thousand times: a context, 20 patients by an indexed attribute, read, dropped; plain C keeps its statement
# filterSort        a beginning of a text and a number, two sort keys and a limit of 100; read every attribute
# lookupIndexed     a thousand times: one patient by an indexed name; read every attribute; plain C keeps its statement
# aggregate         number, sum and average of an attribute, grouped by another
# dictionary        three attributes of each patient, by name; plain C makes structs
# swiftDictionary   the same as Swift's own dictionaries (fetchDictionaries); GRDB has its rows here, too
# columns           keys and two attributes of each patient as parallel arrays, sorted by a third
# inList            patients whose name is in a list of 10,000 (by json_each in plain C), a tenth; read every attribute
# join              visits by the floor of their ward and the city of its hospital; read both attributes
# parse             a thousand predicates from text; plain C prepares the statements of the same meaning, GRDB builds them
# batchInsert       a batch insertion with a block that fills an object; a million rows in Scripts/bench
# history           make all patients in saves of a thousand, recorded in the history that Core Data keeps
# historyRead       read the changes that these saves have recorded
# migrateAdd        open a store with a model that has a further attribute with a default value; a million rows in Scripts/bench
# migrateRename     the same with a renamed entity, whose rows get another number, and a renamed attribute
# migrateMapping    carry the objects to a new store by a mapping model; to fetching, inserting and saving as many with us
# free              let go of all fetched patients
# memory            heap that fetched patients keep
TASKS = [
    "insert", "fetch", "fetchRead", "filter", "lookup", "lookupRegistered", "update", "delete", "toOne",
    "toMany", "commit", "open", "free", "memory", "toOneWalk", "toManyPrefetch", "faults", "undo", "redo", "saveDirty",
    "request", "filterSort", "lookupIndexed", "aggregate", "dictionary", "swiftDictionary", "columns", "inList", "join", "parse",
    "batchInsert", "history", "historyRead", "migrateAdd", "migrateRename", "migrateMapping",
]
# Requests at once, beside a writer: timed after `request`, for ourselves alone.
LOADS, LOAD_REQUESTS = ["request1", "request32", "request1000"], 20_000
# Writers at once: what they save in a second when they share their owners, without and with order, to what they save when they
# share nothing; under these policies. For ourselves alone.
SHARED, SHARED_POLICIES = ["sharedNothing", "sharedOwners", "sharedOrder"], ["error", "storeTrump", "objectTrump"]
WRITING = {"insert", "update", "delete", "commit", "saveDirty", "batchInsert", "history", "migrateAdd", "migrateRename", "migrateMapping"}
# These begin with a file of Core Data's layout, whoever changes it.
MIGRATING = {"migrateAdd", "migrateRename"}
# These start with no file, and of them `join` fills one before it measures.
UNSEEDED = {"insert", "batchInsert", "join", "history", "historyRead", *SHARED}
# Attributes that a task's file has an index of, which the other tasks' tables are without.
INDEXED = {"request": "admitted", "request1": "admitted", "request32": "admitted", "request1000": "admitted", "lookupIndexed": "name"}


# These run on ten times the rows: a thousand parents of a hundred children, one per cent of a hundred thousand.
LARGE = {"toManyPrefetch": 10, "saveDirty": 10}


def rows_of(task, rows):
    return rows * LARGE.get(task, 1)


def unit_count(task, rows):
    """How many rows, objects, look-ups or transactions a task is about."""
    rows = rows_of(task, rows)
    return {
        "filter": min(rows, 100), "lookup": rows // 2, "lookupRegistered": rows // 2, "update": rows // 10,
        "delete": rows // 10, "commit": 500, "open": 1, "faults": rows // 10, "saveDirty": rows // 100,
        "request": 1000, "filterSort": min(rows, 100), "lookupIndexed": 1000, "parse": 1000,
    }.get(task, rows)


class Contender:
    """A program, its environment, the layout of its tables and the tasks it has no counterpart for."""

    def __init__(self, name, title, program, layout, lacks=(), environment=None, tasks=None):
        self.name, self.title, self.program, self.layout = name, title, program, layout
        self.lacks, self.environment = set(lacks), environment or {}
        # What its program calls a task, where that is not the name.
        self.tasks = tasks or {}

    def layout_of(self, task):
        return "objects" if task in MIGRATING else self.layout

    def has(self, task):
        return task not in self.lacks


NO_MIGRATION = {"migrateAdd", "migrateRename", "migrateMapping"}
NO_LANGUAGE = {"join", "parse"}
NO_HISTORY = {"history", "historyRead"}
NO_GRAPH = {"toOneWalk", "undo", "redo"}
NO_OBJECTS = {"fetch", "lookupRegistered", "toManyPrefetch", "faults", "saveDirty", "request"} | NO_GRAPH | NO_HISTORY
CONTENDERS = [
    Contender("c", "plain C", BUILD / "plainc", "plain", {"lookupRegistered", "migrateMapping"} | NO_GRAPH),
    Contender("swift", "C API from Swift", RELEASE / "RawSwift", "plain", NO_OBJECTS | NO_LANGUAGE | NO_MIGRATION),
    Contender("grdb", "GRDB, by hand", RELEASE / "GRDBRecords", "plain", NO_OBJECTS | NO_MIGRATION),
    Contender(
        "grdbCodable", "GRDB, Codable", RELEASE / "GRDBRecords", "plain", NO_OBJECTS | NO_MIGRATION,
        {"GRDB_RECORDS": "codable"}),
    Contender(
        "copied", "fetch, insert, save", RELEASE / "OpenCoreDataObjects", "objects", set(TASKS) - {"migrateMapping"},
        tasks={"migrateMapping": "copyObjects"}),
    Contender("opencoredata", "OpenCoreData", RELEASE / "OpenCoreDataObjects", "objects"),
]
BY_NAME = {contender.name: contender for contender in CONTENDERS}


def base_of(task):
    """What a task is compared with: plain C, but where that has no counterpart."""
    return BY_NAME[{"memory": "swift", "migrateMapping": "copied"}.get(task, "c")]


class Stop(Exception):
    """A reason to end, as a sentence."""


def run_tool(command, doing, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        output = result.stdout[-3000:] + result.stderr[-3000:]
        raise Stop(f"{doing} failed ({' '.join(map(str, command))}):\n{output}")
    return result


def install(tools_and_packages):
    """Installs what is missing with apt; only root can."""
    missing = [package for is_present, package in tools_and_packages if not is_present()]
    if not missing:
        return
    names = " ".join(missing)
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise Stop(f"Missing: {names}. Install them (as root: apt-get install {names}) and run this again.")
    print(f"installing {names}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run_tool(["apt-get", "update", "-qq"], "apt-get update", env=environment)
    run_tool(["apt-get", "install", "-y", "-qq", *missing], f"installing {names}", env=environment)


def require_tools():
    if not shutil.which("swift"):
        raise Stop("There is no swift on the PATH; install Swift 6.3 (https://www.swift.org/install/linux).")
    install([
        (lambda: shutil.which("gcc"), "gcc"),
        (lambda: shutil.which("valgrind") and Path("/usr/include/valgrind/callgrind.h").exists(), "valgrind"),
        (lambda: Path("/usr/include/sqlite3.h").exists(), "libsqlite3-dev"),
        (lambda: Path("/usr/include/libxml2/libxml/xmlreader.h").exists(), "libxml2-dev"),
        (lambda: shutil.which("pkg-config"), "pkg-config"),
    ])


def build(contenders, counters=False):
    """Builds the programs, in the order of the table, and the counters when asked."""
    WORK.mkdir(parents=True, exist_ok=True)
    for program in dict.fromkeys(c.program for c in contenders):
        print(f"building {program.name}", file=sys.stderr)
        if program.name == "plainc":
            sources = sorted((PACKAGE / "PlainC").glob("*.c"))
            include = PACKAGE / "Sources/CYardstick"
            run_tool(
                ["gcc", "-O2", "-I", include / "include", "-o", program, *sources, include / "probe.c",
                 "-lsqlite3", "-ldl"], "building the program of plain C")
        else:
            run_tool(
                ["swift", "build", "--disable-build-manifest-caching", "-c", "release", "--package-path", PACKAGE,
                 "--scratch-path", PRODUCTS, "--product", program.name],
                f"building {program.name}")
    if counters:
        run_tool(
            ["gcc", "-O2", "-fPIC", "-shared", "-o", BUILD / "counters.so",
             PACKAGE / "Counting/counters.c", "-ldl"],
            "building the counters")


# Held while files are made that all counts share.
SHARING = threading.Lock()


def place():
    """Part of the names of a count's files: counts are made side by side. Always as long, as paths are a part of what is counted."""
    return f"{threading.get_native_id():08}"


def without_debug_information(program):
    """A copy for valgrind, which stumbles over Swift's DWARF 5. The name stays: classes are looked up by it."""
    copy = BUILD / "stripped" / program.name
    with SHARING:
        if not copy.exists() or copy.stat().st_mtime < program.stat().st_mtime:
            copy.parent.mkdir(exist_ok=True)
            run_tool(["strip", "--strip-debug", "-o", copy, program], "removing debug information")
    return copy


def add_index(path, layout, attribute):
    """Indexes the attribute that a task asks by; the other tasks' tables stay as they are."""
    database = sqlite3.connect(path)
    place = {"plain": f"patient({attribute})", "objects": f"ZPATIENT(Z{attribute.upper()})"}[layout]
    database.execute(f"CREATE INDEX requested ON {place}")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def remove_database(path):
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


class Runs:
    """Runs programs on databases of `rows` patients, each seeded once by a program of the same layout."""

    def __init__(self, rows, environment=None):
        self.rows = rows
        self.environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1", **(environment or {})}
        self.tag = "-".join((environment or {}).values())
        self.seeds, self.seeding = {}, threading.Lock()

    def seed(self, layout, rows):
        with self.seeding:
            return self.seeded(layout, rows)

    def seeded(self, layout, rows):
        if (layout, rows) not in self.seeds:
            path = WORK / f"seed-{layout}-{rows}{self.tag}.sqlite"
            remove_database(path)
            writer = BY_NAME["c"] if layout == "plain" else BY_NAME["opencoredata"]
            self.invoke(writer, "seed", rows, [path])
            database = sqlite3.connect(path)
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.close()
            self.seeds[layout, rows] = path
        return self.seeds[layout, rows]

    def invoke(self, contender, task, rows, paths, prefix=(), environment=None):
        # What is counted lies in a folder of its own: a migration looks for models beside the program.
        is_counted = bool(prefix or environment)
        program = without_debug_information(contender.program) if is_counted else contender.program
        command = [*prefix, program, contender.tasks.get(task, task), str(rows), *paths]
        environment = {**self.environment, **contender.environment, **(environment or {})}
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        if result.returncode != 0:
            output = (result.stderr or result.stdout).strip()[-2000:]
            raise Stop(f"{contender.title} failed at {task}: {output}")
        reports = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        if len(reports) != len(paths):
            raise Stop(f"{contender.title} reported {len(reports)} of {len(paths)} repetitions of {task}.")
        return reports, result.stderr

    def run(self, contender, task, repetitions=1, prefix=(), environment=None):
        """Warms up once, repeats, and answers the reports with what the digest of the work is."""
        rows = rows_of(task, self.rows)
        count = 1 + (1 if task in WRITING else repetitions)
        numbers = range(count) if task in WRITING or task in UNSEEDED else [0] * count
        paths = [WORK / f"run-{place()}-{number}.sqlite" for number in numbers]
        for path in dict.fromkeys(paths):
            remove_database(path)
            if task not in UNSEEDED:
                shutil.copyfile(self.seed(contender.layout_of(task), rows), path)
            if task in INDEXED:
                add_index(path, contender.layout, INDEXED[task])
        try:
            reports, errors = self.invoke(contender, task, rows, paths, prefix, environment)
            return reports[1:], self.digest(contender, task, reports[-1], paths[-1]), errors
        finally:
            for path in dict.fromkeys(paths):
                remove_database(path)

    def run_once(self, contender, task, prefix):
        """One repetition on exactly `rows`, without warming up, its result unchecked."""
        path = WORK / f"run-{place()}.sqlite"
        remove_database(path)
        shutil.copyfile(self.seed(contender.layout, self.rows), path)
        try:
            self.invoke(contender, task, self.rows, [path], prefix)
        finally:
            remove_database(path)

    def digest(self, contender, task, report, path):
        """What the program read, or what it left in the file; equal for all contenders of a task."""
        if task not in WRITING:
            return f"{report['whole']} {report['weight']:.1f}"
        return tables_digest(path) if task in MIGRATING else database_digest(contender.layout, path)


QUERIES = {
    "plain": """SELECT patient.name, age, admitted, weight, note, photo, injury.name
                FROM patient LEFT JOIN injury ON injury.id = injury ORDER BY patient.id""",
    "objects": """SELECT p.ZNAME, ZAGE, ZADMITTED, ZWEIGHT, ZNOTE, ZPHOTO, i.ZNAME
                  FROM ZPATIENT p LEFT JOIN ZINJURY i ON i.Z_PK = ZINJURY ORDER BY p.Z_PK""",
}


def database_digest(layout, path):
    database = sqlite3.connect(path)
    try:
        digest, count = hashlib.sha256(), 0
        for name, age, admitted, weight, note, photo, injury in database.execute(QUERIES[layout]):
            row = (name, age, float(admitted), round(float(weight), 6), note, photo, injury)
            digest.update(repr(row).encode())
            count += 1
        check = database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()
    if check != "ok":
        raise Stop(f"The database is damaged: {check}")
    return f"{count} rows, {digest.hexdigest()[:16]}"


def tables_digest(path):
    """Every column of every row, and what the tables and their indexes were made with."""
    database = sqlite3.connect(path)
    try:
        digest = hashlib.sha256()
        for kind, name, table, sql in database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall():
            if not table.startswith("Z") or table.startswith("Z_"):
                continue
            digest.update(f"{name} {sql}".encode())
            for row in database.execute(f'SELECT * FROM "{table}" ORDER BY Z_PK') if kind == "table" else []:
                digest.update(repr(row).encode())
        check = database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()
    if check != "ok":
        raise Stop(f"The database is damaged: {check}")
    return digest.hexdigest()[:16]


class Digests:
    """Holds the contenders to the same work."""

    def __init__(self):
        self.first = {}

    def check(self, contender, task, digest):
        other, expected = self.first.setdefault(task, (contender, digest))
        if digest != expected:
            raise Stop(
                f"{task}: {contender.title} ended with {digest}, but {other.title} with {expected}; "
                "the figures would not compare the same work.")
