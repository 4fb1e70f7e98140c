"""What a killed process leaves behind is ended, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

# Starts two processes that would go on for minutes, one before the guard, and tells their ids.
_PARENT = """
import subprocess, sys, time
from agent_trainer_bridge.verl_engine.guard import Guard
sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
before = subprocess.Popen(sleep, start_new_session=True)
guard = Guard(grace_seconds=0.0)
after = subprocess.Popen(sleep, start_new_session=True)
print(before.pid, after.pid, guard.pid, flush=True)
if sys.argv[1] == "dismiss":
    guard.dismiss()
else:
    time.sleep(300)
"""


def _is_alive(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def _ends(process: int, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while _is_alive(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not _is_alive(process)


@unittest.skipUnless(sys.platform == "linux", "It reads /proc.")
class GuardTest(unittest.TestCase):
    def start(self, how: str) -> tuple[subprocess.Popen[str], list[int]]:
        folder = Path(__file__).parent.parent
        parent = subprocess.Popen([sys.executable, "-c", _PARENT, how], stdout=subprocess.PIPE, text=True, cwd=folder)
        assert parent.stdout is not None
        started = [int(word) for word in parent.stdout.readline().split()]
        parent.stdout.close()
        self.addCleanup(lambda: [os.kill(process, signal.SIGKILL) for process in started if _is_alive(process)])
        return parent, started

    def test_ends_what_was_started_after_it_when_the_parent_is_killed(self) -> None:
        parent, (before, after, guard) = self.start("stay")
        parent.kill()
        parent.wait()
        self.assertTrue(_ends(after))
        self.assertTrue(_ends(guard))
        self.assertTrue(_is_alive(before))

    def test_leaves_everything_when_it_is_dismissed(self) -> None:
        parent, (_, after, guard) = self.start("dismiss")
        self.assertEqual(parent.wait(20), 0)
        self.assertTrue(_ends(guard))
        self.assertTrue(_is_alive(after))


if __name__ == "__main__":
    unittest.main()
