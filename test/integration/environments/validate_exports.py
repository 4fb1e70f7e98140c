"""Validates each line of a file with the model of the format's owner; prints the number of lines."""

import json
import sys

kind, path = sys.argv[1:]
if kind == "atif":
    from harbor.models.trajectories import Trajectory as Model
else:
    from openenv.core.harness.training import TrainingTrace as Model

count = 0
for line in open(path, encoding="utf-8"):
    document = Model.model_validate(json.loads(line))
    # What the owner writes again has lost nothing.
    again = document.model_dump(mode="json", exclude_none=True)
    assert again == json.loads(line), f"line {count + 1} comes back changed"
    count += 1
print(count)
