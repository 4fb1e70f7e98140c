"""python -m agent_trainer_bridge: serves one training until it is told to stop or its parent ends.

The token comes from AGENT_TRAINER_BRIDGE_TOKEN; tests name another engine, module:Class, in
AGENT_TRAINER_BRIDGE_ENGINE. One line of JSON on stdout says where it listens; whatever
else is written goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading

from . import PROTOCOL
from .engines import make_engine
from .operations import Operations
from .routes import Services
from .server import make_server
from .stop import Stop
from .training import Training

TOKEN_VARIABLE = "AGENT_TRAINER_BRIDGE_TOKEN"
ENGINE_VARIABLE = "AGENT_TRAINER_BRIDGE_ENGINE"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="agent_trainer_bridge")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--watch-stdin", action="store_true", help="stop when stdin closes, as it does when the parent ends"
    )
    parser.add_argument("--grace", type=float, default=30.0, help="seconds that a running operation gets to end")
    return parser.parse_args()


def _claim_stdout() -> int:
    """The real stdout for the ready line; what others print from now on goes to stderr."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


def _watch_stdin(stop: Stop) -> None:
    while os.read(0, 4096):
        pass
    stop.request()


def _address(host: str) -> str:
    """Where others reach it: a wildcard is no address."""
    if host not in ("0.0.0.0", "::"):
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent; the system only chooses the interface.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def main() -> int:
    arguments = _arguments()
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if len(token) < 16:
        print(f"{TOKEN_VARIABLE} must be set, to 16 characters at least.", file=sys.stderr)
        return 2
    stdout = _claim_stdout()
    stop = Stop()
    engine = os.environ.get(ENGINE_VARIABLE, "verl")
    operations = Operations()
    training = Training(make_engine(engine), engine, operations.tell)
    server = make_server(Services(training, operations, token, stop.request), arguments.host, arguments.port)
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    ready = {
        "event": "ready",
        "protocol": PROTOCOL,
        "engine": engine,
        "host": _address(arguments.host),
        "port": server.server_address[1],
        "pid": os.getpid(),
    }
    os.write(stdout, json.dumps(ready).encode() + b"\n")
    if arguments.watch_stdin:
        threading.Thread(target=_watch_stdin, args=(stop,), name="lifeline", daemon=True).start()
    stop.wait()
    server.shutdown()
    has_ended = operations.close(arguments.grace)
    training.close()
    # A thread that hangs in native code would keep the process alive.
    os._exit(0 if has_ended else 1)


if __name__ == "__main__":
    sys.exit(main())
