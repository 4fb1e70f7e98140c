/** A hub that means harm: names that lead out of its cache, files and lists without an end. */
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDataset } from "../../src/models/hub/open-dataset.ts";
import { HubCache } from "../../src/models/hub/hub-cache.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const small = Buffer.from('{"question": "a"}\n');
const sha1 = createHash("sha1").update(`blob ${small.length}\0`).update(small).digest("hex");

let answer: RequestListener;
let server: Server;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "hostile-hub-"));
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true });
});

const open = () =>
  openDataset("owner/data", "main", {
    settings: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: null,
      cacheFolder: join(root, "cache"),
      offline: false,
    },
    connection: { retryMs: 1, maxTries: 2 },
    signal: new AbortController().signal,
  });

/** Lists `names` and sends the same small file for each, as large as `announced`. */
function listing(names: readonly unknown[], announced = small.length): RequestListener {
  return ({ url = "" }, response) => {
    if (url.startsWith("/api/")) {
      const siblings = names.map((rfilename) => ({ rfilename }));
      response.end(JSON.stringify({ sha: commit, siblings }));
      return;
    }
    response.setHeader("x-linked-etag", sha1);
    response.setHeader("x-linked-size", announced);
    response.end(small);
  };
}

it.each([
  "../../../outside.jsonl",
  "a/../../../../outside.jsonl",
  "/outside.jsonl",
  "..",
  "a//b.jsonl",
  "./a.jsonl",
  String.raw`..\..\outside.jsonl`,
  String.raw`C:\outside.jsonl`,
  "c:outside.jsonl",
  "a\0.jsonl",
  "x".repeat(5_000),
  "",
  7,
])("a file named %j is refused, and nothing is written", async (name) => {
  answer = listing(["good.jsonl", name]);
  await expect(open()).rejects.toMatchObject({
    code: "HUB_FAILED",
    reason: "unsupported",
    message: expect.stringContaining("not a path within a repository") as string,
  });
  expect(await readdir(root)).toEqual([]);
});

it("names that another program left in the cache do not lead out of it either", async () => {
  const cache = new HubCache(join(root, "cache"), "owner/data", "dataset");
  await cache.writeFiles(commit, ["../../../../outside.jsonl"]);
  const [name] = cache.filesOf(commit)!;
  const refused = expect.objectContaining({ code: "HUB_FAILED" });
  expect(() => cache.has(commit, name!)).toThrow(refused);
  await expect(cache.link(commit, name!, sha1)).rejects.toEqual(refused);
});

it("a file that is longer than announced is cut at its size, and thrown away", async () => {
  let sent = 0;
  const serve = listing(["large.jsonl"], 1_000);
  answer = (request, response) => {
    if (request.method !== "GET" || request.url?.startsWith("/api/") === true)
      return serve(request, response);
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, "x"))) sent += 65_536;
      if (!response.destroyed) response.once("drain", write);
    };
    response.on("error", () => {});
    write();
  };
  const repository = await open();
  await expect(repository.fetch(["large.jsonl"])).rejects.toMatchObject({
    reason: "damaged",
    message:
      "large.jsonl is longer than the 1000 bytes that the hub announced; it was thrown away.",
  });
  const partial = join(root, `cache/datasets--owner--data/blobs/${sha1}.incomplete`);
  expect(existsSync(partial) ? statSync(partial).size : 0).toBe(0);
  // What the sockets hold, and no more.
  expect(sent).toBeLessThan(64 * 2 ** 20);
});

it("a list of files without an end is refused", async () => {
  answer = (_request, response) => {
    response.write('{"siblings": [');
    const write = (): void => {
      while (!response.destroyed && response.write(" ".repeat(2 ** 20)));
      if (!response.destroyed) response.once("drain", write);
    };
    response.on("error", () => {});
    write();
  };
  await expect(open()).rejects.toMatchObject({
    reason: "unsupported",
    message: expect.stringContaining("more than 64 MiB") as string,
  });
});
