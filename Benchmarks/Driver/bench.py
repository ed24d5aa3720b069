"""Times every contender against plain C, interleaved, and prints ratios with their spread."""

import argparse
import json
import random
import statistics
import sys

from contenders import (
    BY_NAME, CONTENDERS, LARGE, LOAD_REQUESTS, LOADS, PACKAGE, SHARED, SHARED_POLICIES, TASKS, Digests, Runs, Stop, base_of, build,
    require_tools)

# A million rows take minutes: two pairs of them show what there is to see.
LARGE |= {"batchInsert": 100, "migrateAdd": 100, "migrateRename": 100, "migrateMapping": 10}
LARGE_PAIRS = {"batchInsert": 2, "migrateAdd": 2, "migrateRename": 2}
NAMES = [*TASKS, "sharedOwners"]


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench", description="Times each task with plain C, SQLite from Swift, GRDB and OpenCoreData.")
    parser.add_argument("--rows", type=int, default=10_000, help="patients in the database (default 10,000)")
    parser.add_argument("--tasks", default=",".join(NAMES), help="some of: " + ",".join(NAMES))
    parser.add_argument("--json", help="writes the medians to this file")
    parser.add_argument("--pairs", type=int, default=5, help="pairs with plain C for each contender (default 5)")
    parser.add_argument("--repetitions", type=int, default=3, help="of one process; its best counts (default 3)")
    parser.add_argument(
        "--contenders", default=",".join(c.name for c in CONTENDERS), help="some of: " + ",".join(BY_NAME))
    options = parser.parse_args()
    options.tasks = options.tasks.split(",")
    options.contenders = options.contenders.split(",")
    for name in options.tasks:
        if name not in NAMES:
            parser.error(f"there is no task {name}; the tasks are {', '.join(NAMES)}")
    for name in options.contenders:
        if name not in BY_NAME:
            parser.error(f"there is no contender {name}; the contenders are {', '.join(BY_NAME)}")
    if options.rows < 1000 or options.pairs < 1 or options.repetitions < 1:
        parser.error("at least 1000 rows, one pair and one repetition are needed")
    return options


def measure(runs, digests, contender, task, repetitions):
    """The best repetition of one process: seconds of the whole task, or bytes for each object."""
    reports, digest, _ = runs.run(contender, task, repetitions)
    digests.check(contender, task, digest)
    if task == "memory":
        return min(report["bytes"] for report in reports) / runs.rows
    return min(report["seconds"] for report in reports)


def pair(runs, digests, task, options):
    """c X c Y c …: each X is divided by the mean of its neighbours."""
    base = base_of(task)
    others = [BY_NAME[n] for n in options.contenders if n != base.name and BY_NAME[n].has(task)]
    base = base if base.has(task) and base.name in options.contenders else None
    figures = {c.name: [] for c in ([base] if base else []) + others}
    ratios = {c.name: [] for c in others}
    order = random.Random(task)

    def base_figure():
        if not base:
            return None
        figures[base.name].append(measure(runs, digests, base, task, options.repetitions))
        return figures[base.name][-1]

    before = base_figure()
    for _ in range(min(options.pairs, LARGE_PAIRS.get(task, options.pairs))):
        for contender in order.sample(others, len(others)):
            figure = measure(runs, digests, contender, task, options.repetitions)
            after = base_figure()
            figures[contender.name].append(figure)
            if base:
                ratios[contender.name].append(figure * 2 / (before + after))
            before = after
    return figures, ratios


def verdict(task, name, ratio):
    """What our figure means for the aims of Benchmarks/Budgets/times.json."""
    aims = {aim["task"]: aim for aim in json.loads((PACKAGE / "Budgets/times.json").read_text())["budgets"]}
    if name != "opencoredata" or task not in aims:
        return ""
    gate, moonshot = aims[task]["gate"], aims[task]["moonshot"]
    reached = "moonshot" if ratio <= moonshot else "gate" if ratio <= gate else "over the gate"
    return f"  {reached} (gate {gate:g}, moonshot {moonshot:g})"


