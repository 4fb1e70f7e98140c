/** Pulling from a stand-in hub: layout of the cache, resuming, refusals, and what may never happen. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCached, listCached } from "../../src/models/hub/hub-cache.ts";
import { parseModelId } from "../../src/models/hub/model-id.ts";
import {
  pullModel,
  resolveModel,
  resolveTokenizer,
  type PullOptions,
} from "../../src/models/hub/pull-model.ts";
import type { PullProgress } from "../../src/models/hub/pull-files.ts";
import { commit, sendContent, StandInHub } from "./stand-in-hub.ts";

const id = parseModelId("owner/model")!;
const weights = randomBytes(600_000);
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

let hub: StandInHub;
let cacheFolder: string;
let settings: NonNullable<PullOptions["settings"]>;
const connection = { retryMs: 1, silenceMs: 300, maxTries: 3 };

beforeEach(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), "hub-"));
  hub = new StandInHub();
  hub.files.set("config.json", Buffer.from('{"a": 1}'));
  hub.files.set("tokenizer.json", Buffer.from("{}"));
  hub.files.set("model.safetensors", weights);
  hub.files.set("pytorch_model.bin", Buffer.from("not wanted"));
  hub.files.set("onnx/model.onnx", Buffer.from("not wanted"));
  hub.large.add("model.safetensors");
  await hub.listen();
  settings = { endpoint: hub.url, token: "hf_secret", cacheFolder, offline: false };
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(cacheFolder, { recursive: true });
});

const pull = (options: Partial<PullOptions> = {}, model = id) =>
  pullModel(model, { settings, connection, ...options });
const blobPath = (hash: string): string => join(cacheFolder, "models--owner--model/blobs", hash);

/** Ends the connection after so many bytes of the weights, `times` times. */
function cutAfter(bytes: number, times: number): void {
  let left = times;
  hub.trouble = (seen, response) => {
    if (seen.origin !== "storage" || left === 0) return false;
    left -= 1;
    const start = Number(/\d+/u.exec(seen.range ?? "0")?.[0]);
    response.writeHead(seen.range === undefined ? 200 : 206, {
      "content-length": weights.length - start,
      "content-range": `bytes ${start}-${weights.length - 1}/${weights.length}`,
    });
    response.write(weights.subarray(start, start + bytes), () => response.destroy());
    return true;
  };
}

describe("a tokenizer alone", () => {
  it("is fetched without the weights, and from then on taken from the cache", async () => {
    hub.files.set("tokenizer_config.json", Buffer.from("{}"));
    hub.files.set("chat_template.jinja", Buffer.from("x"));
    const path = await resolveTokenizer(id, { settings, connection });
    const names = ["chat_template.jinja", "tokenizer.json", "tokenizer_config.json"];
    expect(readdirSync(path).toSorted()).toEqual(names);
    // The model is still to be pulled.
    expect(findCached(cacheFolder, id)).toBe(null);
    hub.files.clear();
    const offline = { ...settings, offline: true };
    expect(await resolveTokenizer(id, { settings: offline, connection })).toBe(path);
  });
});

