"""Counts instructions, SQL statements, allocations and heap bytes; holds them to Benchmarks/Budgets/*.json."""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from contenders import BUILD, BY_NAME, PACKAGE, TASKS, WORK, Digests, Runs, Stop
from contenders import base_of, build, place, require_tools, run_tool, unit_count

ROWS = 10_000
BUDGETS = PACKAGE / "Budgets"
# A count may rise by this before it must be written down anew: repeated counts differ by less than 0.1 %.
DRIFT = 0.01
PLAIN_C, OURS, STRUCTS = BY_NAME["c"], BY_NAME["opencoredata"], BY_NAME["swift"]
# What plain C costs with SQLite 3.40.1 and without auto_vacuum, in instructions a row: a yardstick that is not
# this long measures something else.
YARDSTICK = {"insert": 10_831, "fetchRead": 2_772, "lookup": 7_718, "update": 9_633, "delete": 9_633}
TOLERANCE = 0.12


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/budgets",
        description="Counts what each task costs at 10,000 rows and fails where a budget is exceeded.")
    parser.add_argument("--tasks", default=",".join(TASKS), help="some of: " + ",".join(TASKS))
    parser.add_argument("--json", help="writes the counts to this file")
    parser.add_argument(
        "--update", action="store_true", help="writes the counts into Benchmarks/Budgets; gates stay as they are")
    parser.add_argument(
        "--profile", action="store_true", help="prints the functions our program spends its time in, and stops")
    options = parser.parse_args()
    options.tasks = options.tasks.split(",")
    for name in options.tasks:
        if name not in TASKS:
            parser.error(f"there is no task {name}; the tasks are {', '.join(TASKS)}")
    return options


class Counter:
    """Counts the measured region of one program at a time, a unit: a row, an object, a look-up, a commit."""

    def __init__(self):
        self.runs, self.digests = Runs(ROWS), Digests()

    def run(self, contender, task, **options):
        reports, digest, errors = self.runs.run(contender, task, **options)
        self.digests.check(contender, task, digest)
        return reports[-1], errors

    def callgrind(self, contender, task, runs=None):
        """Runs a program under callgrind and answers its output file."""
        output = WORK / f"callgrind-{place()}.out"
        output.unlink(missing_ok=True)
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}"]
        if runs:
            runs.run(contender, task, prefix=command)
        else:
            self.run(contender, task, prefix=command)
        if not output.exists():
            raise Stop("callgrind left no output; valgrind does not work here, so nothing can be counted.")
        return output

    def instructions(self, contender, task, runs=None):
        output = self.callgrind(contender, task, runs)
        totals = re.search(r"^totals: (\d+)", output.read_text(), re.MULTILINE)
        output.unlink()
        if not totals or int(totals.group(1)) == 0:
            raise Stop(f"callgrind counted no instruction of {contender.title} at {task}.")
        return int(totals.group(1)) / unit_count(task, ROWS)

    def calls(self, contender, task):
        """SQL statements and heap allocations."""
        _, errors = self.run(contender, task, environment={"LD_PRELOAD": str(BUILD / "counters.so")})
        counts = re.search(r"yardstick counters: allocations=(\d+) statements=(\d+)", errors)
        if not counts:
            raise Stop(f"The counters said nothing of {contender.title} at {task}; is LD_PRELOAD honoured here?")
        units = unit_count(task, ROWS)
        return int(counts.group(2)) / units, int(counts.group(1)) / units

    def memory(self, contender):
        report, _ = self.run(contender, "memory")
        return report["bytes"] / ROWS


def check_yardstick(counter):
    """Plain C must cost what it always cost, or the ratios mean nothing."""
    runs = Runs(ROWS, {"YARDSTICK_AUTO_VACUUM": "0"})
    costs = side_by_side(YARDSTICK, lambda task: counter.instructions(PLAIN_C, task, runs))
    for (task, expected), counted in zip(YARDSTICK.items(), costs):
        drift = counted / expected - 1
        print(
            f"yardstick     {task:17} {counted:12.1f} instructions, expected {expected} ({drift:+.1%})", flush=True)
        if abs(drift) > TOLERANCE:
            raise Stop(
                f"Plain C costs {counted:.0f} instructions a row at {task}, not {expected} within {TOLERANCE:.0%}: "
                "another SQLite or compiler, or the yardstick was changed. Ratios to it would mislead.")


# What a save and an undo cost must not depend on how many objects are registered: 100 of them change.
SCALE_TASKS, SCALE_ROWS, SCALE_DIRTY, SCALE_DRIFT = ("saveDirty", "undo"), (10_000, 1_000_000), 100, 0.10


