/** The embedded engine behind the Tinker API. */
export { createTinkerServer } from "./server.ts";
export type { ListenOptions, TinkerServer } from "./server.ts";
export type { TinkerServerOptions } from "./server-options.ts";
