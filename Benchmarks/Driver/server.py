"""Drives Examples/TriageServer and the same service on GRDB with wrk, alternating, and prints what each request costs."""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SERVICES = {
    "ours": (ROOT / "Examples/TriageServer", "TriageServer"),
    "grdb": (HERE.parent / "Server", "GRDBTriage"),
}
WORKLOADS = ["list", "relations", "single", "post", "mixed"]
GATES = {"list": 0.6, "relations": 0.6, "single": 0.9, "post": 1.0, "mixed": 0.7}
STATIONS = 10
INJURIES = ["Blunt Trauma", "Burn", "C-Spine", "Cardiac", "Crushing", "Fracture", "Laceration", "Penetration"]

# Each thread of wrk walks a list of IDs of its own; each POST names the same station and the same two injuries.
SCRIPT = """
local kind, ids, count = "{kind}", {{}}, 0
local thread = 0
function setup(t) t:set("start", thread) thread = thread + 1 end
function init(args)
  math.randomseed(start * 7919 + {seed})
  for line in io.lines("{ids}") do ids[#ids + 1] = line end
end
local function post()
  count = count + 1
  local body = string.format('{{"name":"New %d","age":%d,"priority":2,"station":"S0","injuries":["Burn","Fracture"]}}',
    count, count % 90)
  return wrk.format("POST", "/casualties", {{["Content-Type"] = "application/json"}}, body)
end
local function list(extra)
  return wrk.format("GET", "/casualties?size=20&order=-arrivedAt&page=" .. math.random(1, 20) .. extra)
end
local function single() return wrk.format("GET", "/casualties/" .. ids[math.random(#ids)]) end
function request()
  if kind == "list" then return list("&include=none") end
  if kind == "relations" then return list("&include=station,injuries") end
  if kind == "single" then return single() end
  if kind == "post" then return post() end
  local dice = math.random(10)
  if dice == 1 then return post() end
  if dice <= 4 then return list("&include=station,injuries") end
  return single()
end
local bad = 0
function response(status, headers, body) if status < 200 or status > 299 then bad = bad + 1; badcount = bad end end
function done(summary, latency, requests)
  io.write(string.format("RESULT %d %d %.1f %d\\n", summary.requests, summary.duration, latency:percentile(99), summary.errors.status
    + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


class Service:
    """A server process with a store of its own, filled through HTTP."""

    def __init__(self, name, folder, rows):
        self.name = name
        package, product = SERVICES[name]
        binary = package / ".build/release" / product
        store = Path(folder) / f"{name}.sqlite"
        log = Path(folder) / f"{name}.log"
        with open(log, "w") as output:
            self.process = subprocess.Popen([binary, "--port", "0", "--store", store], stdout=output, stderr=output)
        while not (found := re.search(r"^Listening on (\S+)$", log.read_text(), re.M)):
            if self.process.poll() is not None:
                sys.exit(f"{name} does not start:\n{log.read_text()}")
            time.sleep(0.05)
        self.address = found[1]
        self.fill(rows)
        self.ids = Path(folder) / f"{name}.ids"
        self.ids.write_text("\n".join(self.known) + "\n")

    def post(self, path, body):
        request = urllib.request.Request(
            self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def fill(self, rows):
        for number in range(STATIONS):
            self.post("/stations", {"code": f"S{number}", "name": f"Station {number}", "beds": number})

        def one(number):
            self.post("/casualties", {
                "id": self.known[number], "name": f"Casualty {number:05}", "age": number % 100, "priority": number % 4 + 1,
                "station": f"S{number % STATIONS}", "injuries": sorted({INJURIES[number % 8], INJURIES[number // 8 % 8]})})

        self.known = [str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))).upper() for number in range(rows)]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(one, range(rows)))

    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self, key):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{key}:\s+(\d+)", text, re.M).group(1))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def run(service, workload, connections, seconds, seed, folder):
    script = Path(folder) / "load.lua"
    script.write_text(SCRIPT.format(kind=workload, ids=service.ids, seed=seed))
    before = service.processor_seconds()
    threads = 0
    load = subprocess.Popen(
        ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s", "-s", script, service.address],
        stdout=subprocess.PIPE, text=True)
    while load.poll() is None:
        threads = max(threads, service.status("Threads"))
        time.sleep(0.1)
    text = load.stdout.read()
    found = re.search(r"RESULT (\d+) (\d+) ([\d.]+) (\d+)", text)
    if not found:
        sys.exit(f"wrk said nothing of use:\n{text}")
    requests, duration, p99, wrong = int(found[1]), int(found[2]), float(found[3]), int(found[4])
    if wrong:
        sys.exit(f"{service.name}, {workload}, {connections} connections: {wrong} of {requests} responses were no 2xx.\n{text}")
    return {
        "processor": 1e6 * (service.processor_seconds() - before) / requests, "rate": 1e6 * requests / duration,
        "p99": p99 / 1000, "memory": service.status("VmHWM") / 1024, "threads": threads}


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench-server", description="Measures TriageServer against the same service on GRDB.")
    parser.add_argument("--rows", type=int, default=10_000, help="casualties at the start (default 10,000)")
    parser.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each service, alternating; their median counts (default 3)")
    parser.add_argument("--connections", default="1,32,256")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--json", help="writes all figures to this file")
    parser.add_argument("--skip-build", action="store_true")
    options = parser.parse_args()
    options.connections = [int(text) for text in options.connections.split(",")]
    options.workloads = options.workloads.split(",")
    return options


def build():
    for package, product in SERVICES.values():
        status = subprocess.run(["swift", "build", "-c", "release", "--product", product], cwd=package).returncode
        if status:
            sys.exit(f"{product} does not build.")


def measure(options, workload, connections):
    """Fresh stores for each workload, so that no run reads what another has written."""
    results = {name: [] for name in SERVICES}
    with tempfile.TemporaryDirectory() as folder:
        services = []
        try:
            for name in SERVICES:
                services.append(Service(name, folder, options.rows))
            for service in services:
                run(service, workload, connections, 1, 0, folder)
            for round in range(options.rounds):
                for service in services if round % 2 == 0 else reversed(services):
                    results[service.name].append(run(service, workload, connections, options.seconds, round + 1, folder))
        finally:
            for service in services:
                service.stop()
    return {name: {key: statistics.median(r[key] for r in runs) for key in runs[0]} for name, runs in results.items()}


def main():
    options = parse()
    if not options.skip_build:
        build()
    print(f"{'':10} {'conn.':>5} | {'CPU µs a request':>25} | {'requests a second':>19} | {'p99 ms':>17} | {'MB':>9} | threads")
    print(f"{'':10} {'':>5} | {'ours':>8} {'GRDB':>8} {'ratio':>7} | {'ours':>9} {'GRDB':>9} | {'ours':>8} {'GRDB':>8} |")
    everything, missed = [], []
    for workload in options.workloads:
        for connections in options.connections:
            figures = measure(options, workload, connections)
            ours, peer = figures["ours"], figures["grdb"]
            ratio = ours["processor"] / peer["processor"]
            print(
                f"{workload:10} {connections:5} | {ours['processor']:8.0f} {peer['processor']:8.0f} {ratio:7.2f} |"
                f" {ours['rate']:9.0f} {peer['rate']:9.0f} | {ours['p99']:8.1f} {peer['p99']:8.1f} |"
                f" {ours['memory']:4.0f} {peer['memory']:4.0f} | {ours['threads']:.0f} {peer['threads']:.0f}", flush=True)
            everything.append({"workload": workload, "connections": connections, "ratio": ratio, **figures})
            if ratio > GATES[workload]:
                missed.append(f"{workload} at {connections}: {ratio:.2f} of {GATES[workload]}")
            if connections == 32 and ours["p99"] > 1.25 * peer["p99"]:
                missed.append(f"{workload}: p99 {ours['p99']:.1f} ms, the peer's {peer['p99']:.1f}")
            if connections == 256 and ours["threads"] > peer["threads"] + 4:
                missed.append(f"{workload}: {ours['threads']:.0f} threads, the peer's {peer['threads']:.0f}")
    if options.json:
        Path(options.json).write_text(json.dumps(everything, indent=1))
    for line in missed:
        print("missed:", line)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
