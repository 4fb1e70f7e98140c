import { describe, expect, it } from "vitest";
import { createTrackers } from "../../src/trackers/create-trackers.ts";
import { loadConfig } from "../../src/config/load.ts";
import { freePort } from "../free-port.ts";
import { coinTrainer, newFolder, readLines } from "../trainer/coin-run.ts";
import { recordHttp } from "./http-recorder.ts";

const warningsOf = (runDir: string): unknown[] =>
  readLines(runDir, "events.jsonl").flatMap(({ type, message }) =>
    type === "warning" ? [message] : [],
  );

describe("MLflow", () => {
  it("gets one run with options, metrics per step and its end, also when it is resumed", async () => {
    let busy = 2;
    await using server = await recordHttp(({ path }) => {
      if (path.includes("get-by-name"))
        return [404, { error_code: "RESOURCE_DOES_NOT_EXIST", message: "no" }];
      if (path.includes("experiments/create")) return [200, { experiment_id: "7" }];
      if (path.includes("runs/create")) return [200, { run: { info: { run_id: "abc" } } }];
      // Busy for a moment: requests are sent again.
      if (path.includes("log-batch") && busy-- > 0) return [503, { error_code: "BUSY" }];
      return [200, {}];
    });
    const outputDir = newFolder();
    const run = async (steps: number): Promise<string> => {
      const { trainer } = coinTrainer({
        outputDir,
        resume: "auto",
        set: {
          "tracking.trackers": ["mlflow"],
          "tracking.mlflow.url": server.url,
          "tracking.project": "shop",
          "trainer.total_batches": steps,
        },
      });
      return (await trainer.train()).runDir;
    };
    const runDir = await run(2);
    await run(3);
    expect(warningsOf(runDir).filter((text) => String(text).includes("tracker"))).toEqual([]);
    const named = (path: string) =>
      server.requests.filter((request) => request.path.endsWith(path));
    expect(named("experiments/create").map(({ body }) => body)).toEqual([{ name: "shop" }]);
    expect(named("runs/create").map(({ body }) => body)).toEqual([
      expect.objectContaining({ experiment_id: "7", run_name: "coin" }),
    ]);
    const batches = named("runs/log-batch").slice(2);
    const params = batches.flatMap(({ body }) => (body["params"] ?? []) as object[]);
    expect(params).toContainEqual({ key: "rollout.n", value: "4" });
    const metrics = batches.flatMap(
      ({ body }) => (body["metrics"] ?? []) as { key: string; value: number; step: number }[],
    );
    const sent = metrics.filter(({ key }) => key === "reward/mean");
    const lines = readLines(runDir, "metrics.jsonl");
    expect(sent.map(({ step, value }) => [step, value])).toEqual(
      lines.map((line) => [line["step"], line["reward/mean"]]),
    );
    expect(named("runs/update").map(({ body }) => body["status"])).toEqual([
      "FINISHED",
      "RUNNING",
      "FINISHED",
    ]);
  });

  it("that is away becomes a warning, and the run goes on", async () => {
    const { trainer } = coinTrainer({
      set: {
        "tracking.trackers": ["mlflow"],
        "tracking.mlflow.url": "http://127.0.0.1:9",
        "tracking.timeout_s": 0.3,
      },
    });
    const { runDir, status } = await trainer.train();
    expect(status).toBe("completed");
    expect(warningsOf(runDir)).toContainEqual(
      expect.stringMatching(/^The tracker mlflow did not /u),
    );
  });
});

describe("Prometheus", () => {
  it("scrapes the newest metrics of a run that goes on", async () => {
    let page = "";
    const scrape = async (port: number) => {
      page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    };
    const port = await freePort();
    const { trainer } = coinTrainer({
      set: { "tracking.trackers": ["prometheus"], "tracking.prometheus.port": port },
      trackers: [
        {
          name: "scraper",
          events: ["step-end"],
          async track(event) {
            if (event.step === 3) await scrape(port);
          },
        },
      ],
    });
    const { runDir } = await trainer.train();
    expect(page).toMatch(/^agent_trainer_run_metric\{name="reward\/mean"\} [\d.]+$/mu);
    expect(page).toMatch(/^agent_trainer_run_rollouts\{reason="completed",phase="train"\} \d+$/mu);
    expect(readLines(runDir, "metrics.jsonl")).toHaveLength(4);
    await expect(scrape(port)).rejects.toThrow("fetch failed");
  });
});

describe("OpenTelemetry", () => {
  it("gets a trace with run, steps, rollouts and model calls through the official SDK", async () => {
    await using collector = await recordHttp(() => [200, {}]);
    const { trainer } = coinTrainer({
      set: {
        "tracking.trackers": ["opentelemetry"],
        "tracking.opentelemetry.endpoint": `${collector.url}/v1/traces`,
      },
    });
    const { runDir } = await trainer.train();
    expect(warningsOf(runDir).filter((text) => String(text).includes("tracker"))).toEqual([]);
    interface Span {
      readonly name: string;
      readonly traceId: string;
      readonly spanId: string;
      readonly parentSpanId?: string;
      readonly attributes: readonly { readonly key: string; readonly value: object }[];
    }
    const spans = collector.requests.flatMap(({ body }) =>
      (body as unknown as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap((scope) => scope.spans),
    );
    const named = (start: string) => spans.filter(({ name }) => name.startsWith(start));
    const [run] = named("train ") as [Span];
    expect(named("step ").map(({ parentSpanId }) => parentSpanId)).toEqual(
      Array.from({ length: 4 }, () => run.spanId),
    );
    expect(named("invoke_agent")).toHaveLength(32);
    const steps = new Set(named("step ").map(({ spanId }) => spanId));
    for (const { parentSpanId } of named("invoke_agent")) expect(steps).toContain(parentSpanId);
    const rollouts = new Set(named("invoke_agent").map(({ spanId }) => spanId));
    expect(named("chat ")).toHaveLength(32);
    for (const { parentSpanId, attributes } of named("chat ")) {
      expect(rollouts).toContain(parentSpanId);
      const keys = attributes.map(({ key }) => key);
      expect(keys).toContain("gen_ai.usage.output_tokens");
      expect(keys).not.toContain("gen_ai.input.messages");
    }
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });
});

describe("createTrackers", () => {
  it("creates what is named, in order, once", () => {
    const load = (names: readonly string[]) =>
      loadConfig({ overrides: { "model.name": "m", "tracking.trackers": names } }).config;
    expect(createTrackers(load([]))).toEqual([]);
    const names = ["tensorboard", "wandb", "mlflow", "prometheus", "opentelemetry"];
    expect(createTrackers(load(names)).map(({ name }) => name)).toEqual(names);
    expect(() => load(["wandb", "wandb"])).toThrow("each at most once");
    expect(() => load(["comet"])).toThrow("tracking.trackers");
  });
});
