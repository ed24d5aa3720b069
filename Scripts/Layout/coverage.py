"""Which declarations of a table a build has, by its symbol graphs, and whether tests run them.

A declaration is here when the graphs hold a public symbol of the same owner and the same name with argument labels; types of parameters
and results are not compared. In particular:

  a type          is here under its name, or nested in another type
  a conformance   is here when the type, of whatever module, or one of its superclasses declares it
  a member        is here as well when a superclass has it
  an overload     is here when the owner has as many symbols of the name as rows have come so far, which differ in types alone
  what refuses    is missing: a symbol that is unavailable, or whose comment says "- Unsupported:"
  what is idle    is missing, where counts of executions are given: a symbol that has a body, and no test ran it

Rows that are not portable are not measured.
"""
import collections
import csv
import json
import re
from pathlib import Path

TYPES = {"class", "struct", "enum", "protocol"}
TYPE_SYMBOLS = {"swift." + kind for kind in TYPES | {"typealias"}}
Row = collections.namedtuple("Row", "type kind name area portable importance current")


def read(path):
    """The rows of a table of declarations."""
    with open(path) as lines:
        return [Row(**row) for row in csv.DictReader(lines, delimiter="\t")]


def executions(path):
    """How often each function ran, by its mangled name, from the JSON that a run of the tests for coverage leaves."""
    counts = collections.Counter()
    for unit in json.loads(Path(path).read_text())["data"]:
        for function in unit.get("functions", []):
            counts[function["name"]] = max(counts[function["name"]], function["count"])
    return counts


def bodies(identifier):
    """The mangled names that a symbol's code may have: a getter stands for a property, and a class's initializer is two functions."""
    mangled = "$s" + identifier.partition("::SYNTHESIZED::")[0].removeprefix("s:")
    mangled = re.sub(r"([vi])p(Z?)$", r"\1g\2", mangled)
    return {re.sub(r"f[cC]$", ending, mangled) for ending in ("fc", "fC")}


def foreign(identifier):
    """The name of a type of another module, whose parts stand behind their lengths: `s:10Foundation8NSNumberC`."""
    parts, rest = [], identifier.removeprefix("s:")
    while length := re.match(r"\d+", rest):
        rest = rest[length.end():]
        parts.append(rest[:int(length[0])])
        rest = re.sub("^[CVO]", "", rest[int(length[0]):])
    return ".".join(parts[1:])


class Build:
    """What the symbol graphs of a build declare, of what neither refuses nor is idle."""

    def __init__(self, graphs, counts=None):
        self.counts = counts or {}
        self.members, self.types = collections.Counter(), set()
        self.superclasses, self.conformances = {}, set()
        contents = [json.loads(Path(graph).read_text()) for graph in graphs]
        names = {}
        for symbol in (symbol for graph in contents for symbol in graph["symbols"]):
            names[symbol["identifier"]["precise"]] = self.enter(symbol)
        for relationship in (relationship for graph in contents for relationship in graph["relationships"]):
            self.relate(relationship, names)

    def enter(self, symbol):
        """Counts a symbol under its name with all owners, which it returns."""
        path = ".".join(symbol["pathComponents"])
        if not self.refuses(symbol) and not self.is_idle(symbol["identifier"]["precise"]):
            self.members[path] += 1
            if symbol["kind"]["identifier"] in TYPE_SYMBOLS:
                self.types.add(path)
        return path

    def relate(self, relationship, names):
        kind, source = relationship["kind"], relationship["source"]
        owner = names.get(source) or (foreign(source) if kind == "conformsTo" else None)
        # What this build does not declare has its module's name in front.
        other = names.get(relationship["target"]) or relationship.get("targetFallback", "").split(".")[-1]
        if owner and kind == "inheritsFrom":
            self.superclasses[owner] = other
        elif owner and kind == "conformsTo":
            self.conformances.add((owner, other.split(".")[-1]))

    def refuses(self, symbol):
        comment = symbol.get("docComment", {}).get("lines", [])
        return (any(entry.get("isUnconditionallyUnavailable") for entry in symbol.get("availability", []))
                or any("- Unsupported:" in line["text"] for line in comment))

    def is_idle(self, identifier):
        counts = [self.counts[body] for body in bodies(identifier) if body in self.counts]
        return bool(counts) and not any(counts)

    def lineage(self, owner):
        """A type and its superclasses."""
        while owner:
            yield owner
            owner = self.superclasses.get(owner)

    def has_type(self, owner):
        return any(("." + known).endswith("." + owner) for known in self.types)

    def has_conformance(self, owner, protocol):
        return any((ancestor, protocol) in self.conformances for ancestor in self.lineage(owner))

    def has_member(self, owner, member, overload):
        """Whether there is an overload, by its number from 1; only the first may be a superclass's."""
        if overload > 1:
            return self.members[f"{owner}.{member}"] >= overload
        return any(self.members[f"{ancestor}.{member}"] for ancestor in self.lineage(owner))


def measure(rows, build):
    """(row, whether it is here) of each portable row."""
    overloads = collections.Counter()
    measured = []
    for row in rows:
        if row.kind in TYPES:
            is_here = build.has_type(row.type)
        elif row.kind == "conformance":
            is_here = build.has_conformance(row.type, row.name)
        elif row.type == "(global)":
            is_here = build.members[row.name] > 0
        else:
            overloads[row.type, row.name] += 1
            is_here = build.has_member(row.type, row.name, overloads[row.type, row.name])
        if row.portable == "yes":
            measured.append((row, is_here))
    return measured


def tally(measured, column):
    """(here, of) by what stands in a column, in its order."""
    total = collections.Counter(getattr(row, column) for row, _ in measured)
    here = collections.Counter(getattr(row, column) for row, is_here in measured if is_here)
    return {value: (here[value], total[value]) for value in sorted(total)}
