"""Validates each line of a file with Harbor's model of trajectories; prints the number of lines."""

import json
import sys

from harbor.models.trajectories import Trajectory

count = 0
for line in open(sys.argv[1], encoding="utf-8"):
    document = Trajectory.model_validate(json.loads(line))
    # What Harbor writes again has lost nothing.
    again = document.model_dump(mode="json", exclude_none=True)
    assert again == json.loads(line), f"line {count + 1} comes back changed"
    count += 1
print(count)
