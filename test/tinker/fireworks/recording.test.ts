/**
 * The requests of the official SDK (fireworks-ai 1.2.30), as recorded, in their order: ours have
 * responses of the same shape, the same names and types in the same places.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { eventsOf, startFireworks, type Json } from "./local-fireworks.ts";

interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly body?: Json;
  readonly status: number;
  readonly out: Json | string;
}

const lines = readFileSync(new URL("../../fireworks/wire.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n");
const recording = lines.map((line) => JSON.parse(line) as Recorded);

/** Names and types; of lists the first element. Names in `open` are this or that server's own. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return typeof value;
  const open = "metrics" in value || "perf-metrics" in value;
  const entries = Object.entries(value).filter(([name]) => !open || name !== "metrics");
  return Object.fromEntries(entries.map(([name, inner]) => [name, shapeOf(inner)]));
}

it("answers every recorded request in the recorded shape", async () => {
  await using local = await startFireworks({
    account: "demo",
    modelName: "accounts/fireworks/models/qwen3p5-9b",
  });
  /** What the recorded server named, and ours. */
  const names = new Map<string, string>();
  const translate = (text: string): string => {
    let result = text;
    for (const [theirs, ours] of names) result = result.replaceAll(theirs, ours);
    return result;
  };
  for (const [index, { method, url, body, status, out }] of recording.entries()) {
    // Ours may be done at the first request for a result.
    if (typeof out === "object" && out["type"] === "try_again") continue;
    const where = `${index}: ${method} ${url}`;
    const text = body === undefined ? undefined : translate(JSON.stringify(body));
    let response = await local.send(method, translate(url), text);
    while (url.endsWith("retrieve_future")) {
      if (((await response.clone().json()) as Json)["type"] !== "try_again") break;
      response = await local.send(method, url, text);
    }
    expect(response.status, where).toBe(status);
    if (typeof out === "string") {
      const [theirs, ours] = [eventsOf(out), eventsOf(await response.text())];
      expect(ours, where).toHaveLength(theirs.length);
      const { perf_metrics: _theirs, ...recorded } = theirs[0]!;
      const shape = shapeOf(recorded) as Json;
      // The recorded server echoed entries without their text.
      shape["choices"][0].logprobs.content[0].token = "string";
      if (text!.includes('"echo"')) {
        expect(ours[0]!["choices"][0].logprobs.content[0]).toMatchObject({
          sampling_logprob: null,
        });
        delete shape["choices"][0].logprobs.content[0].sampling_logprob;
      }
      expect(shapeOf(ours[0]), where).toMatchObject(shape);
      continue;
    }
    const json = (await response.json()) as Json;
    const shape = shapeOf(out) as Json;
    if (out["metrics"] !== undefined) expect(json["metrics"], where).toBeTypeOf("object");
    expect(shapeOf(json), where).toMatchObject(shape);
    for (const name of ["session_id", "request_id", "model_id"])
      if (typeof out[name] === "string" && !names.has(out[name])) names.set(out[name], json[name]);
    const theirRun = String(out["model_id"] ?? "").split(":", 1)[0]!;
    if (theirRun !== "") names.set(theirRun, String(json["model_id"]).split(":", 1)[0]!);
    if (typeof out["path"] === "string") expect(json["path"]).toBe(translate(out["path"]));
    if (out["type"] === "create_model")
      expect(json["model_id"]).toMatch(/^run-[0-9a-f]{32}:train:0$/u);
    if (out["session_id"]) expect(json["session_id"]).toMatch(/^ts-[0-9a-f]+$/u);
    if (out["checkpoints"]) expect(json["checkpoints"]).toEqual(out["checkpoints"]);
  }
});
