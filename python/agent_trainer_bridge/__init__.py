"""Trains a policy for agent-trainer: an authenticated HTTP API in front of an engine.

Nothing outside the standard library is imported before an engine that needs it is started.
"""

PROTOCOL = 3
"""Counts up when a route, a field or a meaning changes. The TypeScript side refuses another."""
