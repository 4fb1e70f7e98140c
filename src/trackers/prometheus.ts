/** The newest metrics of a run for Prometheus to scrape, at `/metrics` of a separate port. */
import { createServer, type Server } from "node:http";
import { Gauge, Registry } from "prom-client";
import type { Tracker } from "../core/tracker.ts";
import { listen, type Listening } from "../http/listen.ts";
import { numberEvents, numbersOf } from "./numbers.ts";

export interface PrometheusOptions {
  readonly host: string;
  readonly port: number;
}

const prefix = "agent_trainer_run_";

function metricsServer(registry: Registry): Server {
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url?.split("?")[0] !== "/metrics") {
      response.writeHead(404).end("The metrics are at /metrics.\n");
      return;
    }
    void registry.metrics().then((text) => {
      response.writeHead(200, { "content-type": registry.contentType }).end(text);
    });
  });
  // A scraper that keeps its connection open does not keep the process alive.
  return server.unref();
}

/** Serves `agent_trainer_run_metric{name="reward/mean"}`, the step, and how many rollouts ended how. */
export function createPrometheusTracker(options: PrometheusOptions): Tracker {
  const registry = new Registry();
  const registers = [registry];
  const metric = new Gauge({
    name: `${prefix}metric`,
    help: "Newest value of a metric of the run, under its name in docs/metrics.md.",
    labelNames: ["name"],
    registers,
  });
  const step = new Gauge({ name: `${prefix}step`, help: "Optimizer steps done.", registers });
  const rollouts = new Gauge({
    name: `${prefix}rollouts`,
    help: "Rollouts ended since the run was started or resumed, by termination reason.",
    labelNames: ["reason", "phase"],
    registers,
  });
  let server: Listening | null = null;
  return {
    name: "prometheus",
    events: ["run-start", "rollout-end", ...numberEvents],
    async track(event) {
      if (event.type === "run-start") {
        server = await listen(metricsServer(registry), {
          name: "The tracker prometheus",
          ...options,
        });
      }
      if (event.type === "rollout-end") {
        const phase = event.isValidation ? "validation" : "train";
        rollouts.inc({ reason: event.terminationReason, phase });
      }
      if (event.type === "step-end") step.set(event.step);
      for (const [name, value] of numbersOf(event) ?? []) metric.set({ name }, value);
    },
    async close() {
      await server?.close();
    },
  };
}
