"""Judges `coredata migrate --matrix`: which pairs may migrate, and whether every value is there afterwards. See Scripts/matrix."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from matrix_rules import Model, Pair
from matrix_values import Comparison, Store, equal_rows

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared/corpus/models"
LONGEST = 20


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/matrix", description="Migrates generated stores between the versions of models and judges the result.")
    parser.add_argument("models", nargs="*", help=".xcdatamodeld packages; those of the corpus with 2 to 20 versions unless given")
    parser.add_argument("--all", action="store_true", help="all chains of the corpus, however long")
    parser.add_argument("--chains", type=int, default=10_000, help="no more of them than these, chosen by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", required=True, help="the coredata program")
    return parser.parse_args()


def versions_of(package):
    return [place for place in package.iterdir() if place.suffix == ".xcdatamodel" and (place / "contents").exists()]


def chosen(options):
    if options.models:
        return [Path(model) for model in options.models]
    if not CORPUS.is_dir():
        return []
    chains = sorted(package for package in CORPUS.rglob("*.xcdatamodeld") if len(versions_of(package)) > 1)
    if options.all:
        return chains
    chains = [package for package in chains if len(versions_of(package)) <= LONGEST]
    if len(chains) > options.chains:
        chains = sorted(random.Random(options.seed).sample(chains, options.chains))
    return chains


class Judgement:
    """What one model's matrix came to."""

    def __init__(self, package):
        self.package = package
        self.migrated = self.refused = self.values = self.by_data = 0
        self.refusals, self.failures = [], []

    def fail(self, pair, text):
        self.failures.append(f"{self.package}: {pair['from']} → {pair['to']}: {text}")

    def look(self, version, path, model):
        """A matrix of empty stores would show nothing."""
        if path.exists():
            store = Store(path, model)
            self.failures += [f"{self.package}: {version}: {name} has no rows or members" for name in store.unfilled()]
            store.close()

    def judge(self, pair, models, stores):
        words = Pair(models[pair["from"]], models[pair["to"]])
        rules = words.refusals()
        if pair["outcome"] == "refused":
            self.refused += 1
            self.refusals.append(f"  {pair['from']} → {pair['to']}: {pair.get('code')} {pair.get('rule')}")
            return self.judge_refusal(pair, words, rules)
        self.migrated += 1
        if rules:
            return self.fail(pair, "migrated, although " + "; ".join(rule_words(rule) for rule in rules))
        comparison = Comparison(words, pair["before"], pair["after"], stores / pair["to"] / "Store.sqlite")
        for difference in comparison.run():
            self.fail(pair, difference)
        self.values += comparison.values

    def judge_refusal(self, pair, words, rules):
        if pair["isTouched"] or not same_files(Path(pair["before"]).parent, Path(pair["after"]).parent):
            self.fail(pair, "refused, and yet the store was changed")
        if rules:
            named = [rule for rule in rules if any(f" {name} " in pair["rule"] for name in rule[:2])]
            if pair["code"] != 134190 or not named:
                self.fail(pair, f"refused with “{pair['code']} {pair['rule']}”, not because " + rule_words(rules[0]))
        elif self.is_by_data(pair, words):
            self.by_data += 1
        else:
            self.fail(pair, f"refused with “{pair['code']} {pair['rule']}”, although 13.1 covers it")

    @staticmethod
    def is_by_data(pair, words):
        """Rows that break what is new in the later model: a constraint, or a to-one that became required."""
        store = Store(pair["before"], words.earlier)
        try:
            if pair["code"] == 134111:
                return any(
                    equal_rows(store, former_names(words, name, constraint), words.sources[name].name)
                    for name, entity in words.later.entities.items() if name in words.sources for constraint in entity.constraints)
            return "1570" in str(pair["code"]) or "must have a value in the new model, and the object" in pair["rule"]
        finally:
            store.close()


def former_names(words, entity, names):
    found = [words.origin(entity, words.later.property(entity, name)) for name in names]
    return [former.name if former else "" for former in found]


def rule_words(rule):
    return f"{rule[0]}: {rule[2]}"


def same_files(one, other):
    """Whether two folders have the same files with the same bytes."""
    def files(folder):
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix != ".sqlite-shm" and p.stat().st_size}
    return files(one) == files(other)


def run(tool, package):
    judgement = Judgement(package)
    folder = Path(tempfile.mkdtemp(prefix="matrix-"))
    try:
        command = [tool, "migrate", "--matrix", package, "--stores", folder / "stores", "--json"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode not in (0, 1) or not result.stdout.startswith("{") or '"pairs"' not in result.stdout:
            judgement.failures.append(f"{package}: the tool ended with {result.returncode}: {(result.stdout + result.stderr)[-1500:]}")
            return judgement
        answer = json.loads(result.stdout)
        models = {place.stem: Model(place / "contents") for place in versions_of(package)}
        for lost in answer["unreadable"]:
            if models.get(lost["version"]) and models[lost["version"]].entities:
                judgement.failures.append(f"{package}: {lost['version']} has no store: {lost['why']}")
        for version, model in models.items():
            judgement.look(version, folder / "stores" / version / "Store.sqlite", model)
        for pair in answer["pairs"]:
            try:
                judgement.judge(pair, models, folder / "stores")
            except Exception as error:  # a fault of this script must not look like a good pair
                judgement.fail(pair, f"cannot be judged: {type(error).__name__} {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return judgement


def main():
    options = parse()
    packages, start = chosen(options), time.monotonic()
    if not packages:
        print("No ../shared here: there are no chains of versions to try.")
        return 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda package: run(options.tool, package), packages))
    for judgement in found:
        name = judgement.package.relative_to(CORPUS) if judgement.package.is_relative_to(CORPUS) else judgement.package
        print(f"{name}: {judgement.migrated} migrated, {judgement.refused} refused ({judgement.by_data} for their rows), {judgement.values} values")
        for refusal in judgement.refusals:
            print(refusal[:300])
    failures = [failure for judgement in found for failure in judgement.failures]
    total = [sum(getattr(judgement, name) for judgement in found) for name in ("migrated", "refused", "by_data", "values")]
    print(f"{len(found)} chains: {total[0]} pairs migrated, {total[1]} refused ({total[2]} for their rows), {total[3]} values compared, "
          f"{len(failures)} failures, {time.monotonic() - start:.0f} s")
    for failure in failures:
        print(failure[:600], file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
