"""An inference server for verl on CPUs: transformers' model, a token at a time, answering as vLLM does.

Three parts, as verl wants them: the server (a Ray actor), the replica that starts it, and the adapter in
the training worker that sends weights.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import ray
import torch
from transformers import AutoConfig, AutoModelForCausalLM
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica
from verl.workers.rollout.utils import ensure_async_iterator


def _name(replica_rank: int) -> str:
    return f"stub_server_{replica_rank}"


class StubServer:
    def __init__(self, path: str, context_length: int) -> None:
        torch.set_num_threads(1)
        config = AutoConfig.from_pretrained(path)
        # Random, as verl's own servers start: only what is sent must count.
        torch.manual_seed(12345)
        self.model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").float().eval()
        self.path = path
        self.context_length = context_length
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"owner": self})
        self.http = _Http(("127.0.0.1", 0), handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def address(self) -> str:
        return f"127.0.0.1:{self.http.server_address[1]}"

    def load(self, weights: dict[str, Any]) -> None:
        with self.lock:
            missing, unexpected = self.model.load_state_dict(
                {name: torch.from_numpy(value) for name, value in weights.items()}, strict=False
            )
            self.model.tie_weights()
        absent = [name for name in missing if "lm_head" not in name]
        if absent or unexpected:
            raise RuntimeError(f"Weights do not fit: {absent} missing, {unexpected} unexpected.")

    def sleep(self) -> None: ...

    def wake_up(self) -> None: ...

    def abort_all_requests(self) -> None: ...

    def resume_generation(self) -> None: ...

    def clear_kv_cache(self) -> None: ...

    def release_kv_cache(self) -> None: ...

    def resume_kv_cache(self) -> None: ...

    @torch.no_grad()
    def draw(self, body: dict[str, Any], index: int) -> tuple[list[int], list[float], str]:
        generator = torch.Generator().manual_seed(int(body.get("seed", 0)) + index)
        stops = set(body.get("stop_token_ids") or [])
        temperature = body.get("temperature", 1.0)
        tokens: list[int] = []
        logprobs: list[float] = []
        given = torch.tensor([body["prompt"]])
        cache = None
        with self.lock:
            for _ in range(body.get("max_tokens", 16)):
                output = self.model(input_ids=given, past_key_values=cache, use_cache=True)
                cache = output.past_key_values
                logits = output.logits[0, -1].float()
                if temperature == 0:
                    token = int(logits.argmax())
                else:
                    token = int(torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator))
                tokens.append(token)
                logprobs.append(float(logits.log_softmax(-1)[token]))
                if token in stops:
                    return tokens, logprobs, "stop"
                given = torch.tensor([[token]])
        return tokens, logprobs, "length"


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: StubServer

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_GET(self) -> None:
        models = {"data": [{"id": self.owner.path, "max_model_len": self.owner.context_length}]}
        answers = {"/health": {}, "/version": {"version": "stub"}, "/v1/models": models}
        self._send(200 if self.path in answers else 404, answers.get(self.path, {}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        choices = []
        drawn = 0
        for index in range(body.get("n", 1)):
            tokens, logprobs, finish = self.owner.draw(body, index)
            drawn += len(tokens)
            choices.append(
                {
                    "index": index,
                    "text": "",
                    "token_ids": tokens,
                    "prompt_token_ids": body["prompt"],
                    "logprobs": {"tokens": [f"token_id:{token}" for token in tokens], "token_logprobs": logprobs},
                    "finish_reason": finish,
                    "stop_reason": tokens[-1] if finish == "stop" else None,
                }
            )
        usage = {"prompt_tokens": len(body["prompt"]), "completion_tokens": drawn}
        self._send(200, {"id": "cmpl-stub", "object": "text_completion", "choices": choices, "usage": usage})

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class StubReplica(RolloutReplica):
    async def launch_servers(self) -> None:
        server = (
            ray.remote(StubServer)
            .options(name=_name(self.replica_rank), num_cpus=0)
            .remote(self.model_config.path, self.config.max_model_len)
        )
        self.servers = [server]
        self._server_handle = server
        self._server_address = await server.address.remote()


class ServerAdapter(BaseRollout):
    """Sends whole weights to its server: that of its rank in training, or that of its replica elsewhere."""

    def __init__(self, *args: Any, replica_rank: int | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.replica_rank = torch.distributed.get_rank() if replica_rank is None else replica_rank
        self.is_leader_rank = True

    async def resume(self, tags: list[str]) -> None: ...

    async def release(self) -> None: ...

    async def update_weights(self, weights: Any, wire_format: str = "named_tensors", **kwargs: Any) -> None:
        pairs = ensure_async_iterator(weights)
        whole = {name: tensor.detach().cpu().float().numpy() async for name, tensor in pairs}
        await ray.get_actor(_name(self.replica_rank)).load.remote(whole)
