/** What was trained, at plain /v1, until interrupted: `serve MODEL...`. */
import { existsSync } from "node:fs";
import { once } from "node:events";
import type { ModelServer } from "../../launch/serve/model-server.ts";
import type { ModelServerOptions, ServedModelSpec } from "../../launch/serve/serve-options.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import { defined } from "../../util/defined.ts";
import { redact } from "../../util/redact.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { formatError } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";
import type { ServingFlags } from "./training-api.ts";

/** Environment variable that holds the key. */
const serveKeyVariable = "AGENT_TRAINER_SERVE_KEY";

/** How long calls in flight may take to finish after the first Ctrl-C. */
const drainMs = 10_000;

export interface ModelFlags extends ServingFlags {
  readonly follow?: boolean | undefined;
  readonly store?: string | undefined;
}

/** `NAME=MODEL`, or the model alone. */
function readModel(text: string): ServedModelSpec {
  const [, name, model] = /^([^=/\\]+)=(.+)$/u.exec(text) ?? [];
  if (name === undefined || model === undefined || existsSync(text)) return { model: text };
  return { name, model };
}

/** Resolves with the exit status once the server has stopped. */
export async function serveModels(
  models: readonly string[],
  flags: ModelFlags,
  io: CliIo,
): Promise<number> {
  const fromEnvironment = process.env[serveKeyVariable] ?? "";
  const key = flags.token ?? (fromEnvironment === "" ? undefined : fromEnvironment);
  const { checkKey } = await import("../../launch/serve/serve-options.ts");
  checkKey(key, flags.host);
  using interrupt = watchInterrupt(
    io,
    "Stopping: waiting for calls in flight. Press Ctrl-C again to quit immediately.",
  );
  const colors = colorsFor(io.stderr);
  const note = (text: string): void => void (flags.quiet === true || io.stderr.write(`${text}\n`));
  await using server = await open({
    models: models.map(readModel),
    ...defined({ key, threads: flags.threads, precision: flags.precision, store: flags.store }),
    follow: flags.follow === true,
    signal: interrupt.signal,
    onSwap: ({ model, step, checkpoint }) =>
      note(`${model} is now that of step ${step} (${checkpoint}).`),
    onPull: createPullProgress(io.stderr),
    onWarning: (message) =>
      void io.stderr.write(`${colors.yellow("warning:")} ${redact(message)}\n`),
    onError: (error) =>
      void io.stderr.write(redact(formatError(error, colors, flags.verbose === true))),
  });
  const { url } = await server.listen({ host: flags.host, port: flags.port });
  writeResult(io, flags.json, { url, models: server.models }, `${url}\n`);
  const access = key === undefined ? "to programs of this machine, without a key" : "with your key";
  note(`Serving ${server.models.join(", ")} ${access}. Press Ctrl-C to stop.`);
  if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
  const left = await server.drain(drainMs);
  if (left > 0) io.stderr.write(`Calls still in flight after ${drainMs / 1000} s: ${left}.\n`);
  return exitCodes.done;
}

/** Loaded on demand: the engine needs an optional package. */
async function open(options: ModelServerOptions): Promise<ModelServer> {
  try {
    const { createModelServer } = await import("../../launch/serve/model-server.ts");
    return await createModelServer(options);
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}
