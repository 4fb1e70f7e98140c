/** Servers that do something else than ours, played by ours with requests and results changed on the way. */
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
} from "../../src/tinker-api/codec/proto-codec.ts";
import type { Fetch } from "./local-server.ts";
import type { Json } from "./raw-client.ts";

/** Samples from the weights that are being trained, whichever snapshot is asked. */
export function liveSnapshots(fetch: Fetch): Fetch {
  let modelId: string | undefined;
  let next = 1_000_000;
  const post = async (input: string, init: RequestInit, body: Json): Promise<Json> =>
    (await (await fetch(input, { ...init, body: JSON.stringify(body) })).json()) as Json;
  return async (input, init) => {
    const route = (name: string): string => input.replace(/[a-z_]+$/u, name);
    if (input.endsWith("/save_weights_for_sampler"))
      modelId = String((JSON.parse(textOf(init)) as Json)["model_id"]);
    if (!input.endsWith("/asample") || modelId === undefined) return fetch(input, init);
    // A snapshot of now, which the client knows nothing of.
    next += 1;
    const { request_id: id } = await post(route("save_weights_for_sampler"), init, {
      model_id: modelId,
      sampling_session_seq_id: next,
    });
    const { sampling_session_id: now } = await post(route("retrieve_future"), init, {
      request_id: id,
    });
    const body = JSON.parse(textOf(init)) as Json;
    const changed = { ...body, sampling_session_id: now, seq_id: next };
    return fetch(input, { ...init, body: JSON.stringify(changed) });
  };
}

/** Whichever snapshot is asked, the newest one samples: as a server with one place for an adapter. */
export function newestSnapshot(fetch: Fetch): Fetch {
  let newest: string | undefined;
  let nextSeqId = 1_000_000;
  return async (input, init) => {
    if (input.endsWith("/asample") && newest !== undefined) {
      const body = JSON.parse(textOf(init)) as Json;
      // Under a number of its own, since two samplers share what was one's.
      const changed = { ...body, sampling_session_id: newest, seq_id: nextSeqId++ };
      return fetch(input, { ...init, body: JSON.stringify(changed) });
    }
    const response = await fetch(input, init);
    if (!input.endsWith("/retrieve_future") || isProto(response)) return response;
    const json = (await response.clone().json()) as { sampling_session_id?: string | null };
    newest = json.sampling_session_id ?? newest;
    return response;
  };
}

const textOf = ({ body }: RequestInit): string => (typeof body === "string" ? body : "");

const isProto = ({ headers }: Response): boolean =>
  (headers.get("content-type") ?? "").includes("protobuf");

/** What a server may do otherwise, each found by a probe. */
export function wrongServer(fetch: Fetch): Fetch {
  let seeds = 0;
  const changeSample = (body: Json): Json => {
    const { stop: _, top_k: __, ...params } = body["sampling_params"] as Json;
    const changed = { ...params, ...("seed" in params ? { seed: seeds++ } : {}) };
    return { ...body, sampling_params: changed, topk_prompt_logprobs: 0 };
  };
  const changeStep = (body: Json): Json => {
    const { grad_clip_norm: _, ...params } = body["adam_params"] as Json;
    return { ...body, adam_params: params };
  };
  const changeForward = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
    const request = decodeForwardBackwardRequest(bytes);
    const isPolicy = request.lossFn !== "cross_entropy";
    const data = request.data.map(({ tokens, lossInputs }) => {
      const { weights, ...others } = lossInputs;
      const kept = isPolicy || weights === undefined ? {} : { weights };
      return { tokens, lossInputs: { ...others, ...kept } };
    });
    return encodeForwardBackwardRequest({ ...request, data, lossConfig: {} });
  };
  const changeLoss = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
    const output = decodeForwardBackwardOutput(bytes);
    const sum = output.metrics["loss:sum"]!;
    const metrics = { ...output.metrics, "loss:sum": sum / output.outputs.length };
    return encodeForwardBackwardOutput({ ...output, metrics });
  };
  const json = (init: RequestInit, change: (body: Json) => Json): RequestInit => ({
    ...init,
    body: JSON.stringify(change(JSON.parse(textOf(init)) as Json)),
  });
  return async (input, init) => {
    const path = new URL(input).pathname.replace("/api/v1/", "");
    if (path === "checkpoints") return Response.json({ detail: "Not Found" }, { status: 404 });
    if (path === "asample") return fetch(input, json(init, changeSample));
    if (path === "optim_step") return fetch(input, json(init, changeStep));
    if (path === "forward_backward" && init.body instanceof Uint8Array)
      return fetch(input, { ...init, body: changeForward(init.body) });
    const response = await fetch(input, init);
    const isForward = new Headers(init.headers).get("x-tinker-request-type") === "Forward";
    if (!isForward || !isProto(response)) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    return new Response(changeLoss(bytes), { headers: response.headers });
  };
}
