/**
 * HTTP bodies of model calls in `http/` of a run folder, one line each, in files by the call's session, so that
 * one is found without reading all. Written in the background: no call waits for it.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExchangeListener, HttpExchange } from "../../gateway/index.ts";

/** Characters that may wait for the disk; what comes on top is dropped. */
const mostWaiting = 2 ** 25;

/** Folder of the bodies; absent where none were kept. */
export function exchangeFolder(run: string): string {
  return join(run, "http");
}

/** File of a session's calls: one of 256. */
export function exchangeFile(run: string, session: string): string {
  const shard = createHash("sha256").update(session).digest("hex").slice(0, 2);
  return join(exchangeFolder(run), `${shard}.jsonl`);
}

/** How the line of a call begins, which no other line does. */
export function exchangeKey({
  session,
  response,
}: Pick<HttpExchange, "session" | "response">): string {
  return `{"session":${JSON.stringify(session)},"response":${JSON.stringify(response)},`;
}

/** Appends exchanges until it is disposed of, which waits for the disk. */
export class ExchangeLog implements AsyncDisposable {
  /** Undefined where nothing is kept. */
  readonly listener: ExchangeListener | undefined;
  readonly #run: string;
  readonly #warn: (message: string) => void;
  #waiting = new Map<string, string[]>();
  #characters = 0;
  #writing: Promise<void> | undefined;
  #hasWarned = false;

  constructor(run: string, kilobytes: number, warn: (message: string) => void) {
    this.#run = run;
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
    if (this.#characters > mostWaiting) {
      this.#warnOnce("the disk is slower than the calls");
      return;
    }
    const line = `${exchangeKey({ session, response })}${JSON.stringify(rest).slice(1)}\n`;
    const file = exchangeFile(this.#run, session);
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
          await appendFile(file, lines.join(""));
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
