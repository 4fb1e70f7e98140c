"""Answers completions as vLLM does, as far as agent-trainer's gateway asks: ids in, ids and log-probabilities out."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .policy import Policy

_NEUTRAL: dict[str, tuple[float, ...]] = {
    "top_p": (1,),
    "top_k": (0, -1),
    "min_p": (0,),
    "repetition_penalty": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
}


def _text(token: int) -> str:
    return bytes([token]).decode("utf-8", "replace") if token < 256 else ""


def _draw(policy: Policy, body: dict[str, Any], index: int, is_processed: bool) -> Iterator[dict[str, Any]]:
    """One choice, a token at a time."""
    tokens = list(body["prompt"])
    draws = random.Random(f"{body.get('seed', 0)}/{index}/{tokens}")
    stops = set(body.get("stop_token_ids") or [])
    most = body.get("max_tokens", 16)
    for drawn in range(1, most + 1):
        token, raw, tempered = policy.sample(tokens, draws, body.get("temperature", 1.0))
        logprob = tempered if is_processed else raw
        tokens.append(token)
        finish = "stop" if token in stops else "length" if drawn == most else None
        yield {
            "index": index,
            "text": "" if token in stops else _text(token),
            "token_ids": [token],
            "logprobs": {
                "tokens": [f"token_id:{token}"],
                "token_logprobs": [logprob],
                "top_logprobs": [{}],
                "text_offset": [0],
            },
            "finish_reason": finish,
            "stop_reason": token if token in stops else None,
        }
        if finish is not None:
            return


def _join(parts: list[dict[str, Any]]) -> dict[str, Any]:
    whole = dict(parts[-1])
    whole["text"] = "".join(part["text"] for part in parts)
    whole["token_ids"] = [token for part in parts for token in part["token_ids"]]
    whole["logprobs"] = {key: [value for part in parts for value in part["logprobs"][key]] for key in whole["logprobs"]}
    return whole


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Many rollouts begin at the same moment.
    request_queue_size = 1024


class InferenceServer:
    """`is_processed`: log-probabilities are those after temperature, as by vLLM's `processed_logprobs`."""

    def __init__(self, policy: Policy, context_length: int, is_processed: bool = False) -> None:
        self.policy: Policy | None = policy
        self.context_length = context_length
        self.is_processed = is_processed
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = _Server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), name="inference", daemon=True).start()

    def serve(self, policy: Policy) -> None:
        """Calls that have begun keep the policy that they began with. Ends a sleep."""
        self.policy = policy

    def sleep(self) -> None:
        """Gives its weights up: only `serve` wakes it."""
        self.policy = None

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: InferenceServer

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""

    def do_GET(self) -> None:
        model = {"id": "fake", "object": "model", "max_model_len": self.owner.context_length}
        answers: dict[str, Any] = {
            "/health": {},
            "/version": {"version": "fake"},
            "/v1/models": {"object": "list", "data": [model]},
        }
        answer = answers.get(self.path)
        self._send(404, {"error": {"message": "not found"}}) if answer is None else self._send(200, answer)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        problem = self._problem(body)
        policy = self.owner.policy
        if policy is None:
            self._send(503, {"error": {"message": "The server sleeps."}})
        elif problem is not None:
            self._send(400, {"error": {"message": problem}})
        elif body.get("stream"):
            self._stream(policy, body)
        else:
            self._whole(policy, body)

    def _problem(self, body: dict[str, Any]) -> str | None:
        if self.path != "/v1/completions":
            return f"There is no POST {self.path}."
        if not isinstance(body.get("prompt"), list):
            return "prompt must be a list of ids."
        room = self.owner.context_length - len(body["prompt"])
        if body.get("max_tokens", 16) > room:
            return f"This model's maximum context length is {self.owner.context_length} tokens."
        for name, neutral in _NEUTRAL.items():
            if body.get(name, neutral[0]) not in neutral:
                return f"{name}={body[name]} is not supported."
        return None

    def _whole(self, policy: Policy, body: dict[str, Any]) -> None:
        is_processed = self.owner.is_processed
        choices = [_join(list(_draw(policy, body, index, is_processed))) for index in range(body.get("n", 1))]
        for choice in choices:
            choice["prompt_token_ids"] = body["prompt"]
        drawn = sum(len(choice["token_ids"]) for choice in choices)
        self._send(200, {**self._head(), "choices": choices, "usage": self._usage(body, drawn)})

    def _stream(self, policy: Policy, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        drawn = 0
        for index in range(body.get("n", 1)):
            for part in _draw(policy, body, index, self.owner.is_processed):
                drawn += 1
                self._event({**self._head(), "choices": [part], "usage": self._usage(body, drawn)})
        self._event({**self._head(), "choices": [], "usage": self._usage(body, drawn)})
        self.wfile.write(b"data: [DONE]\n\n")

    def _head(self) -> dict[str, Any]:
        return {"id": "cmpl-fake", "object": "text_completion", "created": 0, "model": "fake"}

    def _usage(self, body: dict[str, Any], drawn: int) -> dict[str, int]:
        prompt = len(body["prompt"])
        return {"prompt_tokens": prompt, "completion_tokens": drawn, "total_tokens": prompt + drawn}

    def _event(self, value: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
