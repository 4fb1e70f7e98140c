/** `agent-trainer serve --tinker`: serves the embedded engine over the Tinker API until interrupted. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { findModel } from "../../backends/local/find-model.ts";
import { loadModelRenderer } from "../../backends/local/load-model.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TinkerServer, TinkerServerOptions } from "../../tinker-server/index.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { formatError, missingPackage } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";

export interface ServeFlags {
  readonly tinker?: boolean;
  readonly model: string;
  readonly name?: string;
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly threads?: number;
  readonly maxModels?: number;
  readonly maxBodyMib?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Environment variable that holds the token; clients read theirs from it as well. */
export const serveTokenVariable = "TINKER_API_KEY";

/** The official client requires keys with this prefix. */
function makeToken(): string {
  return `tml-${randomBytes(24).toString("base64url")}`;
}

/** Loaded on demand: the engine needs an optional package. */
async function startServer(
  options: TinkerServerOptions,
  onError: (error: unknown) => void,
): Promise<TinkerServer> {
  try {
    const { createTinkerServer } = await import("../../tinker-server/index.ts");
    return await createTinkerServer(options, onError);
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}

/** Runs the command; resolves with the exit status once the server has stopped. */
export async function serveCommand(flags: ServeFlags, io: CliIo): Promise<number> {
  if (flags.tinker !== true) {
    throw new ConfigError({
      message: "serve needs to know which API to serve.",
      hint: "Run: agent-trainer serve --tinker [--model FOLDER]",
    });
  }
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping; checkpoints are kept. Press Ctrl-C again to quit immediately.\n");
  });
  const { path, name } = await findModel(flags.model);
  const chosen = flags.token ?? process.env[serveTokenVariable] ?? "";
  const token = chosen === "" ? makeToken() : chosen;
  const colors = colorsFor(io.stderr);
  await using server = await startServer(
    {
      modelPath: path,
      modelName: flags.name ?? name,
      renderer: await loadModelRenderer(path),
      folder: flags.folder,
      token,
      ...(flags.threads === undefined ? {} : { threads: flags.threads }),
      ...(flags.maxModels === undefined ? {} : { maxModels: flags.maxModels }),
      ...(flags.maxBodyMib === undefined ? {} : { maxBodyMiB: flags.maxBodyMib }),
    },
    (error) => void io.stderr.write(formatError(error, colors, flags.verbose === true)),
  );
  const url = await server.listen({ host: flags.host, port: flags.port });
  const model = server.modelName;
  io.stdout.write(flags.json === true ? `${JSON.stringify({ url, model })}\n` : `${url}\n`);
  // The only place where the token is shown.
  if (chosen === "") io.stderr.write(`token: ${token}\n`);
  if (flags.quiet !== true) {
    io.stderr.write(
      `Serving ${model} over the Tinker API; checkpoints are saved in ${flags.folder}. Press Ctrl-C to stop.\n`,
    );
  }
  if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
  return exitCodes.done;
}
