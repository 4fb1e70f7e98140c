/**
 * `agent-trainer/serve`: what was trained, as a server with the APIs of OpenAI and Anthropic.
 *
 * @module serve
 */

export { createModelServer } from "./model-server.ts";
export type { ModelServer } from "./model-server.ts";
export type { ModelServerOptions, ModelSwap, ServedModelSpec } from "./serve-options.ts";
