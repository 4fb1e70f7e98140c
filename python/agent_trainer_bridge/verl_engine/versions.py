"""Which versions are installed, and which of verl's this engine knows."""

from __future__ import annotations

import importlib.metadata
import re

from ..errors import UnsupportedError

SUPPORTED = ((0, 8), (0, 9))
_NAMED = ("verl", "ray", "torch", "transformers", "tensordict", "vllm", "sglang")


def installed_versions() -> dict[str, str]:
    found = {}
    for name in _NAMED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def check_verl(version: str | None, has_critic: bool = False) -> None:
    """Raises UnsupportedError for a version whose interfaces may be others."""
    wanted = " or ".join(f"{major}.{minor}.x" for major, minor in SUPPORTED)
    if version is None:
        raise UnsupportedError(f"verl is not installed. Install verl {wanted}: agent-trainer verl setup")
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None or (int(match[1]), int(match[2])) not in SUPPORTED:
        raise UnsupportedError(f"verl {version} is installed, but this bridge knows {wanted}.")
    if has_critic and version.startswith("0.8."):
        raise UnsupportedError(
            f"verl {version} is installed, whose critics have other options. algorithm.estimator=gae needs verl 0.9.x."
        )
