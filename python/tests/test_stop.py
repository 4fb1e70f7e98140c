"""What wakes the bridge when it is to end."""

from __future__ import annotations

import os
import signal
import threading
import unittest

from agent_trainer_bridge.stop import SIGNALS, Stop


@unittest.skipIf(os.name == "nt", "sends signals to itself")
class StopTest(unittest.TestCase):
    def setUp(self) -> None:
        self.limit = threading.Timer(20, os._exit, [3])
        self.limit.start()

    def tearDown(self) -> None:
        self.limit.cancel()

    def test_a_signal_before_the_wait_or_during_it(self) -> None:
        for number in SIGNALS:
            with Stop() as stop:
                os.kill(os.getpid(), number)
                stop.wait()
            with Stop() as stop:
                threading.Timer(0.05, os.kill, [os.getpid(), number]).start()
                stop.wait()

    def test_a_signal_whose_handler_in_python_does_nothing(self) -> None:
        with Stop() as stop:
            signal.signal(signal.SIGTERM, lambda *_: None)
            os.kill(os.getpid(), signal.SIGTERM)
            stop.wait()

    def test_a_request_but_no_other_signal(self) -> None:
        woken = threading.Event()
        before = signal.signal(signal.SIGUSR1, lambda *_: woken.set())
        with Stop() as stop:
            os.kill(os.getpid(), signal.SIGUSR1)
            requested = threading.Event()

            def request() -> None:
                woken.wait(5)
                requested.set()
                stop.request()

            threading.Timer(0.1, request).start()
            stop.wait()
            self.assertTrue(requested.is_set())
        signal.signal(signal.SIGUSR1, before)


if __name__ == "__main__":
    unittest.main()
