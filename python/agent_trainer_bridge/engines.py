"""Engines by name."""

from __future__ import annotations

from .engine import Engine
from .errors import UnsupportedError


def make_engine(name: str) -> Engine:
    """Imports the engine's packages only when it is started."""
    if name == "fake":
        from .fake.engine import FakeEngine

        return FakeEngine()
    if name == "verl":
        from .verl_engine.engine import VerlEngine

        return VerlEngine()
    raise UnsupportedError(f"There is no engine {name!r}. Known: verl, fake.")