def check_scale():
    """Counts a save and an undo of 100 objects among few and among many clean ones; answers the sentences of what fails."""
    failures = []
    counts = {task: [scaled(task, rows) for rows in SCALE_ROWS] for task in SCALE_TASKS}
    for task, (few, many) in counts.items():
        drift = many / few - 1
        print(f"scale         {task:17} {few:12.0f} at {SCALE_ROWS[0]}, {many:12.0f} at {SCALE_ROWS[1]} objects ({drift:+.1%})")
        if abs(drift) > SCALE_DRIFT:
            failures.append(
                f"{task} of {SCALE_DIRTY} objects differs by {drift:+.1%} between {SCALE_ROWS[0]} and {SCALE_ROWS[1]} registered ones.")
    return failures


# What a chain of conditions costs grows with n log n at most: 16 times the terms, 16 * 14 / 10 times the instructions.
CHAIN_ROWS, CHAIN_TERMS, CHAIN_GROWTH = 10_000, (1_000, 16_000), 16 * 14 / 10


def check_chain():
    """Counts fetches by short and by long chains; answers the sentence of what fails."""
    few, many = (scaled("chain", CHAIN_ROWS, {"YARDSTICK_TERMS": str(terms)}) for terms in CHAIN_TERMS)
    print(f"scale         {'chain':17} {few:12.0f} at {CHAIN_TERMS[0]}, {many:12.0f} at {CHAIN_TERMS[1]} terms (x {many / few:.1f})")
    if many / few > CHAIN_GROWTH:
        return [f"chain costs {many / few:.1f} times as much for {CHAIN_TERMS[1]} terms as for {CHAIN_TERMS[0]}, not {CHAIN_GROWTH:.1f}."]
    return []


# What a generated property costs in instructions, and which functions it never reaches.
TYPED_COUNT, TYPED_GATES = 1_000_000, {"typedRead": 30, "typedWrite": 240}
UNTYPED = ("swift_beginAccess", "swift_dynamicCast", "swift_getWitnessTable", "protocol witness for ")


def check_typed():
    """Counts a read and a write of a generated Int64 property; answers the sentences of what fails."""
    failures = []
    for task, gate in TYPED_GATES.items():
        text = callgrind_once(task, ROWS)
        count = total(text, task) / TYPED_COUNT
        calls = called(text, TYPED_COUNT)
        print(f"typed         {task:17} {count:12.1f} instructions, {len(calls)} calls each (gate {gate})")
        if count > gate:
            failures.append(f"{task} costs {count:.1f} instructions each, over the gate {gate}.")
        if task == "typedRead" and calls:
            failures.append(f"{task} calls {', '.join(calls)}; a read is inlined.")
        failures += [f"{task} calls {name}." for name in calls if any(word in name for word in UNTYPED)]
    return failures


def called(text, count):
    """The functions that were called at least `count` times, as people write them."""
    names, calls = {}, {}
    for line in text.splitlines():
        if found := re.match(r"c?fn=\((\d+)\)(?: (.+))?", line):
            number = found[1]
            names.setdefault(number, found[2])
        elif found := re.match(r"calls=(\d+) ", line):
            calls[number] = calls.get(number, 0) + int(found[1])
    often = "\n".join(names[number] or "?" for number, times in calls.items() if times >= count)
    if not often:
        return []
    return run_tool(["swift", "demangle", "--simplified"], "demangling", input=often).stdout.splitlines()


# JSON of a thousand objects by `encoded`, with the encoder and by `json(by:)`, to that of structures which a program declares and fills
# itself.
ENCODE_ROWS, ENCODE_MOST = 10_000, {"encoded": 1.15, "json": 1.0}


def check_encode():
    """Counts all ways to JSON; answers the sentences of what fails."""
    failures = []
    counts = {way: scaled("encode", ENCODE_ROWS, {"YARDSTICK_ENCODE": way}) for way in ("encoded", "json", "structures")}
    for way, most in ENCODE_MOST.items():
        ratio = counts[way] / counts["structures"]
        print(f"encode        {way:17} {counts[way]:12.0f}, {counts['structures']:12.0f} by structures (x {ratio:.2f}, gate {most})")
        if ratio > most:
            failures.append(f"JSON by {way} costs {ratio:.2f} times as much as structures of the same fields, not {most}.")
    return failures


def scaled(task, rows, environment=None):
    return total(callgrind_once(task, rows, environment or {"YARDSTICK_DIRTY": str(SCALE_DIRTY)}), task)


def callgrind_once(task, rows, environment=None):
    """What callgrind writes of one repetition of ours."""
    output = WORK / f"callgrind-{place()}.out"
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}"]
    Runs(rows, environment).run_once(OURS, task, command)
    text = output.read_text()
    output.unlink()
    return text


def total(text, task):
    totals = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if not totals or int(totals[1]) == 0:
        raise Stop(f"callgrind counted no instruction of {OURS.title} at {task}.")
    return int(totals[1])


