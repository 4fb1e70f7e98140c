/** What the gateway counts, in Prometheus' text format. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Trace } from "../core/trace.ts";

const prefix = "agent_trainer_gateway_";
const seconds = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

/** Read at every scrape. */
export interface MetricSources {
  readonly sessions: () => number;
  readonly callsInFlight: () => number;
  readonly callsWaiting: () => number;
  readonly storeStats: () => { readonly commits: number; readonly commitSeconds: number };
}

export class GatewayMetrics {
  readonly #registry = new Registry();
  readonly #responses: Counter<"status">;
  readonly #refused: Counter<"reason">;
  readonly #calls: Histogram<"outcome">;
  readonly #tokens: Counter<"kind">;
  readonly #traces: Counter<"protocol" | "trainable">;
  readonly #expired: Counter;
  readonly #ignored: Counter<"protocol" | "field">;

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    const counter = <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[],
    ): Counter<Label> => new Counter({ name: prefix + name, help, labelNames, registers });
    this.#responses = counter("responses_total", "Responses by status.", ["status"]);
    this.#refused = counter("requests_refused_total", "Requests refused, by reason.", ["reason"]);
    this.#tokens = counter("tokens_total", "Tokens captured.", ["kind"]);
    this.#traces = counter("traces_total", "Traces stored.", ["protocol", "trainable"]);
    this.#ignored = counter("ignored_fields_total", "Fields of requests without an effect here.", [
      "protocol",
      "field",
    ]);
    this.#expired = counter("sessions_expired_total", "Sessions closed because idle.", []);
    this.#calls = new Histogram({
      name: `${prefix}call_seconds`,
      help: "Duration of model calls until they are recorded.",
      labelNames: ["outcome"],
      buckets: seconds,
      registers,
    });
    const gauge = (name: string, help: string, read: () => number): Gauge =>
      new Gauge({
        name: prefix + name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    gauge("sessions_open", "Open sessions.", sources.sessions);
    gauge("calls_in_flight", "Model calls in flight.", sources.callsInFlight);
    gauge("calls_waiting", "Calls that wait for the gateway to resume.", sources.callsWaiting);
    const total = (name: string, help: string, read: () => number): Counter =>
      new Counter({
        name: prefix + name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    total("store_commits_total", "Commits of the trace store.", () => sources.storeStats().commits);
    total(
      "store_commit_seconds_total",
      "Duration of the commits of the trace store.",
      () => sources.storeStats().commitSeconds,
    );
  }

  responded(status: number): void {
    this.#responses.inc({ status });
  }

  refused(reason: string): void {
    this.#refused.inc({ reason });
  }

  called(durationMs: number, outcome: "done" | "failed"): void {
    this.#calls.observe({ outcome }, durationMs / 1000);
  }

  ignored(protocol: string, field: string): void {
    this.#ignored.inc({ protocol, field });
  }

  expired(): void {
    this.#expired.inc();
  }

  recorded(traces: readonly Trace[]): void {
    for (const { protocol, untrainable, promptIds, responseIds, choice } of traces) {
      this.#traces.inc({ protocol, trainable: untrainable === undefined ? "yes" : "no" });
      if (choice === 0) this.#tokens.inc({ kind: "prompt" }, promptIds.length);
      this.#tokens.inc({ kind: "response" }, responseIds.length);
    }
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
