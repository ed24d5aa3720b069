"""Does what a page tells its reader to do: writes its files, runs its commands, and compares what they print.

usage: guide.py ROOT PAGE FOLDER

A block after the comment `<!-- file: PATH -->` becomes a file of FOLDER. In blocks marked `console` a line that begins with `$ ` is run
by one shell in FOLDER, and the lines below it are what it prints; nothing below it means that anything will do. JSON is compared as such.
Port 8080 stands for a free one, `../OpenCoreData` and `Examples/` for those of ROOT.
"""
import json
import os
import re
import socket
import subprocess
import sys
import time

END = "end of a command"


def blocks(text):
    """The fenced blocks of a page: the line before each, its language, its text."""
    return re.findall(r"(?m)^(.*)\n```(\w*)\n((?:.*\n)*?)```$", text)


def read(line):
    """JSON as a value, anything else as it stands."""
    try:
        return json.loads(line)
    except ValueError:
        return line.strip()


class Shell:
    """One shell for all commands, so that jobs and folders last from one to the next."""

    def __init__(self, folder, port):
        self.port, self.log = port, os.path.join(folder, "server.log")
        self.process = subprocess.Popen(
            ["bash"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PORT": str(port)}, start_new_session=True)

    def run(self, command):
        """What a command prints on standard output."""
        starts = command.endswith("&")
        if starts:
            command = command[:-1] + f">{self.log} 2>&1 &"
        self.process.stdin.write(f"{command}\nprintf '\\n{END}\\n'\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.strip() == END:
                break
            lines.append(line.rstrip("\n"))
        if starts:
            self.await_server()
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def await_server(self):
        """Returns when the server listens. Raises if it has ended instead."""
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.run("jobs -r | wc -l") == ["0"]:
                sys.exit("The server has ended:\n" + open(self.log).read()[-4000:])
            time.sleep(0.1)

    def close(self):
        self.process.stdin.write("kill $(jobs -p) 2>/dev/null; wait\n")
        self.process.stdin.close()
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(root, page, folder):
    port = free_port()

    def placed(text):
        text = text.replace("../OpenCoreData", root).replace(" Examples/", f" {root}/Examples/")
        return re.sub(r"(localhost:|--port )8080", rf"\g<1>{port}", text)

    text = open(os.path.join(root, page)).read()
    for before, _, content in blocks(text):
        path = re.fullmatch(r"<!-- file: (\S+) -->", before)
        if path:
            file = os.path.join(folder, path.group(1))
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w") as out:
                out.write(placed(content))
    shell, count = Shell(folder, port), 0
    try:
        for _, language, content in blocks(text):
            if language != "console":
                continue
            for command, printed in re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", content):
                found, expected = shell.run(placed(command)), printed.splitlines()
                count += 1
                if expected and list(map(read, found)) != list(map(read, expected)):
                    log = open(shell.log).read()[-2000:] if os.path.exists(shell.log) else ""
                    sys.exit(f"{page}: {command}\nprinted\n" + "\n".join(found) + "\nand not\n" + printed + log)
    finally:
        shell.close()
    if count == 0:
        sys.exit(f"{page} has no commands.")
    print(f"{page}: {count} commands did what it says.")


main(*sys.argv[1:])
