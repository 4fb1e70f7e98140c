/**
 * Checkpoints as files to download. A client with a key gets a URL with a ticket; the ticket is the
 * permission, since those who fetch it send no key.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Hono, type Context } from "hono";
import type { CheckpointPath } from "../checkpoints/checkpoint-path.ts";
import { checkpointFile, type CheckpointStore } from "../checkpoints/checkpoint-store.ts";
import { RequestError } from "../request-error.ts";

const block = 512;

/** A folder's files as an uncompressed tar archive (POSIX ustar). */
async function tarOfFolder(folder: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const name of (await readdir(folder)).toSorted()) {
    const content = await readFile(join(folder, name));
    const padding = Buffer.alloc((block - (content.length % block)) % block);
    parts.push(header(name, content.length), content, padding);
  }
  // Two empty blocks end an archive.
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function header(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, width: number): string =>
    `${value.toString(8).padStart(width - 1, "0")}\0`;
  bytes.write(name, 0, 100);
  bytes.write(octal(0o644, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(0, 12), 136);
  bytes.write(" ".repeat(8), 148);
  bytes.write("0", 156);
  bytes.write("ustar\u000000", 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}

const ticketMs = 60 * 60_000;
const maxTickets = 10_000;

interface Ticket {
  readonly path: CheckpointPath;
  readonly until: number;
}

export class Archives {
  readonly #store: CheckpointStore;
  readonly #tickets = new Map<string, Ticket>();

  constructor(store: CheckpointStore) {
    this.#store = store;
  }

  /** A URL that anyone who has it can open. @throws RequestError 404 */
  async urlOf(c: Context, path: CheckpointPath): Promise<{ url: string; expires: Date }> {
    await this.#store.find(path);
    for (const [id, { until }] of this.#tickets) {
      if (until > Date.now() && this.#tickets.size < maxTickets) break;
      this.#tickets.delete(id);
    }
    const ticket = randomBytes(24).toString("base64url");
    const until = Date.now() + ticketMs;
    this.#tickets.set(ticket, { path, until });
    const url = new URL(c.req.url);
    url.pathname = url.pathname.replace(/\/training_runs\/.*$/u, `/archives/${ticket}`);
    url.search = "";
    return { url: url.href, expires: new Date(until) };
  }

  /** Names of the files that are the checkpoint's content. */
  async filesOf(path: CheckpointPath): Promise<readonly string[]> {
    await this.#store.find(path);
    const names = await readdir(this.#store.folderOf(path));
    return names.filter((name) => name !== checkpointFile).toSorted();
  }

  /** @throws RequestError 404 */
  async #pathOf(ticket: string): Promise<CheckpointPath> {
    const found = this.#tickets.get(ticket);
    if (found === undefined || found.until < Date.now())
      throw new RequestError(404, "This archive is gone. Ask for it again.");
    await this.#store.find(found.path);
    return found.path;
  }

  /** Needs no key. */
  routes(): Hono {
    const app = new Hono();
    app.get("/archives/:ticket", async (c) => {
      const path = await this.#pathOf(c.req.param("ticket"));
      const tar = await tarOfFolder(this.#store.folderOf(path));
      const headers = { "content-type": "application/x-tar" };
      return new Response(new Uint8Array(tar), { headers });
    });
    app.get("/archives/:ticket/:file", async (c) => {
      const path = await this.#pathOf(c.req.param("ticket"));
      const name = c.req.param("file");
      if (!(await this.filesOf(path)).includes(name))
        throw new RequestError(404, `This checkpoint has no file "${name}".`);
      const file = join(this.#store.folderOf(path), name);
      const { size } = await stat(file);
      const headers = {
        "content-type": "application/octet-stream",
        "content-length": String(size),
      };
      return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, { headers });
    });
    return app;
  }
}
