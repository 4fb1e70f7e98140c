"""The verl engine without verl: what wakes servers, and the temperatures that it is told."""

from __future__ import annotations

import unittest

from agent_trainer_bridge.packing import pack
from agent_trainer_bridge.verl_engine.engine import VerlEngine
from agent_trainer_bridge.verl_engine.tensors import row_temperatures

from .rows_of import row_of


class Exchange:
    """As verl's manager of colocated replicas."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def sleep_replicas(self) -> None:
        self.calls.append("sleep")

    def wake_up_replicas(self) -> None:
        raise ValueError("wake_up not support rollout_mode RolloutMode.HYBRID")

    def update_weights(self, global_steps: int) -> None:
        self.calls.append(f"weights {global_steps}")


class Cluster:
    is_colocated = True

    def __init__(self) -> None:
        self.exchange = Exchange()


class VerlEngineTest(unittest.TestCase):
    def test_wakes_colocated_servers_by_handing_them_the_weights_that_they_served(self) -> None:
        engine = VerlEngine()
        cluster = Cluster()
        engine._cluster = cluster
        engine.sync(4)
        engine.wake()
        engine.sleep()
        engine.wake()
        self.assertEqual(cluster.exchange.calls, ["sleep", "weights 4", "sleep", "weights 4"])

    def test_tells_one_temperature_where_rows_agree_and_one_for_each_place_where_not(self) -> None:
        rows = [row_of([1, 2, 3], [0, 1, 1], temperature=t) for t in (0.7, 0.7, 0.7)]
        self.assertEqual(row_temperatures(rows, pack([3, 3, 3], 2)), 0.7)
        mixed = [*rows[:2], row_of([1, 2], [0, 1], temperature=1.3)]
        packing = pack([3, 3, 2], 2)
        expected = [1.0 if index is None else mixed[index].temperature for index in (0, 2, 1, None)]
        self.assertEqual(packing.order, (0, 2, 1, None))
        self.assertEqual(row_temperatures(mixed, packing), expected)


if __name__ == "__main__":
    unittest.main()
