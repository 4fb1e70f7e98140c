"""Reads with the owners' libraries what a run wrote: prints {tensorboard, wandb, mlflow} as JSON."""

import json
import pathlib
import struct
import sys
import zlib

import mlflow
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from wandb.proto import wandb_internal_pb2

folder, mlflow_url, metric = sys.argv[1:]


def tensorboard():
    events = EventAccumulator(f"{folder}/tensorboard")
    events.Reload()
    return [[scalar.step, scalar.value] for scalar in events.Scalars(metric)]


def wandb_records(path):
    data, offset, record = path.read_bytes(), 7, b""
    assert data[:7] == b":W&B\xe1\xbe\x00"
    while offset < len(data):
        room = 32768 - offset % 32768
        if room < 7:
            offset += room
            continue
        crc, length, kind = struct.unpack("<IHB", data[offset : offset + 7])
        piece = data[offset + 7 : offset + 7 + length]
        assert crc == zlib.crc32(bytes([kind]) + piece)
        offset, record = offset + 7 + length, record + piece
        if kind in (1, 4):
            message = wandb_internal_pb2.Record()
            message.ParseFromString(record)
            record = b""
            yield message


def wandb():
    rows, runs = [], []
    for path in sorted(pathlib.Path(folder).glob("wandb/*/run-*.wandb")):
        for record in wandb_records(path):
            if record.WhichOneof("record_type") == "run":
                config = {item.key: json.loads(item.value_json) for item in record.run.config.update}
                runs.append([record.run.project, record.run.display_name, config["rollout.n"]])
            if record.WhichOneof("record_type") == "history":
                values = {i.nested_key[0]: json.loads(i.value_json) for i in record.history.item}
                if metric in values:
                    rows.append([record.history.step.num, values[metric]])
    return {"rows": rows, "runs": runs}


def mlflow_run():
    client = mlflow.MlflowClient(mlflow_url)
    experiment = client.get_experiment_by_name("shop")
    (run,) = client.search_runs([experiment.experiment_id])
    history = client.get_metric_history(run.info.run_id, metric)
    return {
        "status": run.info.status,
        "n": run.data.params["rollout.n"],
        "rows": [[entry.step, entry.value] for entry in history],
    }


print(json.dumps({"tensorboard": tensorboard(), "wandb": wandb(), "mlflow": mlflow_run()}))
