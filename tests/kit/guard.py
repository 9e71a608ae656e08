"""Runs a server for as long as the process that started this script lives.

    python guard.py FOLDER USER COMMAND …

The server is ended, and the folder removed, when standard input closes. The system
closes it when the test run ends, however it ends: a killed run leaves nothing.
"""

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

PATIENCE = 10.0
"""Seconds that a server has to end by itself."""


def end_with_parent(server: subprocess.Popen[bytes], asked: threading.Event) -> None:
    sys.stdin.buffer.read()  # until its parent is gone
    asked.set()
    server.send_signal(signal.SIGINT)
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()


def main() -> int:
    folder, user, *command = sys.argv[1:]
    with Path(folder, "server.log").open("wb") as log:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            user=user or None,
        )
    asked = threading.Event()
    threading.Thread(target=end_with_parent, args=(server, asked), daemon=True).start()
    code = server.wait()
    if asked.is_set():  # of a server that failed, the log is still read
        shutil.rmtree(folder, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
