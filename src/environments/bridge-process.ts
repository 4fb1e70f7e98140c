/** A Python process that answers JSON lines: requests by their ids, and its end as the failure of them all. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { z } from "zod";
import { raceAbort, withTimeout } from "../util/abort.ts";
import { type StartedProcess, startProcess } from "../util/process/start-process.ts";
import { environmentError } from "./episode/environment-error.ts";
import { environmentsPython } from "./python-environment.ts";

/** Contains the programs. */
const pythonFolder = fileURLToPath(new URL("../../python/", import.meta.url));

/** Imports of Python packages take half a minute on a cold disk. */
const startMs = 300_000;
const endMs = 10_000;
const keptChars = 4000;

const answer = z.object({
  id: z.number().nullable(),
  result: z.unknown().optional(),
  error: z.string().optional(),
  final: z.boolean().optional(),
});

/** What is started. */
export interface BridgeProgram {
  /** Of the environment, for messages. */
  readonly name: string;
  /** @default that of `agent-trainer env setup`, else python3 */
  readonly python?: string | undefined;
  readonly module: "agent_trainer_gym" | "agent_trainer_verifiers";
  readonly args: readonly string[];
  /** The module of the package that it needs. */
  readonly needs: string;
  /** What installs that. */
  readonly setup: string;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The process of one environment. */
export class BridgeProcess {
  readonly #program: BridgeProgram;
  readonly #process: StartedProcess;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number | null, Waiting>();
  readonly #ready: Promise<unknown>;
  #next = 1;
  #words = "";
  #isReady = false;
  #failure: Error | null = null;

  /** Starts it; nothing is known of it before the first request. */
  constructor(program: BridgeProgram) {
    this.#program = program;
    const { python = environmentsPython(), module, args } = program;
    const search = [pythonFolder, process.env["PYTHONPATH"] ?? ""].filter((one) => one !== "");
    this.#process = startProcess({
      argv: [python, "-u", "-m", module, ...args],
      env: {
        ...process.env,
        PYTHONPATH: search.join(delimiter),
        // Programs of the same environment, such as uv, are next to its interpreter.
        PATH: [dirname(python), process.env["PATH"] ?? ""].join(delimiter),
      },
      stdio: ["pipe", "pipe", "pipe"],
      endsAll: true,
    });
    this.#child = this.#process.child as ChildProcessWithoutNullStreams;
    this.#child.stdin.on("error", () => {});
    this.#child.stderr.on("data", (data: Buffer) => {
      this.#words = (this.#words + data.toString()).slice(-keptChars);
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#read(line));
    this.#child.once("error", (error) => this.#fail(`it does not start: ${error.message}`));
    this.#child.once("close", (code, signal) =>
      this.#fail(`its process ended with ${code ?? signal}. ${this.#words.trim().slice(-1500)}`),
    );
    this.#ready = this.#response(null);
    this.#ready.then(
      () => (this.#isReady = true),
      () => {},
    );
  }

  get hasEnded(): boolean {
    return this.#failure !== null;
  }

  /**
   * One request. An abort of `signal` cancels what it began.
   * @throws AgentTrainerError (`ENVIRONMENT_FAILED`) for what Python raised, or the end of its process.
   */
  async request(method: string, fields: object, signal: AbortSignal): Promise<unknown> {
    const limit = withTimeout(signal, startMs);
    await raceAbort(this.#ready, limit).catch((error: unknown) => {
      signal.throwIfAborted();
      throw limit.aborted
        ? environmentError(`${this.#program.name} did not start within ${startMs / 1000} s.`)
        : error;
    });
    const id = this.#next++;
    const response = this.#response(id);
    this.#send({ id, method, ...fields });
    try {
      return await raceAbort(response, signal);
    } catch (error) {
      if (signal.aborted && this.#waiting.delete(id)) {
        this.#send({ id: this.#next++, method: "cancel", run: id });
      }
      throw error;
    }
  }

  /** Ends the process: by closing its input, then by force. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#failure !== null)
      return;
    this.#child.stdin.end();
    const force = setTimeout(this.#process.kill, endMs);
    await ended;
    clearTimeout(force);
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #response(id: number | null): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure === null) this.#waiting.set(id, { resolve, reject });
      else reject(this.#failure);
    });
  }

  #read(line: string): void {
    const read = answer.safeParse(tryJson(line));
    if (!read.success) return;
    const { id, result, error, final = false } = read.data;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(this.#error(`: ${error}`, final));
  }

  #fail(what: string): void {
    // One that had begun its work was killed or crashed: the next one may do better.
    this.#failure ??= this.#error(` failed: ${what}`, !this.#isReady);
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }

  #error(what: string, isFinal: boolean): Error {
    const { name, needs, setup } = this.#program;
    const isMissing = new RegExp(`No module named '?(?:${needs}|agent_trainer)|ENOENT`, "u").test(
      what,
    );
    return environmentError(name + what, { isFinal, hint: isMissing ? setup : undefined });
  }
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
