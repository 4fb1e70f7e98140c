/**
 * OpenTelemetry: a trace per run, with spans for steps, rollouts, model calls and tools, sent as OTLP over
 * HTTP by the official SDK, which the user installs.
 */
import { basename } from "node:path";
import type { Span, Tracer } from "@opentelemetry/api";
import type { TracerProvider } from "@opentelemetry/sdk-trace";
import type { TrainerEvent } from "../../core/events.ts";
import type { TrackedRun, Tracker } from "../../core/tracker.ts";
import { numberEvents, numbersOf } from "../numbers.ts";
import { type OpenTelemetryApi, rolloutSpans } from "./call-spans.ts";

export interface OpenTelemetryOptions {
  /** URL that spans are posted to; null leaves it to `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string | null;
  readonly content: boolean;
}

interface Sdk {
  readonly api: OpenTelemetryApi;
  readonly provider: TracerProvider;
  readonly tracer: Tracer;
}

const packages = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/exporter-trace-otlp-http",
];

async function loadSdk({ endpoint }: OpenTelemetryOptions): Promise<Sdk> {
  try {
    const [api, { BatchSpanProcessor, TracerProvider: Provider }, { OTLPTraceExporter }] =
      await Promise.all([
        import("@opentelemetry/api"),
        import("@opentelemetry/sdk-trace"),
        import("@opentelemetry/exporter-trace-otlp-http"),
      ]);
    const exporter = new OTLPTraceExporter(endpoint === null ? {} : { url: endpoint });
    const provider = new Provider({
      spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 65_536 })],
    });
    return { api, provider, tracer: provider.getTracer("agent-trainer") };
  } catch (cause) {
    const hint = `npm install ${packages.join(" ")}`;
    throw new Error(`the OpenTelemetry SDK cannot be loaded; install it with ${hint}`, { cause });
  }
}

class RunSpans {
  readonly #sdk: Sdk;
  readonly #content: boolean;
  readonly #run: Span;
  readonly #steps = new Map<number, Span>();

  constructor(sdk: Sdk, content: boolean, run: Span) {
    this.#sdk = sdk;
    this.#content = content;
    this.#run = run;
  }

  track(event: TrainerEvent): void {
    const { api, tracer } = this.#sdk;
    const inRun = api.trace.setSpan(api.context.active(), this.#run);
    if (event.type === "step-start") {
      const options = { startTime: event.time, attributes: { "agent_trainer.step": event.step } };
      this.#steps.set(event.step, tracer.startSpan(`step ${event.step}`, options, inRun));
    }
    if (event.type === "rollout-end" && event.episode !== undefined) {
      const step = event.isValidation ? undefined : this.#steps.get(event.step);
      const parent = step === undefined ? inRun : api.trace.setSpan(inRun, step);
      const context = { api, tracer, parent, content: this.#content };
      rolloutSpans(context, event.episode, event.time);
    }
    if (event.type === "step-end") this.#endStep(event);
    if (event.type === "warning")
      this.#run.addEvent("warning", { message: event.message }, event.time);
    if (event.type === "run-end") this.#end(event);
  }

  #endStep(event: TrainerEvent): void {
    const span = this.#steps.get(event.step);
    this.#steps.delete(event.step);
    for (const [name, value] of numbersOf(event) ?? []) {
      span?.setAttribute(`agent_trainer.metric.${name}`, value);
    }
    span?.end(event.time);
  }

  #end(event: TrainerEvent & { readonly type: "run-end" }): void {
    for (const span of this.#steps.values()) span.end(event.time);
    if (event.status === "failed") {
      const code = this.#sdk.api.SpanStatusCode.ERROR;
      this.#run.setStatus(event.message === null ? { code } : { code, message: event.message });
    }
    this.#run.setAttribute("agent_trainer.status", event.status);
    this.#run.end(event.time);
  }
}

/** Spans of a run for any OTLP collector. */
export function createOpenTelemetryTracker(
  { project, config }: TrackedRun,
  options: OpenTelemetryOptions,
): Tracker {
  let sdk: Sdk | null = null;
  let spans: RunSpans | null = null;
  return {
    name: "opentelemetry",
    events: ["run-start", "step-start", "rollout-end", ...numberEvents, "warning", "run-end"],
    async track(event) {
      if (event.type === "run-start") {
        sdk = await loadSdk(options);
        const name = basename(event.runDir);
        const run = sdk.tracer.startSpan(`train ${name}`, {
          startTime: event.time,
          attributes: {
            "agent_trainer.project": project,
            "agent_trainer.run": name,
            "agent_trainer.seed": event.seed,
            "agent_trainer.model": String(config["model.name"]),
          },
        });
        spans = new RunSpans(sdk, options.content, run);
      }
      spans?.track(event);
    },
    async close() {
      await sdk?.provider.shutdown();
    },
  };
}
