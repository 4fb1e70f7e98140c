/** The Python side of an environment: a process that begins with the first request, and again where it ended. */
import type { z } from "zod";
import { BridgeProcess, type BridgeProgram } from "./bridge-process.ts";
import { environmentError } from "./episode/environment-error.ts";

export class PythonBridge {
  readonly #program: BridgeProgram;
  #process: BridgeProcess | null = null;

  constructor(program: BridgeProgram) {
    this.#program = program;
  }

  /** @throws AgentTrainerError (`ENVIRONMENT_FAILED`), or the signal's reason */
  async request<T>(
    method: string,
    fields: object,
    schema: z.ZodType<T>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<T> {
    const { name, setup } = this.#program;
    // It was killed, or crashed: episodes that were open fail, and are begun again.
    if (this.#process?.hasEnded !== false) this.#process = new BridgeProcess(this.#program);
    const read = schema.safeParse(await this.#process.request(method, fields, signal));
    if (read.success) return read.data;
    throw environmentError(`${name} sent something unexpected: ${read.error.message}`, {
      isFinal: true,
      hint: setup,
    });
  }

  async close(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    await process?.close();
  }
}
