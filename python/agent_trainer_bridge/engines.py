"""Engines by name."""

from __future__ import annotations

from importlib import import_module

from .engine import Engine
from .errors import UnsupportedError


def make_engine(name: str) -> Engine:
    """`verl`, or `module:Class` of another engine; its packages are imported only when it is started."""
    if name == "verl":
        from .verl_engine.engine import VerlEngine

        return VerlEngine()
    module, _, attribute = name.partition(":")
    if attribute == "":
        raise UnsupportedError(f"There is no engine {name!r}. Known: verl, or module:Class.")
    engine: Engine = getattr(import_module(module), attribute)()
    return engine
