"""What rLLM's trainer and an agent of its do, with the client that rLLM ships."""

import json
import sys

import httpx
from rllm_model_gateway.client import GatewayClient

url = sys.argv[1]
client = GatewayClient(url)
out = {"health": client.health()["status"]}
# The version of 0.1.0 has no method for this.
version = f"{url}/admin/weight_version"
out["before"] = httpx.get(version).json()["weight_version"]


def ask(session: str) -> int:
    base = client.get_session_url(session)
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
    return httpx.post(f"{base}/chat/completions", json=body).status_code


def versions(session: str) -> list:
    # Records of 0.1.0 have no field for it.
    told = httpx.get(f"{url}/sessions/{session}/traces").json()
    return [trace["weight_version"] for trace in told]


session = client.create_session("task/1:0", metadata={"step": 3})
out["asked"] = [ask(session), ask("implicit")]
out["unversioned"] = versions(session)
httpx.post(version, json={"weight_version": 7}).raise_for_status()
out["asked"].append(ask(session))
client.flush()
traces = client.get_session_traces(session)
out["session"] = session
out["versions"] = versions(session)
out["said"] = [trace.response_message["content"] for trace in traces]
out["ids"] = [[len(trace.prompt_token_ids), len(trace.completion_token_ids)] for trace in traces]
out["one"] = client.get_trace(traces[0].trace_id).trace_id == traces[0].trace_id
out["info"] = client.get_session_info(session)["trace_count"]
out["implicit"] = len(client.get_session_traces("implicit"))
out["sessions"] = sorted(each["session_id"] for each in client.list_sessions())
out["deleted"] = client.delete_session(session)
print(json.dumps(out))