describe("a pull", () => {
  it("fills the cache as Hugging Face's own tools do, and only with what is needed", async () => {
    const progress: PullProgress[] = [];
    const { path, bytes } = await pull({ onProgress: (event) => progress.push(event) });
    const root = join(cacheFolder, "models--owner--model");
    expect(path).toBe(join(root, "snapshots", commit));
    expect(readFileSync(join(root, "refs/main"), "utf8")).toBe(commit);
    expect(readdirSync(path).toSorted()).toEqual([
      "config.json",
      "model.safetensors",
      "tokenizer.json",
    ]);
    expect(lstatSync(join(path, "model.safetensors")).isSymbolicLink()).toBe(true);
    expect(readFileSync(blobPath(sha256(weights)))).toEqual(weights);
    // git hash-object of the same content
    expect(existsSync(blobPath("9e26dfeeb6e641a33dae4961196235bdb965b21b"))).toBe(true);
    expect(bytes).toBe(weights.length + 10);
    expect(progress.at(-1)).toMatchObject({ doneBytes: bytes, totalBytes: bytes });
    expect(await listCached(cacheFolder)).toEqual(["owner/model"]);
    expect(findCached(cacheFolder, id)).toBe(path);
  });

  it("shows the token to the hub alone", async () => {
    await pull();
    expect(hub.requests.length).toBeGreaterThan(5);
    for (const { origin, authorization } of hub.requests)
      expect(authorization).toBe(origin === "hub" ? "Bearer hf_secret" : undefined);
  });

  it("done again fetches nothing, and a cached model asks nobody", async () => {
    const { path } = await pull();
    hub.takeDownloads();
    await pull();
    expect(hub.takeDownloads()).toEqual([]);
    expect(await resolveModel(id, { settings, connection })).toBe(path);
    expect(hub.requests).toEqual([]);
  });

  it("fetches files of the same content once", async () => {
    hub.files.set("added_tokens.json", Buffer.from("{}"));
    const { path, bytes } = await pull();
    expect(readFileSync(join(path, "added_tokens.json"), "utf8")).toBe("{}");
    expect(readFileSync(join(path, "tokenizer.json"), "utf8")).toBe("{}");
    expect(bytes).toBe(weights.length + 10);
  });

  it("takes one GGUF file where it is named", async () => {
    hub.files.set("q4.gguf", Buffer.from("GGUF"));
    const { path } = await pull({}, parseModelId("owner/model@main:q4.gguf")!);
    expect(readFileSync(path, "utf8")).toBe("GGUF");
    expect(readdirSync(join(path, ".."))).toEqual(["q4.gguf"]);
  });
});

describe("a connection that is cut", () => {
  it("is taken up where it ended, as long as bytes come", async () => {
    cutAfter(100_000, 4);
    const { path } = await pull();
    expect(readFileSync(join(path, "model.safetensors"))).toEqual(weights);
    const ranges = hub
      .takeDownloads()
      .filter(({ origin }) => origin === "storage")
      .map(({ range }) => Number(/\d+/u.exec(range ?? "0")?.[0]));
    expect(ranges.length).toBe(5);
    expect(ranges).toEqual(ranges.toSorted((a, b) => a - b));
    expect(ranges[4]).toBeGreaterThan(0);
  });

  it("is taken up by the next pull", async () => {
    cutAfter(200_000, 1);
    await expect(pull({ connection: { ...connection, maxTries: 1 } })).rejects.toMatchObject({
      code: "HUB_FAILED",
      reason: "unreachable",
    });
    const had = lstatSync(`${blobPath(sha256(weights))}.incomplete`).size;
    expect(had).toBeGreaterThan(0);
    expect(findCached(cacheFolder, id)).toBe(null);
    hub.takeDownloads();
    const { path } = await pull();
    expect(readFileSync(join(path, "model.safetensors"))).toEqual(weights);
    const storage = hub.takeDownloads().filter(({ origin }) => origin === "storage");
    expect(storage.map(({ range }) => range)).toEqual([`bytes=${had}-`]);
  });

  it("ends after tries that bring nothing", async () => {
    cutAfter(0, Infinity);
    await expect(pull()).rejects.toThrow(/cannot be fetched/);
    expect(hub.takeDownloads().filter(({ origin }) => origin === "storage").length).toBe(3);
  });

  it("counts as cut when it falls silent", async () => {
    let silent = true;
    hub.trouble = ({ origin }, response) => {
      if (origin !== "storage" || !silent) return false;
      silent = false;
      response
        .writeHead(200, { "content-length": weights.length })
        .write(weights.subarray(0, 1000));
      return true;
    };
    const { path } = await pull();
    expect(readFileSync(join(path, "model.safetensors"))).toEqual(weights);
  });

  it("starts again where the server knows no ranges", async () => {
    await mkdir(join(cacheFolder, "models--owner--model/blobs"), { recursive: true });
    writeFileSync(`${blobPath(sha256(weights))}.incomplete`, weights.subarray(0, 5000));
    hub.trouble = (seen, response) => {
      if (seen.origin !== "storage") return false;
      sendContent({ ...seen, range: undefined }, response, weights);
      return true;
    };
    const { path } = await pull();
    expect(readFileSync(join(path, "model.safetensors"))).toEqual(weights);
  });
});

