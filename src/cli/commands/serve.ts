/** `agent-trainer serve`: trained models at plain /v1, or the engine over the Tinker API. */
import { ConfigError } from "../../core/errors.ts";
import { precisionOptions } from "../../core/precision.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { type ModelFlags, serveModels } from "../serve/models.ts";
import { serveTrainingApi } from "../serve/training-api.ts";
import { portNumber, wholeNumber } from "../terminal/flag-values.ts";

const help = `
Examples:
  $ agent-trainer serve runs/shop
  $ agent-trainer serve runs/shop/best --port 8000 --key secret
  $ agent-trainer serve runs/shop --follow
  $ agent-trainer serve runs/shop/best --store production
  $ agent-trainer serve shop=runs/shop/best base=builtin:shop-tiny --host 0.0.0.0 --key secret

Then use any client of OpenAI or Anthropic; requests name the model as GET /v1/models lists it:
  $ curl http://127.0.0.1:8100/v1/chat/completions -H "Content-Type: application/json" \\
      -d '{"model": "shop", "messages": [{"role": "user", "content": "Hello"}]}'

The Tinker API, for its official client:
  $ agent-trainer serve --tinker
  $ agent-trainer serve --tinker --model ./Qwen3-0.6B --port 8100 --folder checkpoints
  $ TINKER_BASE_URL=http://127.0.0.1:8100 TINKER_API_KEY=tml-... python train.py

To capture the calls of agents token by token, see agent-trainer gateway --help.
`;

/** @throws ConfigError for flags that have no effect on the Tinker API. */
function refuseOfModels({ follow, store }: ModelFlags): void {
  const found = Object.entries({ follow, store }).find(([, value]) => value !== undefined)?.[0];
  if (found === undefined) return;
  throw new ConfigError({
    message: `--${found} has no effect on the Tinker API.`,
    hint: "Leave it out.",
  });
}

/** @param flags of the Tinker API alone, by their names */
function refuseOfApi(flags: Readonly<Record<string, unknown>>): void {
  const found = Object.entries(flags).find(([, value]) => value !== undefined);
  if (found === undefined) return;
  const isModel = found[0] === "model" || found[0] === "name";
  throw new ConfigError({
    message: `--${found[0]} belongs to the Tinker API, but --tinker is not given.`,
    hint: isModel
      ? "Name models without a flag: agent-trainer serve [NAME=]MODEL ..."
      : `Leave out --${found[0]}, or add --tinker.`,
  });
}

/** @throws ConfigError when both names have a value. */
function tokenOf(token: string | undefined, key: string | undefined): string | undefined {
  if (token !== undefined && key !== undefined && token !== key)
    throw new ConfigError({
      message: "--key and --token are two names of one option, but have different values.",
      hint: "Leave one of them out.",
    });
  return token ?? key;
}

/** Resolves once the server has stopped. */
export const command: CliCommand = defineCommand({
  flags: (serve) =>
    serve
      .argument(
        "[models...]",
        "runs, checkpoints or models, each as MODEL or NAME=MODEL; RUN/best is the best checkpoint",
      )
      .option("--follow", "serve newer checkpoints of the runs as they are saved")
      .option(
        "--store <folder>",
        "keep every call in this folder, with its version, and what is sent to POST /feedback",
      )
      .option(
        "--host <address>",
        "address to listen on; others than 127.0.0.1 need a key",
        "127.0.0.1",
      )
      .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 8100)
      .option(
        "--key <key>",
        "API key that clients must send; without one, only programs of this machine are served [env: AGENT_TRAINER_SERVE_KEY]",
      )
      .option(
        "--threads <n>",
        "CPU threads per operation (default: half of the CPUs, at least 2)",
        wholeNumber(1),
      )
      .addOption(
        new Option(
          "--precision <name>",
          "what matrix products are computed in (default: auto, or that of the run; auto is bf16 where the processor has instructions for it, else f32)",
        ).choices(precisionOptions),
      )
      .option("--tinker", "serve the Tinker API instead: training, sampling, checkpoints")
      .option(
        "--model <model>",
        "with --tinker: folder, .gguf file or built-in model (default: builtin:shop-tiny)",
      )
      .option(
        "--name <name>",
        "with --tinker: model name that clients use (default: derived from --model)",
      )
      .option(
        "--folder <folder>",
        "with --tinker: folder for training runs and checkpoints (default: tinker-runs)",
      )
      .option(
        "--token <token>",
        "another name of --key; with --tinker it is generated and printed when not set [env: TINKER_API_KEY]",
      )
      .option(
        "--max-models <n>",
        "with --tinker: maximum number of models loaded at once (default: 32)",
        wholeNumber(1),
      )
      .option(
        "--max-body-mib <n>",
        "with --tinker: maximum request body in MiB (default: 64)",
        wholeNumber(1),
      ),
  help,
  run([models], { key, ...flags }, io) {
    const isApi = flags.tinker === true;
    const [model] = models;
    if (!isApi) {
      if (model === undefined) {
        throw new ConfigError({
          message: "serve needs to know what to serve.",
          hint: "A trained model: agent-trainer serve runs/NAME. The Tinker API: agent-trainer serve --tinker. To capture the calls of agents: agent-trainer gateway",
        });
      }
      const { folder, maxModels, maxBodyMib, name } = flags;
      const ofApi = { "max-models": maxModels, "max-body-mib": maxBodyMib };
      refuseOfApi({ folder, ...ofApi, model: flags.model, name });
      return serveModels(models, { ...flags, token: tokenOf(flags.token, key) }, io);
    }
    refuseOfModels(flags);
    if (model !== undefined) {
      throw new ConfigError({
        message: `Over the Tinker API one base model is served, which --model names, so ${models.join(" ")} has no effect.`,
        hint: `Run: agent-trainer serve --tinker --model ${model}`,
      });
    }
    return serveTrainingApi({ ...flags, token: tokenOf(flags.token, key) }, io);
  },
});
