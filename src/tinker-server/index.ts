/** The embedded engine behind the Tinker API, or behind that of Fireworks. */
export { createFireworksServer, createTinkerServer } from "./server.ts";
export type { ListenOptions, TinkerServer } from "./server.ts";
export type { FireworksServerOptions, TinkerServerOptions } from "./server-options.ts";