describe("content that is not what the hub announced", () => {
  it("is refused and thrown away", async () => {
    hub.trouble = (seen, response) => {
      if (seen.origin !== "storage") return false;
      sendContent(seen, response, Buffer.alloc(weights.length));
      return true;
    };
    await expect(pull()).rejects.toMatchObject({ reason: "damaged" });
    expect(readdirSync(join(cacheFolder, "models--owner--model/blobs"))).not.toContain(
      sha256(weights),
    );
    expect(existsSync(`${blobPath(sha256(weights))}.incomplete`)).toBe(false);
    expect(findCached(cacheFolder, id)).toBe(null);
  });

  it("is fetched anew where an older attempt left it behind", async () => {
    await mkdir(join(cacheFolder, "models--owner--model/blobs"), { recursive: true });
    writeFileSync(`${blobPath(sha256(weights))}.incomplete`, Buffer.alloc(1000));
    const { path } = await pull();
    expect(readFileSync(join(path, "model.safetensors"))).toEqual(weights);
  });
});

describe("refusals", () => {
  const answer =
    (status: number, headers: Record<string, string> = {}): StandInHub["trouble"] =>
    (_, response) => {
      response.writeHead(status, headers).end();
      return true;
    };

  it.each([
    [401, {}, "refused", /owner\/model does not exist, or is private/],
    [403, { "x-error-code": "GatedRepo" }, "refused", /may not be read/],
    [404, {}, "not-found", /has no model owner\/model@main/],
    [418, { "x-error-message": "teapot" }, "unreachable", /status 418\. The hub says: teapot/],
    [503, {}, "unreachable", /responded with status 503/],
  ])("with status %i %j say what to do", async (status, headers, reason, message) => {
    hub.trouble = answer(status, headers);
    const pulling = pull();
    await expect(pulling).rejects.toMatchObject({ reason, hint: expect.any(String) as string });
    await expect(pulling).rejects.toThrow(message);
    expect(hub.requests.length).toBe(status >= 500 ? 3 : 1);
  });

  it("of too many requests are waited out", async () => {
    let left = 2;
    hub.trouble = (_, response) => {
      if (left === 0) return false;
      left -= 1;
      response.writeHead(429, { "retry-after": "0" }).end();
      return true;
    };
    const said: string[] = [];
    expect(existsSync((await pull({ onRetry: (message) => said.push(message) })).path)).toBe(true);
    // Each is announced, so that a user does not wait without knowing for what.
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(/allows no more requests for now\. Trying again in 0 s\.$/u);
  });

  it("name a revision that does not exist", async () => {
    await expect(pull({}, parseModelId("owner/model@v2")!)).rejects.toThrow(/no revision "v2"/);
  });

  it("of a hub that cannot be reached", async () => {
    const unreachable = { ...settings, endpoint: "http://127.0.0.1:1" };
    await expect(pull({ settings: unreachable })).rejects.toMatchObject({ reason: "unreachable" });
  });

  it.each([
    [["weights.bin"], /neither safetensors nor GGUF/],
    [["a.gguf", "b.gguf"], /no safetensors, but 2 GGUF files/],
  ])("of a model with only %j", async (names, message) => {
    hub.files.clear();
    for (const name of names) hub.files.set(name, Buffer.from("x"));
    await expect(pull()).rejects.toThrow(message);
  });

  it("come at once when there is no network to be used", async () => {
    const offline = { ...settings, offline: true };
    await expect(pull({ settings: offline })).rejects.toMatchObject({ reason: "offline" });
    const { path } = await pull();
    hub.requests.length = 0;
    expect((await pull({ settings: offline })).path).toBe(path);
    expect(hub.requests).toEqual([]);
  });
});

it("stops within a moment when it is aborted", async () => {
  const controller = new AbortController();
  hub.trouble = ({ origin }, response) => {
    if (origin !== "storage") return false;
    response.writeHead(200, { "content-length": weights.length }).write(weights.subarray(0, 10));
    controller.abort(new Error("enough"));
    return true;
  };
  await expect(
    pull({ signal: controller.signal, connection: { ...connection, silenceMs: 60_000 } }),
  ).rejects.toThrow("enough");
});
