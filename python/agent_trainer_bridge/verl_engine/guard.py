"""Ends what a bridge leaves behind when it is killed: some of Ray's agents outlive their driver by minutes.

A process of its own that waits for the bridge to end. Those to end carry a mark in their environment,
which every process that Ray starts on this machine inherits. Linux only; imports nothing else.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

MARK = "AGENT_TRAINER_BRIDGE_MARK"
GRACE_SECONDS = 5.0
_LIMIT_SECONDS = 30.0
_DISMISSED = b"."


class Guard:
    """Marks what this process starts from now on, and watches over it."""

    def __init__(self, grace_seconds: float = GRACE_SECONDS) -> None:
        # Its own environment carries no mark.
        mark = str(uuid.uuid4())
        self._process = subprocess.Popen(
            [sys.executable, __file__, mark, str(grace_seconds)],
            stdin=subprocess.PIPE,
            # A signal for the bridge's group is not for it.
            start_new_session=True,
        )
        os.environ[MARK] = mark

    @property
    def pid(self) -> int:
        return self._process.pid

    def dismiss(self) -> None:
        """Nothing is left to end."""
        os.environ.pop(MARK, None)
        self._process.communicate(_DISMISSED)


def marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # Empty for one that has ended and was not waited for.
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if wanted in environment.split(b"\0"):
            found.append(int(folder.name))
    return found


def _watch(mark: str, grace_seconds: float) -> None:
    if os.read(0, 1) == _DISMISSED:
        return
    ended = time.monotonic()
    while (left := marked(mark)) and time.monotonic() - ended < _LIMIT_SECONDS:
        if time.monotonic() - ended > grace_seconds:
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        time.sleep(0.2)


if __name__ == "__main__":
    _watch(sys.argv[1], float(sys.argv[2]))
