/**
 * `agent-trainer/gateway`: an OpenAI-compatible server that captures every call token by token.
 * Knows nothing of training, rewards or tasks.
 */
export { createGateway } from "./gateway.ts";
export type { Gateway, GatewayOptions, ListenOptions } from "./gateway.ts";

export { createMemoryTraceStore } from "./memory-trace-store.ts";
export type { TraceStore } from "./trace-store.ts";

export { ApiError } from "./api-error.ts";
