/** The embedded engine over the Tinker API, until interrupted: `serve --tinker`. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { findModel } from "../../backends/local/find-model.ts";
import { loadModelRenderer } from "../../backends/local/load-model.ts";
import type { PrecisionOption } from "../../core/precision.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import type { TinkerServer, TinkerServerOptions } from "../../tinker-server/index.ts";
import { defined } from "../../util/defined.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { formatError } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";

/** Flags that models at /v1 have too. */
export interface ServingFlags {
  readonly host: string;
  readonly port: number;
  /** The key that clients send. */
  readonly token?: string | undefined;
  readonly threads?: number | undefined;
  readonly precision?: PrecisionOption | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

export interface TrainingApiFlags extends ServingFlags {
  readonly model?: string | undefined;
  readonly name?: string | undefined;
  readonly folder?: string | undefined;
  readonly maxModels?: number | undefined;
  readonly maxBodyMib?: number | undefined;
}

const defaultModel = "builtin:shop-tiny";

/** Environment variable that holds the token; clients read theirs from it as well. */
const tokenVariable = "TINKER_API_KEY";

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

/** Resolves with the exit status once the server has stopped. */
export async function serveTrainingApi(flags: TrainingApiFlags, io: CliIo): Promise<number> {
  const chosen = flags.token ?? process.env[tokenVariable] ?? "";
  const folder = flags.folder ?? "tinker-runs";
  using interrupt = watchInterrupt(
    io,
    "Stopping; checkpoints are kept. Press Ctrl-C again to quit immediately.",
  );
  const { path, name } = await findModel(flags.model ?? defaultModel);
  // The official client requires the prefix.
  const generated = `tml-${randomBytes(24).toString("base64url")}`;
  const token = chosen === "" ? generated : chosen;
  const colors = colorsFor(io.stderr);
  await using server = await startServer(
    {
      modelPath: path,
      modelName: flags.name ?? name,
      renderer: await loadModelRenderer(path),
      folder,
      token,
      ...defined({
        threads: flags.threads,
        precision: flags.precision,
        maxModels: flags.maxModels,
        maxBodyMiB: flags.maxBodyMib,
      }),
    },
    (error) => void io.stderr.write(formatError(error, colors, flags.verbose === true)),
  );
  const url = await server.listen({ host: flags.host, port: flags.port });
  const model = server.modelName;
  writeResult(io, flags.json, { url, model }, `${url}\n`);
  // The only place where the token is shown.
  if (chosen === "") io.stderr.write(`token: ${token}\n`);
  if (flags.quiet !== true) {
    io.stderr.write(
      `Serving ${model} over the Tinker API; checkpoints are saved in ${folder}. Press Ctrl-C to stop.\n`,
    );
  }
  if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
  return exitCodes.done;
}
