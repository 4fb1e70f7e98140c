/**
 * A process that answers one line of JSON with one line of JSON, so that two of them can take turns:
 * ours and a peer in another language.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** Longest wait for an answer, in milliseconds: a turn on a slow machine takes minutes. */
const deadlineMs = 60 * 60_000;

interface Waiting {
  resolve(line: string): void;
  reject(error: Error): void;
}

export class LineProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  #waiting: Waiting | undefined;
  readonly #kill = (): void => void this.#child.kill("SIGKILL");

  constructor(name: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.#name = name;
    // Whatever it says on stderr is for the reader.
    this.#child = spawn(command, args, {
      stdio: ["pipe", "pipe", 2],
      env: { ...process.env, ...env },
    });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      this.#waiting?.resolve(line);
    });
    const fail = (why: string) => (): void => this.#waiting?.reject(new Error(`${name} ${why}.`));
    this.#child.once("error", fail(`could not be started (${command})`));
    this.#child.once("exit", fail("ended without an answer"));
    process.once("exit", this.#kill);
  }

  /** One request at a time. */
  async ask<Answer>(request: object): Promise<Answer> {
    const timer = setTimeout(() => {
      this.#waiting?.reject(new Error(`${this.#name} gave no answer within ${deadlineMs} ms.`));
    }, deadlineMs);
    try {
      const line = await new Promise<string>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
      });
      return JSON.parse(line) as Answer;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }

  /** Asks twice and tells the second answer: who has waited for a turn has lost caches and memory meanwhile. */
  async askWarm<Answer>(request: object): Promise<Answer> {
    await this.ask(request);
    return this.ask(request);
  }

  [Symbol.dispose](): void {
    process.removeListener("exit", this.#kill);
    this.#kill();
  }
}
