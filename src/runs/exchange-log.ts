/**
 * HTTP bodies of model calls in `http/` of a run folder, one line each, in files by the call's session, so that
 * one is found without reading all. Written in the background: no call waits for it. Each line has the step of
 * the newest checkpoint of its time, so that a resumed run can remove what came after its own.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExchangeListener, HttpExchange } from "../gateway/index.ts";
import { writeFileAtomicSync } from "../util/files/atomic-write.ts";
import { gzipBlock, gzipBlocks, gzipBlockSync } from "../util/files/gzip-blocks.ts";
import { cutLines, keptLines } from "./json-lines.ts";
import { type Compression, recordEnding } from "./record-lines.ts";

/** Characters that may wait for the disk; what comes on top is dropped. */
const maxWaiting = 2 ** 25;

/** Folder of the bodies; absent where none were kept. */
export function exchangeFolder(run: string): string {
  return join(run, "http");
}

/** File of a session's calls: one of 256. */
export function exchangeFile(run: string, session: string, compression: Compression): string {
  const shard = createHash("sha256").update(session).digest("hex").slice(0, 2);
  return join(exchangeFolder(run), `${shard}${recordEnding(compression)}`);
}

/** How the line of a call begins, which no other line does. */
export function exchangeKey({
  session,
  response,
}: Pick<HttpExchange, "session" | "response">): string {
  return `{"session":${JSON.stringify(session)},"response":${JSON.stringify(response)},`;
}

export interface ExchangeLogOptions {
  /** Folder of the run. */
  readonly run: string;
  /** Of each body; 0 keeps nothing. */
  readonly kilobytes: number;
  readonly compression: Compression;
  /** Step that the run resumes from; -1 at its start. */
  readonly checkpoint: number;
  readonly warn: (message: string) => void;
}

/** Appends exchanges until it is disposed of, which waits for the disk. */
export class ExchangeLog implements AsyncDisposable {
  /** Undefined where nothing is kept. */
  readonly listener: ExchangeListener | undefined;
  /** Step of the newest checkpoint; -1 before the first. */
  checkpoint: number;
  readonly #run: string;
  readonly #compression: Compression;
  readonly #warn: (message: string) => void;
  #waiting = new Map<string, string[]>();
  #characters = 0;
  #writing: Promise<void> | undefined;
  #hasWarned = false;

  constructor({ run, kilobytes, compression, checkpoint, warn }: ExchangeLogOptions) {
    this.#run = run;
    this.#compression = compression;
    this.checkpoint = checkpoint;
    this.#warn = warn;
    if (kilobytes === 0) return;
    mkdirSync(exchangeFolder(run), { recursive: true });
    this.listener = { limit: kilobytes * 1024, take: (exchange) => this.#take(exchange) };
  }

  #warnOnce(reason: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(
      `HTTP bodies of some calls are not recorded (record.http_body_kb): ${reason}. This warning is shown once.`,
    );
  }

  #take({ session, response, ...rest }: HttpExchange): void {
    if (this.#characters > maxWaiting) {
      this.#warnOnce("the disk is slower than the calls");
      return;
    }
    const fields = JSON.stringify({ after: this.checkpoint, ...rest });
    const line = `${exchangeKey({ session, response })}${fields.slice(1)}\n`;
    const file = exchangeFile(this.#run, session, this.#compression);
    const lines = this.#waiting.get(file);
    if (lines === undefined) this.#waiting.set(file, [line]);
    else lines.push(line);
    this.#characters += line.length;
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    // What comes in the same turn goes out together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const files = this.#waiting;
      this.#waiting = new Map();
      this.#characters = 0;
      for (const [file, lines] of files) {
        try {
          const text = Buffer.from(lines.join(""));
          await appendFile(file, this.#compression === "gzip" ? await gzipBlock(text) : text);
        } catch (error) {
          this.#warnOnce(error instanceof Error ? error.message : String(error));
        }
      }
    }
    this.#writing = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }
}

/** Removes what was written after the checkpoint of a step; -1 removes all. Damaged lines go, too. */
export function cutExchanges(run: string, step: number): void {
  const folder = exchangeFolder(run);
  if (!existsSync(folder)) return;
  // Runs of earlier versions did not write it.
  const keep = ({ after }: Record<string, unknown>): boolean =>
    step >= 0 && (typeof after !== "number" || after < step);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.endsWith(".jsonl")) cutLines(path, keep);
    else if (name.endsWith(".jsonl.gz")) cutBlocks(path, keep);
  }
}

function cutBlocks(path: string, keep: (value: Record<string, unknown>) => boolean): void {
  const kept: Buffer[] = [];
  const handle = openSync(path, "r");
  try {
    for (const { content } of gzipBlocks(handle)) {
      const lines = content === null ? [] : keptLines(content, keep);
      if (lines.length > 0) kept.push(gzipBlockSync(Buffer.concat(lines)));
    }
  } finally {
    closeSync(handle);
  }
  writeFileAtomicSync(path, Buffer.concat(kept));
}
