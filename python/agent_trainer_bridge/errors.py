"""What the bridge refuses or fails with; each has a name that goes over the wire."""

from __future__ import annotations


class BridgeError(Exception):
    """`kind` is for programs, the text for people. `status` is that of an HTTP answer."""

    kind = "engine"
    status = 500


class BadRequest(BridgeError):
    kind = "request"
    status = 400


class Unauthorized(BridgeError):
    kind = "unauthorized"
    status = 401


class NotFound(BridgeError):
    kind = "not-found"
    status = 404


class Conflict(BridgeError):
    """The request does not fit the state of the training, such as a step that was skipped."""

    kind = "conflict"
    status = 409


class TooLarge(BridgeError):
    kind = "too-large"
    status = 413


class NotReady(BridgeError):
    kind = "not-ready"
    status = 503


class NumericsError(BridgeError):
    """A loss or gradient is not finite; the weights did not change."""

    kind = "numerics"


class CheckpointError(BridgeError):
    kind = "checkpoint"
    status = 400


class UnsupportedError(BridgeError):
    """A version or an option that the engine does not know."""

    kind = "unsupported"
    status = 400
