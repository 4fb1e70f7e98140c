"""Work that takes longer than a request: queued, done in order by one thread, asked for by id.

A key makes a request safe to repeat: the same key always names the same operation.
"""

from __future__ import annotations

import queue
import threading
import traceback
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .errors import BadRequest, BridgeError, Conflict, NotFound

_KEPT = 256
"""Finished operations that can still be asked for."""


@dataclass
class Operation:
    name: str
    work: Callable[[], Any]
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: str = "queued"
    result: Any = None
    error: dict[str, Any] | None = None
    stage: str | None = None
    """What it is doing, as a sentence, where that takes long."""
    done: threading.Event = field(default_factory=threading.Event)

    def to_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"id": self.id, "name": self.name, "state": self.state}
        if self.state == "done":
            answer["result"] = self.result
        if self.error is not None:
            answer["error"] = self.error
        if self.stage is not None:
            answer["stage"] = self.stage
        return answer

    def run(self) -> None:
        self.state = "running"
        try:
            self.result = self.work()
            self.state = "done"
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is told to the caller
            kind = error.kind if isinstance(error, BridgeError) else "engine"
            tail = traceback.format_exc().splitlines()[-40:]
            self.error = {"kind": kind, "type": type(error).__name__, "message": str(error), "traceback": tail}
            self.state = "failed"
        finally:
            self.done.set()


class Operations:
    def __init__(self) -> None:
        self._queue: queue.Queue[Operation | None] = queue.Queue()
        self._lock = threading.Lock()
        self._by_id: OrderedDict[str, Operation] = OrderedDict()
        self._by_key: dict[str, tuple[str, Operation]] = {}
        self._current: Operation | None = None
        self._thread = threading.Thread(target=self._work, name="operations", daemon=True)
        self._thread.start()

    @property
    def running(self) -> str | None:
        """Name of the operation that is being done."""
        current = self._current
        return None if current is None else current.name

    def tell(self, stage: str) -> None:
        """Called by the work that is being done, when it begins another part."""
        if self._current is not None:
            self._current.stage = stage

    def submit(self, name: str, work: Callable[[], Any], key: str | None = None) -> Operation:
        with self._lock:
            if key is not None and key in self._by_key:
                known_name, known = self._by_key[key]
                if known_name != name:
                    raise Conflict(f"The key {key!r} was used for {known_name}, and now for {name}.")
                return known
            operation = Operation(name, work)
            self._by_id[operation.id] = operation
            if key is not None:
                self._by_key[key] = (name, operation)
            self._forget()
        self._queue.put(operation)
        return operation

    def get(self, operation_id: str, wait_seconds: float) -> Operation:
        if not 0 <= wait_seconds <= 60:
            raise BadRequest(f"wait must be from 0 to 60 seconds, but it is {wait_seconds}.")
        with self._lock:
            operation = self._by_id.get(operation_id)
        if operation is None:
            raise NotFound(f"There is no operation {operation_id!r}; this bridge may have been started anew.")
        operation.done.wait(wait_seconds)
        return operation

    def close(self, limit_seconds: float) -> bool:
        """Lets the running operation end, drops those behind it. False when it did not end in time."""
        self._queue.put(None)
        self._thread.join(limit_seconds)
        return not self._thread.is_alive()

    def _forget(self) -> None:
        finished = [key for key, operation in self._by_id.items() if operation.done.is_set()]
        for key in finished[: max(0, len(finished) - _KEPT)]:
            gone = self._by_id.pop(key)
            self._by_key = {k: entry for k, entry in self._by_key.items() if entry[1] is not gone}

    def _work(self) -> None:
        while (operation := self._queue.get()) is not None:
            self._current = operation
            operation.run()
            self._current = None
            # Arguments may be large, and a finished operation is kept for a while.
            operation.work = lambda: None