def side_by_side(items, work):
    """What `work` makes of each, in their order. Counts do not depend on what else the machine does."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def count(counter, tasks):
    counts = {"instructions": {}, "statements": {}, "allocations": {}, "memory": {}}
    for task, counted in zip(tasks, side_by_side(tasks, lambda task: count_task(counter, task))):
        for kind, figures in counted.items():
            counts[kind][task] = figures
    return counts


def count_task(counter, task):
    if task == "memory":
        return {"memory": {"swift": counter.memory(STRUCTS), OURS.name: counter.memory(OURS)}}
    counts = {kind: {base_of(task).name: None, OURS.name: None} for kind in ("instructions", "statements", "allocations")}
    for contender in (base_of(task), OURS):
        if contender.has(task):
            counts["statements"][contender.name], counts["allocations"][contender.name] = counter.calls(contender, task)
            counts["instructions"][contender.name] = counter.instructions(contender, task)
    print(f"counted {task}", file=sys.stderr, flush=True)
    return counts


def figure(kind, count):
    """What a budget is about: the ratio where there is something to divide by, else the count itself."""
    base = base_count(count) if kind in ("instructions", "memory") else None
    return count[OURS.name] / base if base else count[OURS.name]


def base_count(count):
    """What the other contender took; nothing where it lacks the task."""
    return next((value for name, value in count.items() if name != OURS.name), None)


def read_budgets(kind):
    path = BUDGETS / f"{kind}.json"
    budgets = json.loads(path.read_text())["budgets"]
    return path, {budget["task"]: budget for budget in budgets}


def compare(counts):
    """Prints each figure beside its budget; answers the sentences of what fails."""
    failures = []
    titles = f"{'figure':>9} {'recorded':>9} {'gate':>9} {'moonshot':>9}"
    print(f"{'':13} {'task':17} {'base':>12} {'ours':>12} {titles}")
    for kind, tasks in counts.items():
        path, budgets = read_budgets(kind)
        for task, count in tasks.items():
            if task not in budgets:
                failures.append(f"{kind} of {task} has no budget; add one to {path.relative_to(PACKAGE.parent)}.")
                continue
            failures += judge(kind, task, count, budgets[task])
    return failures


def judge(kind, task, count, budget):
    value, gate, recorded, moonshot = figure(kind, count), budget["gate"], budget["count"], budget["moonshot"]
    base = base_count(count)
    reached = "moonshot" if value <= moonshot else "gate" if value <= gate else "OVER"
    print(
        f"{kind:13} {task:17} {base if base is not None else float('nan'):12.4f} {count[OURS.name]:12.4f} "
        f"{value:9.4f} {recorded:9.4f} {gate:9g} {moonshot:9g}  {reached}", flush=True)
    if value > gate:
        return [f"{kind} of {task}: {value:.4f} is over the gate {gate:g}."]
    if value > recorded * (1 + DRIFT) + 1e-9:
        return [
            f"{kind} of {task}: {value:.4f} is more than {DRIFT:.0%} over the recorded {recorded:.4f}. "
            "If the price is meant, record it with Scripts/budgets --update."]
    return []


def update(counts):
    for kind, tasks in counts.items():
        path = BUDGETS / f"{kind}.json"
        document = json.loads(path.read_text())
        for budget in document["budgets"]:
            if budget["task"] in tasks:
                budget["count"] = round(figure(kind, tasks[budget["task"]]), 6)
        write_budgets(path, document)


def write_budgets(path, document):
    lines = ",\n".join("    " + json.dumps(budget) for budget in document["budgets"])
    about = json.dumps(document["about"])
    path.write_text(f'{{\n  "about": {about},\n  "budgets": [\n{lines}\n  ]\n}}\n')


def write_json(path, counts):
    with open(path, "w") as file:
        json.dump({"rows": ROWS, **counts}, file, indent=2)
        file.write("\n")


def profile(counter, tasks):
    """Where our own program spends its instructions, function by function."""
    for task in tasks:
        output = counter.callgrind(OURS, task)
        command = ["callgrind_annotate", "--threshold=90", output]
        listing = run_tool(command, "reading callgrind's output").stdout
        output.unlink()
        lines = [line for line in listing.splitlines() if re.match(r"\s*[\d,]+ \(", line)]
        text = "\n".join(line.split(" [")[0][:200] for line in lines[:60])
        names = subprocess.run(
            ["swift", "demangle", "--simplified"], input=text, capture_output=True, text=True).stdout
        print(f"{task}\n{names or text}", flush=True)


def main():
    options = parse()
    require_tools()
    build([PLAIN_C, STRUCTS, OURS] if "memory" in options.tasks else [PLAIN_C, OURS], counters=True)
    counter = Counter()
    if options.profile:
        return profile(counter, options.tasks)
    check_yardstick(counter)
    counts = count(counter, options.tasks)
    if options.json:
        write_json(options.json, counts)
    if options.update:
        update(counts)
    failures = compare(counts)
    checks = [check_typed]
    if set(SCALE_TASKS) <= set(options.tasks):
        checks += [check_scale, check_chain, check_encode]
    for found in side_by_side(checks, lambda check: check()):
        failures += found
    if failures:
        raise Stop("budgets are exceeded:\n" + "\n".join(failures))


if __name__ == "__main__":
    try:
        main()
    except Stop as reason:
        sys.exit(f"Scripts/budgets: {reason}")
