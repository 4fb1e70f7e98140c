/** Teachers: a model on a backend, and a stand-in for a vLLM server with its faults. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { trainTasks } from "../../examples/shop/tasks.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Teacher } from "../../src/core/teacher.ts";
import { trainingRow } from "../../src/launch/finetune/examples/token-row.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { createTeacher } from "../../src/launch/teacher/create-teacher.ts";
import { startEndlessServer } from "../endless-server.ts";
import { createServerTeacher } from "../../src/launch/teacher/server-teacher.ts";
import { createByteRenderer } from "../../src/testing/index.ts";
import { distillRows } from "../../src/trainer/update/distillation.ts";

const { signal } = new AbortController();
const plain = loadConfig({ overrides: { "model.name": "m" } }).config.distillation;

describe("a model as teacher", () => {
  it("agrees with itself: no reverse KL, and nothing to learn", async () => {
    const metrics: Record<string, number>[] = [];
    const trainer = new AgentTrainer({
      agentFlow: agent,
      evaluator,
      trainDataset: trainTasks.slice(0, 1),
      config: {
        model: { name: "builtin:shop-tiny" },
        data: { trainBatchSize: 1 },
        rollout: { n: 2, train: { maxTokens: 16 } },
        distillation: { teacher: "builtin:shop-tiny" },
        trainer: {
          totalBatches: 1,
          outputDir: mkdtempSync(join(tmpdir(), "distillation-")),
        },
      },
      onEvent: (event) => event.type === "step-end" && metrics.push({ ...event.metrics }),
    });
    await trainer.train();
    expect(Math.abs(metrics[0]!["distillation/reverse_kl"]!)).toBeLessThan(1e-4);
    expect(metrics[0]!["train/tokens"]).toBeGreaterThan(0);
  });
});

/** Bytes "abc"; the first one is the prompt. */
const row = {
  ...trainingRow({ tokens: Int32Array.of(97, 98, 99), mask: Uint8Array.of(0, 1, 1) }, "here"),
  samplingLogprobs: Float32Array.of(0, -1, -2),
};

type Answer = (
  body: { readonly prompt: readonly number[] },
  call: number,
) => {
  readonly status?: number;
  readonly json: unknown;
};

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** A server with one model whose completions are `answer`. */
async function serve(answer: Answer): Promise<{ teacher: Teacher; calls: () => number }> {
  let calls = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await read(request);
    const { status = 200, json } =
      request.url === "/v1/models"
        ? { json: { data: [{ id: "big" }] } }
        : answer(JSON.parse(text) as never, ++calls);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(json));
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  open.push(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const options = { url, model: null, timeoutMs: 5000, concurrency: 2, retryDelayMs: 1 };
  const teacher = createServerTeacher(options);
  await teacher.start(createByteRenderer(), signal);
  return { teacher, calls: () => calls };
}

/** As vLLM writes it. */
const graded = (
  { prompt }: { readonly prompt: readonly number[] },
  text = (id: number) => String.fromCharCode(id),
) => ({
  choices: [
    {
      prompt_logprobs: prompt.map((id, i) =>
        i === 0 ? null : { [id]: { logprob: -i / 2, rank: 1, decoded_token: text(id) } },
      ),
    },
  ],
});

describe("a vLLM server as teacher", () => {
  it("grades the tokens that were sampled", async () => {
    const { teacher } = await serve((body) => ({ json: graded(body) }));
    const { rows, metrics } = await distillRows([row], teacher, plain, signal);
    // -0.5 - -1, and -1 - -2.
    expect([...rows[0]!.advantages]).toEqual([0, 0.5, 1]);
    expect(metrics["distillation/reverse_kl"]).toBeCloseTo(-0.75, 6);
  });

  it("adds to the advantages of the reward where that is wanted", async () => {
    const { teacher } = await serve((body) => ({ json: graded(body) }));
    const options = { ...plain, useReward: true, clip: 0.75 };
    const { rows, metrics } = await distillRows([row], teacher, options, signal);
    expect([...rows[0]!.advantages]).toEqual([0, 1.5, 1.75]);
    expect(metrics["distillation/clip_fraction"]).toBe(0.5);
  });

  it("is asked again when it is overloaded", async () => {
    const { teacher, calls } = await serve((body, call) =>
      call < 3 ? { status: 503, json: {} } : { json: graded(body) },
    );
    await distillRows([row], teacher, plain, signal);
    expect(calls()).toBe(3);
  });

  it.each<readonly [string, Answer, RegExp]>([
    ["that refuses", () => ({ status: 400, json: { error: "no" } }), /status 400/u],
    ["without prompt_logprobs", () => ({ json: { choices: [{}] } }), /no prompt_logprobs/u],
    [
      "that stops early",
      () => ({ json: { choices: [{ prompt_logprobs: [null] }] } }),
      /1 prompt_logprobs/u,
    ],
    [
      "that leaves a token out",
      () => ({ json: { choices: [{ prompt_logprobs: [null, {}, {}] }] } }),
      /no finite log-probability/u,
    ],
    ["with another tokenizer", (body) => ({ json: graded(body, () => "x") }), /another tokenizer/u],
  ])("%s ends the step, and is never counted as certain", async (_, answer, message) => {
    const { teacher, calls } = await serve(answer);
    await expect(distillRows([row], teacher, plain, signal)).rejects.toThrow(message);
    expect(calls()).toBe(1);
  });

  it("whose response never ends is refused once", async () => {
    await using server = await startEndlessServer();
    const limits = { timeoutMs: 60_000, concurrency: 1, retryDelayMs: 1, maxResponseMiB: 2 };
    const teacher = createServerTeacher({ url: server.url, model: null, ...limits });
    await expect(teacher.start(createByteRenderer(), signal)).rejects.toThrow(
      /^The teacher http:\S+ responded with more than 2 MiB\.$/u,
    );
    expect(server.requests()).toBe(1);
  });
});

describe("options of a teacher", () => {
  const of = (set: Record<string, unknown>) => {
    const { config } = loadConfig({ overrides: { "model.name": "m", ...set } });
    return createTeacher(config, ".");
  };
  it("that cannot be combined are refused", () => {
    expect(of({})).toBeNull();
    expect(() => of({ "distillation.teacher": "m", "distillation.teacher_model": "x" })).toThrow(
      /is not a URL/u,
    );
    const hot = { "distillation.teacher": "http://t", "rollout.train.temperature": 0.5 };
    expect(() => of(hot)).toThrow(/temperature 1/u);
  });
});
