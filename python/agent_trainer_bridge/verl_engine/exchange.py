"""Whether verl can bring weights to the servers in the way that is configured."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError


def check_exchange(registry: Any, backend: str) -> None:
    """`registry` is verl's CheckpointEngineRegistry. Raises UnsupportedError for a backend that it lacks."""
    try:
        registry.get(backend)
    # verl leaves out what it cannot import: up to 0.9.0 a KeyError says so, from 0.9.1 on a ValueError.
    except (KeyError, ValueError) as error:
        said = f" verl says: {error}." if isinstance(error, ValueError) else ""
        raise UnsupportedError(
            f"verl cannot exchange weights by {backend!r}: what it needs is not installed. "
            f"nccl needs the package cupy.{said}"
        ) from error
