/** Routes of the Tinker API that change nothing: which of them a server has. */
import { no, type Probe, unknown, yes } from "./finding.ts";

const routes: readonly (readonly ["GET" | "POST", string, object?])[] = [
  ["GET", "healthz"],
  ["GET", "get_server_capabilities"],
  ["POST", "client/config", { sdk_version: "0.38.0" }],
  ["POST", "client/dynamic_config", { sdk_version: "0.38.0" }],
  ["GET", "training_runs?limit=1"],
  ["GET", "checkpoints?limit=1"],
  ["GET", "sessions?limit=1"],
];

export const routeProbes: readonly Probe[] = routes.map(([method, route, body]) => ({
  topic: "routes",
  name: `${method} ${route.replace(/\?.*$/u, "")}`,
  async ask({ statusOf }) {
    const status = await statusOf(method, route, body);
    if (status >= 200 && status < 300) return yes(`status ${status}`);
    return [404, 405, 501].includes(status) ? no(`status ${status}`) : unknown(`status ${status}`);
  },
}));