def spread(values):
    values = sorted(values)
    return values[len(values) // 4], values[(3 * len(values)) // 4]


def print_task(task, figures, ratios):
    for name, values in figures.items():
        median = statistics.median(values)
        text = f"{median:12.0f} B  " if task == "memory" else f"{median * 1000:12.3f} ms "
        ratio = ""
        if ratios.get(name):
            low, high = spread(ratios[name])
            middle = statistics.median(ratios[name])
            ratio = f"{middle:7.2f} x  [{low:.2f} - {high:.2f}]{verdict(task, name, middle)}"
        elif name not in ratios:
            ratio = f"{1:7.2f} x"
        print(f"{task:17} {BY_NAME[name].title:18} {text} {ratio}", flush=True)


def measure_loads(runs, pairs):
    """Throughput and 99th percentile of requests at once beside a writer: medians of several processes."""
    result = {}
    for task in LOADS:
        reports = [runs.run(BY_NAME["opencoredata"], task)[0][0] for _ in range(pairs)]
        each_second = statistics.median(LOAD_REQUESTS / report["seconds"] for report in reports)
        p99 = statistics.median(report["p99"] for report in reports) / 1e6
        result[task] = {"requestsPerSecond": each_second, "p99Milliseconds": p99}
        print(f"{task:17} OpenCoreData       {each_second:12.0f} requests a second, p99 {p99:.2f} ms", flush=True)
    return result


def measure_shared(runs, pairs):
    """Saves a second of 32 writers; the program fails if one of them is refused. Medians of several processes, interleaved."""
    result = {}
    for policy in SHARED_POLICIES:
        figures = {task: [] for task in SHARED}
        for _ in range(pairs):
            for task in SHARED:
                report = runs.run(BY_NAME["opencoredata"], task, environment={"YARDSTICK_POLICY": policy})[0][0]
                figures[task].append((report["weight"] / report["seconds"], report["whole"] / report["weight"]))
        alone = statistics.median(figure[0] for figure in figures["sharedNothing"])
        for task in SHARED:
            saves, statements = (statistics.median(column) for column in zip(*figures[task]))
            result[f"{task} {policy}"] = {"savesPerSecond": saves, "statementsPerSave": statements}
            print(f"{task:17} {policy:12} {saves:8.0f} saves a second, {saves / alone:.2f} of sharedNothing, "
                  f"{statements:.2f} statements a save", flush=True)
    return result


def main():
    options = parse()
    require_tools()
    chosen = [BY_NAME[name] for name in options.contenders]
    # The seed of each layout comes from these two, whoever is measured.
    needed = {"plain": BY_NAME["c"], "objects": BY_NAME["opencoredata"]}
    build(list(dict.fromkeys([*(needed[c.layout] for c in chosen), *chosen])))
    runs, digests, tasks = Runs(options.rows), Digests(), {}
    print(f"{options.rows} rows; median of {options.pairs} pairs with plain C [quartiles]; CPU time, wall time "
          "for commit and open; memory in heap bytes for each object")
    for task in (task for task in options.tasks if task in TASKS):
        figures, ratios = pair(runs, digests, task, options)
        print_task(task, figures, ratios)
        tasks[task] = {
            c.name: statistics.median(figures[c.name]) if figures.get(c.name) else None for c in CONTENDERS}
    result = {"rows": options.rows, "tasks": tasks}
    if "request" in options.tasks and "opencoredata" in options.contenders:
        result["loads"] = measure_loads(runs, options.pairs)
    if "sharedOwners" in options.tasks and "opencoredata" in options.contenders:
        result["shared"] = measure_shared(runs, options.pairs)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    try:
        main()
    except Stop as reason:
        sys.exit(f"Scripts/bench: {reason}")
