/**
 * `agent-trainer/gateway`: an OpenAI-compatible server that captures every call token by token.
 * Knows nothing of training, rewards or tasks.
 */
export { createGateway } from "./gateway.ts";
export type { Gateway, ListenOptions } from "./gateway.ts";
export type { GatewayOptions } from "./gateway-options.ts";
export type { WorkerAdmin, WorkerSpec, WorkerStatus } from "./worker-admin.ts";

export { createMemoryTraceStore } from "./memory-trace-store.ts";
export type {
  SessionRecord,
  StoredSession,
  TracePage,
  TraceQuery,
  TraceStore,
} from "./trace-store.ts";

export { ApiError } from "./api-error.ts";

export { askWorker } from "./targets/http/ask-worker.ts";
export type { WorkerFacts } from "./targets/http/worker.ts";
export { UpstreamError } from "./targets/http/upstream-error.ts";
export type { UpstreamFailure } from "./targets/http/upstream-error.ts";

export { openSqliteTraceStore } from "./store/sqlite-trace-store.ts";
export type { SqliteTraceStoreOptions } from "./store/sqlite-trace-store.ts";
export { StoreError } from "./store/store-error.ts";
export type { StoreFailure } from "./store/store-error.ts";

export { GatewayClient } from "./client.ts";
export type {
  ClientTracePage,
  NewSession,
  PageOptions,
  SessionAccess,
  SessionInfo,
} from "./client.ts";
export type { CallOptions, ClientOptions } from "./client-request.ts";
export { openApiDocument } from "./openapi.ts";
export { redact } from "./redact.ts";
