"""Access, refusals and repeated requests over a real socket."""

from __future__ import annotations

import http.client
import json
import threading
import unittest
from typing import Any

from tests.fake.engine import FakeEngine
from agent_trainer_bridge.operations import Operations
from agent_trainer_bridge.routes import Services
from agent_trainer_bridge.server import make_server
from agent_trainer_bridge.training import Training
from agent_trainer_bridge.wire import encode_rows

from .rows_of import row_of

TOKEN = "0123456789abcdef"


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.stopped = threading.Event()
        self.training = Training(FakeEngine(), "fake")
        self.operations = Operations()
        services = Services(self.training, self.operations, TOKEN, self.stopped.set, max_body_bytes=10_000)
        self.server = make_server(services, "127.0.0.1", 0)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.operations.close(5)
        self.training.close()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_address[1], timeout=10)
        connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", **headers})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def do(self, path: str, body: bytes | dict[str, Any], key: str | None = None) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if key is None else {"Idempotency-Key": key}
        status, answer = self.ask("POST", path, data, **headers)
        self.assertEqual(status, 202, answer)
        return self.ask("GET", f"/operations/{answer['operation']}?wait=10")[1]

    def start(self) -> None:
        self.assertEqual(self.do("/start", {"model": "fake", "seed": 1})["state"], "done")

    def test_needs_the_token_everywhere(self) -> None:
        for header in ("", "Bearer wrong", f"Basic {TOKEN}"):
            for method, path in (("GET", "/health"), ("POST", "/update"), ("POST", "/shutdown")):
                status, answer = self.ask(method, path, Authorization=header)
                self.assertEqual((status, answer["error"]["kind"]), (401, "unauthorized"))
        self.assertFalse(self.stopped.is_set())

    def test_refuses_what_is_unknown_too_large_or_no_json(self) -> None:
        self.assertEqual(self.ask("GET", "/nothing")[0], 404)
        self.assertEqual(self.ask("GET", "/operations/none")[0], 404)
        self.assertEqual(self.ask("POST", "/start", b"{")[0], 400)
        self.assertEqual(self.ask("POST", "/start", b"[]")[0], 400)
        self.assertEqual(self.ask("POST", "/update", b"x" * 10_001)[0], 413)

    def test_trains_once_for_a_request_that_is_repeated(self) -> None:
        self.start()
        body = encode_rows(
            [row_of([10, 121], [0, 1], [0, -3.0])], {"step": 1, "learning_rate": 0.1, "loss": {"name": "ppo"}}
        )
        first = self.do("/update", body, "a")
        self.assertEqual(first, self.do("/update", body, "a"))
        # A lost key, as after a restart of the caller: the step's number still says it is done.
        self.assertTrue(self.do("/update", body, "b")["result"]["repeated"])
        self.assertEqual(self.ask("GET", "/health")[1], {"status": "ready", "step": 1, "weight_version": 0})

    def test_tells_why_an_operation_failed(self) -> None:
        answer = self.do("/sync", {"weight_version": 1})
        self.assertEqual((answer["state"], answer["error"]["kind"]), ("failed", "not-ready"))
        self.start()
        loss = {"name": "gspo"}
        body = encode_rows([row_of([10, 121], [0, 1])], {"step": 1, "learning_rate": 0.1, "loss": loss})
        answer = self.do("/update", body)
        self.assertEqual(answer["error"]["kind"], "unsupported")
        self.assertIn("no loss 'gspo'", answer["error"]["message"])

    def test_says_which_servers_there_are(self) -> None:
        self.assertEqual(self.ask("GET", "/servers")[1], {"servers": [], "weight_version": 0})
        self.start()
        (server,) = self.ask("GET", "/servers")[1]["servers"]
        self.assertEqual((server["kind"], server["logprob_kind"]), ("vllm", "raw"))
        self.assertEqual(self.ask("GET", "/info")[1]["data_parallel_size"], 2)

    def test_stops_when_told(self) -> None:
        self.assertEqual(self.ask("POST", "/shutdown")[0], 202)
        self.assertTrue(self.stopped.wait(5))


if __name__ == "__main__":
    unittest.main()
