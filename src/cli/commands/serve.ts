/** `agent-trainer serve --tinker` and `--fireworks`: the embedded engine over a training API, until interrupted. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { findModel } from "../../backends/local/find-model.ts";
import { loadModelRenderer } from "../../backends/local/load-model.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TinkerServer, TinkerServerOptions } from "../../tinker-server/index.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import { formatError } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { defined } from "../../util/defined.ts";
import { type ServeFlags, tokenOf } from "./serve-flags.ts";
import { serveModelsCommand } from "./serve-models.ts";

const defaultModel = "builtin:shop-tiny";

interface Api {
  readonly name: string;
  /** Environment variable that holds the token; clients read theirs from it as well. */
  readonly tokenVariable: string;
  /** Keys begin with it; the official client of Tinker requires that. */
  readonly tokenPrefix: string;
  readonly folder: string;
  readonly start: "createTinkerServer" | "createFireworksServer";
}

const tinkerApi: Api = {
  name: "the Tinker API",
  tokenVariable: "TINKER_API_KEY",
  tokenPrefix: "tml-",
  folder: "tinker-runs",
  start: "createTinkerServer",
};

const fireworksApi: Api = {
  name: "the serverless training API of Fireworks",
  tokenVariable: "FIREWORKS_API_KEY",
  tokenPrefix: "fw_",
  folder: "fireworks-runs",
  start: "createFireworksServer",
};

/** Null for models at /v1. @throws ConfigError when it is not clear. */
function apiOf({ tinker, fireworks, follow }: ServeFlags): Api | null {
  if (follow === true && (tinker === true || fireworks === true))
    throw new ConfigError({
      message: "--follow has no effect on the training APIs.",
      hint: "Leave it out, or serve a run: agent-trainer serve RUN --follow",
    });
  if (tinker === true && fireworks === true)
    throw new ConfigError({
      message: "serve has one API at a time, but --tinker and --fireworks are both given.",
      hint: "Start two servers, with different ports and folders.",
    });
  if (tinker === true) return tinkerApi;
  if (fireworks === true) return fireworksApi;
  return null;
}

/** Loaded on demand: the engine needs an optional package. */
async function startServer(
  start: Api["start"],
  options: TinkerServerOptions,
  onError: (error: unknown) => void,
): Promise<TinkerServer> {
  try {
    const servers = await import("../../tinker-server/index.ts");
    return await servers[start](options, onError);
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}

/** Runs the command; resolves with the exit status once the server has stopped. */
export async function serveCommand(
  models: readonly string[],
  flags: ServeFlags,
  io: CliIo,
): Promise<number> {
  const api = apiOf(flags);
  if (api === null) return serveModelsCommand(models, flags, io);
  if (models.length > 0) {
    throw new ConfigError({
      message: `Over ${api.name} one base model is served, which --model names, so ${models.join(" ")} has no effect.`,
      hint: `Run: agent-trainer serve --${flags.tinker === true ? "tinker" : "fireworks"} --model ${models[0]}`,
    });
  }
  const chosen = tokenOf(flags) ?? process.env[api.tokenVariable] ?? "";
  const folder = flags.folder ?? api.folder;
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping; checkpoints are kept. Press Ctrl-C again to quit immediately.\n");
  });
  const { path, name } = await findModel(flags.model ?? defaultModel);
  const generated = `${api.tokenPrefix}${randomBytes(24).toString("base64url")}`;
  const token = chosen === "" ? generated : chosen;
  const colors = colorsFor(io.stderr);
  await using server = await startServer(
    api.start,
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
  io.stdout.write(flags.json === true ? `${JSON.stringify({ url, model })}\n` : `${url}\n`);
  // The only place where the token is shown.
  if (chosen === "") io.stderr.write(`token: ${token}\n`);
  if (flags.quiet !== true) {
    io.stderr.write(
      `Serving ${model} over ${api.name}; checkpoints are saved in ${folder}. Press Ctrl-C to stop.\n`,
    );
  }
  if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
  return exitCodes.done;
}
