"""What each route reads from its request and asks of the training. Knows no sockets and no access."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import PROTOCOL
from .critic import CriticUpdate, check_critic
from .engine import StartOptions
from .errors import BadRequest
from .loss import Loss, check_loss
from .operations import Operations
from .training import Training
from .wire import decode_rows

MAX_BODY_BYTES = 1 << 32


@dataclass(frozen=True)
class Services:
    training: Training
    operations: Operations
    token: str
    stop: Callable[[], None]
    """Begins the end of the process, and returns at once."""
    max_body_bytes: int = MAX_BODY_BYTES


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if isinstance(value, str) and value:
        return value
    raise BadRequest(f"{name} must be text that is not empty, but it is {value!r}.")


def _whole(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if type(value) is int and value >= 0:
        return value
    raise BadRequest(f"{name} must be a whole number of at least 0, but it is {value!r}.")


def _json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body or b"{}")
    except ValueError as error:
        raise BadRequest(f"The body is no JSON: {error}.") from error
    if isinstance(value, dict):
        return value
    raise BadRequest("The body must be an object.")


def _start(training: Training, body: bytes) -> Callable[[], Any]:
    fields = _json(body)
    options = StartOptions(
        model=_text(fields, "model"),
        seed=_whole(fields, "seed"),
        overrides=[str(entry) for entry in fields.get("overrides", [])],
        engine=dict(fields.get("engine", {})),
        reference=bool(fields.get("reference", False)),
        critic=bool(fields.get("critic", False)),
        tell=training.tell,
    )
    return lambda: training.start(options)


def _loss(value: Any) -> Loss:
    try:
        loss = Loss(**value)
        check_loss(loss)
    except TypeError as error:
        raise BadRequest(f"loss cannot be read: {error}.") from error
    return loss


def _critic(value: Any) -> CriticUpdate | None:
    if value is None:
        return None
    try:
        critic = CriticUpdate(**value)
    except TypeError as error:
        raise BadRequest(f"critic cannot be read: {error}.") from error
    check_critic(critic)
    return critic


def _update(training: Training, body: bytes) -> Callable[[], Any]:
    rows, fields = decode_rows(body)
    step = _whole(fields, "step")
    loss = _loss(fields.get("loss", {}))
    rate = fields.get("learning_rate")
    if not isinstance(rate, (int, float)):
        raise BadRequest(f"learning_rate must be a number, but it is {rate!r}.")
    critic = _critic(fields.get("critic"))
    return lambda: training.update(step, rows, loss, float(rate), critic)


def _forward(training: Training, body: bytes) -> Callable[[], Any]:
    rows, fields = decode_rows(body)
    which = _text(fields, "which")
    return lambda: {"logprobs": training.forward(rows, which)}


def _values(training: Training, body: bytes) -> Callable[[], Any]:
    rows, _ = decode_rows(body)
    return lambda: {"values": training.values(rows)}


def _sync(training: Training, body: bytes) -> Callable[[], Any]:
    version = _whole(_json(body), "weight_version")
    return lambda: training.sync(version)


def _save(training: Training, body: bytes) -> Callable[[], Any]:
    folder = Path(_text(_json(body), "folder"))
    return lambda: training.save(folder)


def _load(training: Training, body: bytes) -> Callable[[], Any]:
    fields = _json(body)
    folder = Path(_text(fields, "folder"))
    version = _whole(fields, "weight_version")
    return lambda: training.load(folder, version)


OPERATIONS: dict[str, Callable[[Training, bytes], Callable[[], Any]]] = {
    "/start": _start,
    "/update": _update,
    "/forward": _forward,
    "/values": _values,
    "/sync": _sync,
    "/save": _save,
    "/load": _load,
    "/sleep": lambda training, _: training.sleep,
    "/wake": lambda training, _: training.wake,
}


def _health(services: Services) -> dict[str, Any]:
    training = services.training
    running = services.operations.running
    status = "ready"
    if training.failure is not None:
        status = "failed"
    elif running is not None:
        status = "busy"
    elif training.started is None:
        status = "idle"
    answer: dict[str, Any] = {"status": status, "step": training.step, "weight_version": training.weight_version}
    if running is not None:
        answer["operation"] = running
    if training.failure is not None:
        answer["error"] = training.failure
    return answer


def _info(services: Services) -> dict[str, Any]:
    training = services.training
    answer: dict[str, Any] = {"protocol": PROTOCOL, "engine": training.engine_name}
    if training.started is not None:
        answer.update(training.describe())
    return answer


def _servers(services: Services) -> dict[str, Any]:
    started = services.training.started
    servers = [] if started is None else [asdict(server) for server in started.servers]
    return {"servers": servers, "weight_version": services.training.weight_version}


READS: dict[str, Callable[[Services], dict[str, Any]]] = {
    "/health": _health,
    "/info": _info,
    "/servers": _servers,
}
