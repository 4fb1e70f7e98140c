/** `agent-trainer serve`: the embedded engine over the Tinker API, or that of Fireworks, until interrupted. */
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

export interface ServeFlags {
  readonly tinker?: boolean;
  readonly fireworks?: boolean;
  readonly model: string;
  readonly name?: string;
  readonly folder?: string;
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  /** Another name of `token`. */
  readonly key?: string;
  readonly threads?: number;
  readonly maxModels?: number;
  readonly maxBodyMib?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

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

/** @throws ConfigError unless it is one. */
function apiOf({ tinker, fireworks }: ServeFlags): Api {
  if (tinker === true && fireworks === true)
    throw new ConfigError({
      message: "serve has one API at a time, but --tinker and --fireworks are both given.",
      hint: "Start two servers, with different ports and folders.",
    });
  if (tinker === true) return tinkerApi;
  if (fireworks === true) return fireworksApi;
  throw new ConfigError({
    message: "serve needs to know which API to serve.",
    hint: "Run: agent-trainer serve --tinker [--model FOLDER], or agent-trainer serve --fireworks [--model FOLDER]",
  });
}

/** @throws ConfigError when both names have a value. */
function tokenOf({ token, key }: ServeFlags): string | undefined {
  if (token !== undefined && key !== undefined && token !== key)
    throw new ConfigError({
      message: "--key and --token are two names of one option, but have different values.",
      hint: "Leave one of them out.",
    });
  return token ?? key;
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
export async function serveCommand(flags: ServeFlags, io: CliIo): Promise<number> {
  const api = apiOf(flags);
  const chosen = tokenOf(flags) ?? process.env[api.tokenVariable] ?? "";
  const folder = flags.folder ?? api.folder;
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping; checkpoints are kept. Press Ctrl-C again to quit immediately.\n");
  });
  const { path, name } = await findModel(flags.model);
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
