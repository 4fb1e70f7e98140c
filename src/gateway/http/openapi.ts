/** The gateway's own routes as an OpenAPI 3.1 document. Held to the route table by a test. */

type Json = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const integer = { type: "integer" };
const number = { type: "number" };
const flag = { type: "boolean" };
const object = { type: "object", additionalProperties: true };
const list = (items: Json): Json => ({ type: "array", items });
const record = (properties: Json, required: readonly string[] = []): Json => ({
  type: "object",
  properties,
  required,
});
const nullable = (schema: Json): Json => ({ anyOf: [schema, { type: "null" }] });
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const schemas = {
  Error: record({
    error: record({ message: text, type: text, param: nullable(text), code: nullable(text) }),
  }),
  Session: record({
    session_id: text,
    trace_count: integer,
    calls_in_flight: integer,
    created_at: { ...number, description: "Seconds since the epoch." },
    metadata: object,
    seed: integer,
    sampling_params: object,
  }),
  Trace: record({
    trace_id: text,
    response_id: text,
    session_id: text,
    trajectory_id: nullable(text),
    sequence: integer,
    choice: integer,
    protocol: text,
    model: text,
    messages: list(object),
    tools: list(object),
    response_message: object,
    malformed: nullable(text),
    prompt_token_ids: list(integer),
    completion_token_ids: list(integer),
    logprobs: list(number),
    logprob_kind: { enum: ["raw", "processed"] },
    tempered_logprobs: nullable(list(number)),
    finish_reason: { enum: ["stop", "length", "aborted"] },
    weight_version: nullable(integer),
    weight_changes: nullable(list(object)),
    sampling_params: object,
    parent_trace_id: nullable(text),
    untrainable: nullable(text),
    worker: nullable(text),
    server_fields: nullable(object),
    recall_from: nullable(integer),
    started_at: number,
    first_token_at: nullable(number),
    finished_at: number,
    latency_ms: number,
    timestamp: number,
    token_counts: record({ prompt: integer, completion: integer }),
    metadata: object,
  }),
  Worker: record({
    worker_id: text,
    url: text,
    api_path: text,
    model_name: nullable(text),
    weight: number,
    healthy: flag,
    draining: flag,
    active_requests: integer,
    kind: nullable(text),
  }),
};

const json = (schema: Json): Json => ({ content: { "application/json": { schema } } });

function operation(summary: string, response: Json, body?: Json, status = "200"): Json {
  return {
    summary,
    ...(body ? { requestBody: json(body) } : {}),
    responses: {
      [status]: { description: "Done.", ...json(response) },
      default: { description: "Refused.", ...json(ref("Error")) },
    },
  };
}

function inPath(name: string): Json {
  return { name, in: "path", required: true, schema: text };
}

function inQuery(name: string, description: string): Json {
  return { name, in: "query", description, schema: number };
}

const since = inQuery("since", "Seconds since the epoch.");
const limit = inQuery("limit", "The most to return.");
const status = record({ status: text });
const sessionIds = record({ session_ids: list(text), since: number, limit: integer }, [
  "session_ids",
]);
const version = record({ weight_version: nullable(integer) });

const newSession = record({
  session_id: text,
  metadata: object,
  sampling_params: object,
  seed: integer,
});
const opened = record({ session_id: text, url: text, api_key: text, model: text });
const newWorker = record(
  { url: text, worker_id: text, api_path: text, model_name: text, weight: number, kind: text },
  ["url"],
);
const drained = record({ worker_id: text, status: text, active_requests: integer });
const deleted = record({ deleted: integer });

const paths: Readonly<Record<string, Json>> = {
  "/health": { get: { ...operation("Whether it runs", status), security: [] } },
  "/openapi.json": { get: { ...operation("This document", object), security: [] } },
  "/health/workers": {
    get: operation(
      "The workers",
      record({ workers: list(ref("Worker")), healthy: integer, total: integer }),
    ),
  },
  "/metrics": { get: operation("Prometheus' text format", text) },
  "/sessions": {
    get: { ...operation("Newest first", list(ref("Session"))), parameters: [since, limit] },
    post: operation("Opens a session", opened, newSession, "201"),
  },
  "/sessions/batch_delete": { post: operation("Closes sessions", deleted, sessionIds) },
  "/sessions/{session_id}": {
    parameters: [inPath("session_id")],
    get: operation("One session", ref("Session")),
    delete: operation("Closes it and forgets its traces", deleted),
  },
  "/sessions/{session_id}/traces": {
    parameters: [inPath("session_id")],
    get: {
      ...operation("Its traces; as server-sent events where asked for", list(ref("Trace"))),
      parameters: [since, limit, inQuery("cursor", "Of an earlier page's x-next-cursor.")],
    },
  },
  "/traces/query": { post: operation("Of several sessions", list(ref("Trace")), sessionIds) },
  "/traces/{trace_id}": {
    parameters: [inPath("trace_id")],
    get: operation("One trace", ref("Trace")),
  },
  "/admin/workers": {
    get: operation("The workers", list(ref("Worker"))),
    post: operation("Adds a worker", ref("Worker"), newWorker),
  },
  "/admin/workers/{worker_id}": {
    parameters: [inPath("worker_id")],
    delete: operation("Removes a worker", record({ removed: text })),
  },
  "/admin/workers/{worker_id}/drain": {
    parameters: [inPath("worker_id"), inQuery("timeout_ms", "How long to wait.")],
    post: operation("Sends it no new calls", drained),
  },
  "/admin/weight_version": {
    get: operation("The version", version),
    post: operation("Sets it", version, version),
  },
  "/admin/flush": { post: operation("Resolves when all is durable", status) },
  "/admin/pause": {
    post: operation(
      "Holds or refuses new calls",
      record({ status: text, mode: text, in_flight: integer }),
      record({ mode: { enum: ["hold", "refuse"] }, drain_ms: integer }),
    ),
  },
  "/admin/resume": { post: operation("Takes calls again", status) },
  "/admin/reload": { post: operation("Does nothing", status) },
};

export const openApiDocument: Json = {
  openapi: "3.1.0",
  info: { title: "agent-trainer gateway", version: "1" },
  security: [{ adminToken: [] }],
  paths,
  components: {
    securitySchemes: { adminToken: { type: "http", scheme: "bearer" } },
    schemas,
  },
};
