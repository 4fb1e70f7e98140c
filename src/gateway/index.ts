/**
 * `agent-trainer/gateway`: an OpenAI-compatible server that captures every call token by token.
 * Knows nothing of training, rewards or tasks.
 *
 * @module gateway
 */
export { createGateway } from "./gateway.ts";
export type { Gateway, ListenOptions } from "./gateway.ts";
export type { GatewayOptions } from "./gateway-options.ts";
export type { ExchangeListener, HttpExchange, KeptBody } from "./http/exchange.ts";

export { createMemoryTraceStore } from "./store/memory-trace-store.ts";
export type {
  SessionRecord,
  StoredSession,
  TracePage,
  TraceQuery,
  TraceStore,
} from "./store/trace-store.ts";

export { ApiError } from "./http/api-error.ts";

export { UpstreamError } from "./targets/workers/upstream-error.ts";
export type { UpstreamFailure } from "./targets/workers/upstream-error.ts";

export { createSqliteTraceStore } from "./store/sqlite/sqlite-trace-store.ts";
export type { SqliteTraceStoreOptions } from "./store/sqlite/sqlite-trace-store.ts";
export { StoreError } from "./store/store-error.ts";
export type { StoreFailure } from "./store/store-error.ts";
