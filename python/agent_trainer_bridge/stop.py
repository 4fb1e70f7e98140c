"""What ends the bridge: a signal, a request, or the end of its parent.

The waiting thread is woken by the signal itself and not by its handler in Python, which may not run:
a signal that comes just before a thread blocks does not interrupt it, and a handler that interrupts
the methods of threading.Event cannot call them.
"""

from __future__ import annotations

import signal
import socket

SIGNALS = (signal.SIGTERM, signal.SIGINT)
_REQUESTED = 0


class Stop:
    """Signals are caught from now on, so it is made in the main thread."""

    def __init__(self) -> None:
        self._woken, self._wake = socket.socketpair()
        self._wake.setblocking(False)
        self._before = signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self._handlers = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}

    def request(self) -> None:
        self._wake.send(bytes([_REQUESTED]))

    def wait(self) -> None:
        """Until a stop was requested or signalled; other signals that Python handles wake it in vain."""
        while self._woken.recv(1)[0] not in (_REQUESTED, *SIGNALS):
            pass

    def __enter__(self) -> Stop:
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._before)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._wake.close()
        self._woken.close()
