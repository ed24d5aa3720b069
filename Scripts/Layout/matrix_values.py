"""Compares the rows of a store before and after its migration, by SQL and the two models' XML; shares no code with the library."""

import filecmp
import re
import sqlite3
from pathlib import Path

GROUPS = [
    {"Integer 16", "Integer 32", "Integer 64", "Boolean"}, {"Float", "Double", "Date"}, {"Decimal"}, {"String"}, {"URI"}, {"UUID"},
    {"Transformable"}, {"Binary"}]


def group(prop):
    """Where a column stands among those of its entity."""
    if not prop.is_attribute:
        return 0.5
    return next((number for number, types in enumerate(GROUPS) if prop.type in types), 9)


class Store:
    def __init__(self, path, model):
        self.path, self.model = Path(path), model
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.database.text_factory = bytes
        self.numbers = {name.decode(): number for number, name in self.database.execute("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")}
        self.tables = {
            name.decode(): {row[1].decode(): row[2] for row in self.database.execute(f'PRAGMA table_info("{name.decode()}")')}
            for name, in self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
        self.columns = {}
        for root in (name for name, entity in model.entities.items() if not entity.parent):
            self.name_columns(root)

    def close(self):
        self.database.close()

    def indexes(self):
        """Table, uniqueness and columns of each, whatever its name."""
        return {
            (table, unique, tuple(row[2].decode() if row[2] else "" for row in self.database.execute(f'PRAGMA index_info("{index[1].decode()}")')))
            for table in self.tables for index in self.database.execute(f'PRAGMA index_list("{table}")').fetchall()
            if index[3] == b"c" for unique in [index[2]]}

    # Names

    def depth_first(self, name):
        yield name
        for child in sorted((e.name for e in self.model.entities.values() if e.parent == name), key=str.lower):
            yield from self.depth_first(child)

    def name_columns(self, root):
        """A later property of the same name gets a number."""
        taken = set()
        for name in self.depth_first(root):
            for prop in sorted(self.model.entities[name].own, key=lambda p: (group(p), p.name.encode())):
                if prop.transient or prop.to_many or prop.type == "Composite":
                    continue
                base = column = "Z" + prop.name.upper()
                number = 0
                while column in taken:
                    number += 1
                    column = f"{base}{number}"
                taken.add(column)
                self.columns[prop] = column

    def table(self, entity):
        return "Z" + self.model.root(entity).upper()

    def missing(self):
        """Columns that the model has and the file has not."""
        return [f"{self.table(prop.owner)}.{column}" for prop, column in self.columns.items()
                if column not in self.tables.get(self.table(prop.owner), {})]

    # Rows

    def rows(self, entity):
        """The rows of exactly this entity: key to columns."""
        table = self.table(entity)
        if table not in self.tables:
            return {}
        names = list(self.tables[table])
        quoted = ", ".join(f'"{name}"' for name in names)
        found = self.database.execute(f'SELECT {quoted} FROM "{table}" WHERE Z_ENT = ?', (self.numbers.get(entity, -1),))
        return {row[names.index("Z_PK")]: dict(zip(names, row)) for row in found}

    def content(self, prop, value):
        """What a value means: data may lie in a file of their own."""
        if not prop.external or value is None:
            return value
        if value[:1] == b"\x01":
            return value[1:]
        name = value[1:-1].decode()
        place = self.path.parent / f".{self.path.stem}_SUPPORT" / "_EXTERNAL_DATA" / name
        return place.read_bytes() if place.exists() else f"the file {name} is missing"

    # Members

    def pairs(self, prop):
        """Owner and member of a relationship, and the place of the member; as (owner, member): place."""
        if not prop.to_many:
            return {pair: None for pair in self.keys(prop)}
        inverse = self.model.inverse(prop)
        if inverse is None:
            column = f"Z{self.numbers[prop.owner]}{prop.name.upper()}"
            return self.keyed(prop.target, column, f"Z_FOK_{column[1:]}")
        if not inverse.to_many:
            return self.keyed(inverse.owner, self.columns[inverse], f"Z_FOK_{inverse.name.upper()}")
        return self.joined(prop, inverse)

    def keys(self, prop):
        table, column = self.table(prop.owner), self.columns[prop]
        kinds = ", ".join(str(self.numbers[kind]) for kind in self.model.kinds(prop.owner) if kind in self.numbers)
        return self.database.execute(f'SELECT Z_PK, "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL AND Z_ENT IN ({kinds})').fetchall()

    def keyed(self, entity, column, order):
        """The owner stands in the member's row."""
        table = self.table(entity)
        place = f'"{order}"' if order in self.tables[table] else "NULL"
        kinds = ", ".join(str(self.numbers[kind]) for kind in self.model.kinds(entity) if kind in self.numbers)
        sql = f'SELECT "{column}", Z_PK, {place} FROM "{table}" WHERE "{column}" IS NOT NULL AND Z_ENT IN ({kinds})'
        return {(owner, member): at for owner, member, at in self.database.execute(sql)}

    def joined(self, prop, inverse):
        """The table is named after one of the two; a column has a number at its end where another one has its name."""
        owner = f"Z_{self.numbers[prop.owner]}{inverse.name.upper()}"
        member = "REFLEXIVE" if inverse is prop else f"Z_{self.numbers[inverse.owner]}{prop.name.upper()}"
        for table in (f"Z_{self.numbers[prop.owner]}{prop.name.upper()}", f"Z_{self.numbers[inverse.owner]}{inverse.name.upper()}"):
            columns = self.tables.get(table, {})
            first, second = (
                name if name in columns else next((c for c in columns if re.fullmatch(re.escape(name) + r"\d*", c)), None)
                for name in (owner, member))
            if not first or not second:
                continue
            orders = ["FOK_REFLEXIVE", f"Z_FOK_{first[2:]}"] if inverse is prop else [f"Z_FOK_{second[2:]}"]
            order = next((f'"{name}"' for name in orders if name in columns), "NULL")
            sql = f'SELECT "{first}", "{second}", {order} FROM "{table}"'
            return {(one, other): place for one, other, place in self.database.execute(sql)}
        raise LookupError(f"no join table of {prop} with {owner} and {member}")

    def unfilled(self):
        """Entities without rows and relationships without members, of those that can have any."""
        concrete = [name for name, entity in self.model.entities.items() if not entity.abstract]
        found = [name for name in concrete if not self.rows(name)]
        for entity in self.model.entities.values():
            for prop in entity.own:
                if prop.is_attribute or prop.transient:
                    continue
                ends = [any(kind in concrete for kind in self.model.kinds(end)) for end in (prop.owner, prop.target)]
                if all(ends) and not self.pairs(prop):
                    found.append(repr(prop))
        return found

    def entity_of(self, root):
        """Key to number of entity, in one tree."""
        return dict(self.database.execute(f'SELECT Z_PK, Z_ENT FROM "{self.table(root)}"'))


def default_of(prop):
    if prop.default is None:
        return None
    if prop.type in ("Integer 16", "Integer 32", "Integer 64"):
        try:
            return int(float(prop.default))
        except ValueError:
            return 0  # a text that is no number, as `NO`
    if prop.type == "Boolean":
        return 1 if prop.default in ("YES", "1", "true") else 0
    if prop.type in ("Float", "Double", "Date", "Decimal"):
        return float(prop.default)
    return prop.default.encode() if prop.type in ("String", "URI") else bytes.fromhex(prop.default.replace("-", ""))


class Comparison:
    """All that differs from what the two models say, as sentences."""

    def __init__(self, pair, before, after, fresh):
        self.pair, self.before, self.after = pair, Store(before, pair.earlier), Store(after, pair.later)
        self.fresh = Store(fresh, pair.later) if Path(fresh).exists() else None
        self.differences, self.values = [], 0

    def run(self):
        try:
            check = self.after.database.execute("PRAGMA integrity_check").fetchone()[0]
            if check != b"ok":
                self.note(f"the file is damaged: {check}")
            for column in self.after.missing():
                self.note(f"there is no column {column}")
            self.compare_indexes()
            if not self.differences:
                for name in self.pair.later.entities:
                    self.compare_rows(name)
                    for prop in self.pair.later.entities[name].own:
                        if not prop.is_attribute and not prop.transient:
                            self.compare_members(name, prop)
        finally:
            for store in (self.before, self.after, self.fresh):
                if store:
                    store.close()
        return self.differences

    def compare_indexes(self):
        """Each index of a new store has one over the same columns, and there is no other constraint. No fetch index is in a
        version's hash: where models differ in no more than that, the store fits as it is."""
        if not self.fresh or filecmp.cmp(self.before.path, self.after.path, shallow=False):
            return
        made, wanted = self.after.indexes(), self.fresh.indexes()
        for table, unique, columns in sorted(wanted - made, key=str):
            self.note(f"{table} has no {'constraint' if unique else 'index'} over {columns}")
        for table, unique, columns in sorted(made - wanted, key=str):
            if unique:
                self.note(f"{table} has a constraint over {columns}")

    def note(self, text):
        if len(self.differences) < 20:
            self.differences.append(text)

    def compare_rows(self, name):
        source = self.pair.sources.get(name)
        after = self.after.rows(name)
        if not source:
            return self.note(f"{name} is new and has {len(after)} rows") if after else None
        before = self.before.rows(source.name)
        if set(before) != set(after):
            return self.note(f"{name} has the rows {sorted(after)[:9]}, and there were {sorted(before)[:9]}")
        for key, row in after.items():
            if row["Z_OPT"] != before[key]["Z_OPT"]:
                self.note(f"{name} {key} has the version {row['Z_OPT']}, and had {before[key]['Z_OPT']}")
        for prop in self.pair.later.properties(name):
            if prop.is_attribute and not prop.transient and not prop.derived and prop.type != "Composite":
                self.compare_values(name, prop, self.pair.origin(name, prop), before, after)

    def compare_values(self, name, prop, former, before, after):
        column = self.after.columns[prop]
        if former and (former.transient or former.type == "Composite"):
            former = None
        for key, row in after.items():
            value = self.after.content(prop, row[column])
            expected = self.before.content(former, before[key][self.before.columns[former]]) if former else default_of(prop)
            if former and expected is None and not prop.optional:
                expected = default_of(prop)
            self.values += 1
            if (type(value), value) != (type(expected), expected) and not self.is_number(value, expected):
                self.note(f"{name}.{prop.name} of {key} is {shown(value)}, not {shown(expected)}")

    @staticmethod
    def is_number(value, expected):
        numbers = (int, float)
        return isinstance(value, numbers) and isinstance(expected, numbers) and value == expected and not (
            isinstance(value, int) and isinstance(expected, int))

    # Members

    def compare_members(self, name, prop):
        former = self.pair.origin_of_declared(prop)
        inverse = self.pair.later.inverse(prop)
        back = self.pair.origin_of_declared(inverse) if inverse else None
        after = self.after.pairs(prop)
        self.values += len(after)
        if former and not former.transient:
            expected = self.before.pairs(former)
        elif back and not back.transient:
            expected = {(owner, member): None for member, owner in self.before.pairs(back)}
            former = None
        else:
            return self.note(f"{prop} is new and has {len(after)} members") if after else None
        trees = (former.owner, former.target) if former else (back.target, back.owner)
        owners, members = self.survivors(trees[0], prop.owner), self.survivors(trees[1], prop.target)
        expected = {pair: place for pair, place in expected.items() if pair[0] in owners and pair[1] in members}
        if not prop.to_many and not former and len({owner for owner, _ in expected}) < len(expected):
            return None  # one of several owners was taken
        if set(after) != set(expected):
            return self.note(f"{prop} has the members {sorted(after)[:9]}, and there were {sorted(expected)[:9]}")
        if prop.ordered and former and former.ordered and self.lists(after) != self.lists(expected):
            self.note(f"{prop} has another order")
        return None

    def survivors(self, name, kind):
        """Keys of a former tree whose entities are still there, as some kind."""
        left = {self.before.numbers[entity] for entity, later in self.pair.targets.items() if self.pair.later.is_kind(later, kind)}
        return {key for key, number in self.before.entity_of(self.pair.earlier.root(name)).items() if number in left}

    @staticmethod
    def lists(pairs):
        found = {}
        for (owner, member), place in pairs.items():
            found.setdefault(owner, []).append((place, member))
        return {owner: [member for _, member in sorted(members, key=lambda m: (m[0] is None, m[0]))] for owner, members in found.items()}


def shown(value):
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "…"


def equal_rows(store, constraint, entity):
    """Whether rows are equal in what is to be unique. Constraints are named after properties of the later model."""
    counts = {}
    for name in store.model.kinds(entity):
        columns = [store.columns.get(store.model.property(name, part)) for part in constraint]
        if None in columns:
            return False
        for row in store.rows(name).values():
            values = tuple(row[column] for column in columns)
            if None not in values:
                counts[values] = counts.get(values, 0) + 1
    return any(count > 1 for count in counts.values())
