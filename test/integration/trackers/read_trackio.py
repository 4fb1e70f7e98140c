"""Logs documents of `agent-trainer export --format trackio` with Trackio, and prints what it stored as JSON."""

import json
import sys

import trackio
from trackio.cli_helpers import trace_rollup
from trackio.sqlite_storage import SQLiteStorage

rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]

run = trackio.init(project="shop", name="coin", embed=False)
for row in rows:
    trackio.log({row["key"]: row["trace"]}, step=row["step"])
trackio.finish()

# The class takes the same fields.
for row in rows:
    trace = dict(row["trace"])
    kind = trace.pop("_type")
    assert trackio.Trace(**trace)._to_dict("shop", "coin") == {"_type": kind, **trace}

traces = []
for stored in SQLiteStorage.get_traces("shop", run="coin"):
    summary = trace_rollup(stored)
    traces.append(
        {
            "id": stored["metadata"]["episode_id"],
            "step": stored["step"],
            "key": stored["key"],
            "messages": stored["messages"],
            "status": summary["status"],
            "tokens": [summary["input_tokens"], summary["output_tokens"]],
        }
    )
wanted = rows[0]["trace"]["metadata"]["episode_id"]
found = len(SQLiteStorage.get_traces("shop", run="coin", search=wanted))
print(json.dumps({"traces": traces, "found": found}))
