/** One call with a long text does not hold up the others. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseRenderer } from "../../../src/models/renderers/choose-renderer.ts";
import { createGateway, type Gateway } from "../../../src/gateway/index.ts";
import type { Renderer } from "../../../src/core/policy.ts";
import { createScriptedSampler } from "../../../src/testing/index.ts";
import { loadReal } from "../../renderers/real-tokenizers.ts";
import { processorClock } from "../../processor-time.ts";

const { tokenizer, config } = loadReal("qwen2_5");
const contextLength = 16_384;
const mebibyte = 2 ** 20;

let gateway: Gateway;
let url = "";
let post: (path: string, body: object) => Promise<Response>;

interface Response {
  readonly status: number;
  readonly body: unknown;
}

/** Texts come as what is repeated, and how often. */
const client = `
let text = "";
process.stdin.on("data", (piece) => (text += piece)).on("end", async () => {
  const { url, authorization, body } = JSON.parse(text, (_, value) =>
    Array.isArray(value?.repeat) ? value.repeat[0].repeat(value.repeat[1]) : value);
  const headers = { authorization, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  console.log(JSON.stringify({ status: response.status, body: await response.json() }));
});`;

beforeAll(async () => {
  const renderer = chooseRenderer(tokenizer, config);
  const sampler = createScriptedSampler(() => [1], {
    contextLength,
    decode: (ids) => renderer.decode(ids),
  });
  gateway = createGateway({ target: { kind: "sampler", sampler, renderer }, model: "m" });
  ({ url } = await gateway.listen());
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  post = async (path, body) => {
    // In a process of its own: to write 30 MiB holds up this one, too.
    const child = execFile(process.execPath, ["-e", client], { maxBuffer: 2 ** 20 });
    const settings = {
      url: `${session.baseUrl}/${path}`,
      authorization: `Bearer ${session.apiKey}`,
      body: { model: "m", max_tokens: 4, ...body },
    };
    child.stdin!.end(JSON.stringify(settings));
    let out = "";
    child.stdout!.on("data", (text: string) => (out += text));
    await once(child, "close");
    return JSON.parse(out) as Response;
  };
});
afterAll(() => gateway.close());

/** The most seconds of processor time that passed before `/health` was answered while `work` went on, with what `work` gave. */
async function healthDuring<T>(
  work: Promise<T>,
): Promise<{ readonly longest: number; readonly result: T }> {
  let longest = 0;
  const state = { isOver: false };
  const over = work.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    const seconds = processorClock();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    longest = Math.max(longest, seconds());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { longest, result: await over };
}

const texts = {
  "one word": { repeat: ["a", 30 * mebibyte] },
  words: { repeat: ["the quick brown fox ", 1.5 * mebibyte] },
  spaces: { repeat: [" ", 30 * mebibyte] },
  "other letters": { repeat: ["ü🙂", 5 * mebibyte] },
};

describe("a text of 30 MiB", () => {
  it.each(Object.entries(texts))(
    "(%s) is refused in the protocol's shape while others are answered",
    async (_name, text) => {
      const messages = [{ role: "user", content: text }];
      const { longest, result } = await healthDuring(post("chat/completions", { messages }));
      expect(result.status).toBe(400);
      expect(result.body).toMatchObject({
        error: { code: "context_length_exceeded", param: "messages" },
      });
      // Some 100 ms of an idle machine, all threads together; tokenizing as a whole took minutes.
      expect(longest).toBeLessThan(5);
    },
    60_000,
  );
  it("is refused as a plain prompt and by count_tokens, too", async () => {
    const raw = await post("completions", { prompt: texts.words });
    expect(raw.status).toBe(400);
    expect(raw.body).toMatchObject({
      error: { code: "context_length_exceeded", param: "prompt" },
    });
    const counted = await post("messages/count_tokens", {
      messages: [{ role: "user", content: texts.words }],
    });
    expect(counted.status).toBe(400);
    expect(counted.body).toMatchObject({
      error: {
        type: "invalid_request_error",
        message: expect.stringMatching(/^prompt is too long: .*at least/),
      },
    });
  });
});

describe("a text that may just fit", () => {
  // Within the bound by bytes, but long enough to take seconds as a whole.
  const repeat = ["internationalisation", 5000] as const;
  const text = repeat[0].repeat(repeat[1]);
  it("is encoded while others are answered", async () => {
    const messages = [{ role: "user", content: { repeat } }];
    const { longest, result } = await healthDuring(post("chat/completions", { messages }));
    expect(result).toMatchObject({
      status: 200,
      body: { usage: { prompt_tokens: expect.any(Number) } },
    });
    expect(longest).toBeLessThan(1);
  });
  it("has the same ids as when it is encoded at once", async () => {
    const renderer: Renderer = chooseRenderer(tokenizer, config);
    const { signal } = new AbortController();
    const long = {
      role: "user",
      content: `${text.slice(0, 20_000)} ü🙂 ${"x y\n ".repeat(8000)}`,
    } as const;
    const response = { role: "assistant", content: "A" } as const;
    const whole = renderer.render([long]);
    expect(await renderer.long!.render([long], {}, signal)).toEqual(whole);
    const extended = await renderer.long!.extend(whole.tokens, [response, long], {}, signal);
    expect(extended).toEqual(renderer.extend(whole.tokens, [response, long]));
    expect(await renderer.long!.encode(long.content, {}, signal)).toEqual(
      renderer.encode!(long.content),
    );
  });
  it("is given up when its client leaves, and the next one need not wait for it", async () => {
    const renderer = chooseRenderer(tokenizer, config);
    const controller = new AbortController();
    const never = renderer.long!.encode("é".repeat(mebibyte), {}, controller.signal);
    setTimeout(() => controller.abort(new Error("left")), 300);
    await expect(never).rejects.toThrow("left");
    const { signal } = new AbortController();
    const short = "word ".repeat(8000);
    expect(await renderer.long!.encode(short, {}, signal)).toEqual(renderer.encode!(short));
  });
});

describe("the bound by bytes", () => {
  it.each(["qwen2_5", "qwen3", "llama3_2"] as const)(
    "is never more than there are tokens (%s)",
    (name) => {
      const { tokenizer: own, json } = loadReal(name);
      const vocabulary = Object.keys((json as { model: { vocab: object } }).model.vocab);
      const samples = [
        "",
        "a",
        " ".repeat(5000),
        "=".repeat(4000),
        "\n".repeat(999),
        "0123456789".repeat(50),
        "e\u0301".repeat(500),
        "\u1112\u1161\u11ab".repeat(300),
        "ü🙂 日本語 العربية ".repeat(50),
        ...Array.from({ length: 2000 }, (_, i) =>
          own.decode([Math.floor((i * vocabulary.length) / 2000)]),
        ),
      ];
      for (const text of samples)
        expect(own.minTokens(text)).toBeLessThanOrEqual(own.encode(text).length);
      // The longest token of all is one token.
      expect(own.minTokens("word ".repeat(10_000))).toBeGreaterThan(200);
    },
  );
});
