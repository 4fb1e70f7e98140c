/** Flags and help of `agent-trainer serve`; the commands are loaded on demand. */
import { type Command, Option } from "commander";
import { precisionOptions } from "../../core/precision.ts";
import { portNumber, wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { MakeCommand } from "./model-commands.ts";
import type { ServeFlags } from "./serve-flags.ts";

const serveHelp = `
Examples:
  $ agent-trainer serve runs/shop
  $ agent-trainer serve runs/shop/best --port 8000 --key secret
  $ agent-trainer serve runs/shop --follow
  $ agent-trainer serve shop=runs/shop/best base=builtin:shop-tiny --host 0.0.0.0 --key secret

Then use any client of OpenAI or Anthropic; requests name the model as GET /v1/models lists it:
  $ curl http://127.0.0.1:8100/v1/chat/completions -H "Content-Type: application/json" \\
      -d '{"model": "shop", "messages": [{"role": "user", "content": "Hello"}]}'

Training APIs, for the official clients of Tinker and Fireworks:
  $ agent-trainer serve --tinker
  $ agent-trainer serve --tinker --model ./Qwen3-0.6B --port 8100 --folder checkpoints
  $ TINKER_BASE_URL=http://127.0.0.1:8100 TINKER_API_KEY=tml-... python train.py
  $ agent-trainer serve --fireworks --model ./Qwen3-0.6B --key fw_local

The client of Fireworks takes base_url="http://127.0.0.1:8100/training/v1/serverless", or:
  $ FIREWORKS_BASE_URL=http://127.0.0.1:8100 FIREWORKS_API_KEY=fw_... python train.py

To capture the calls of agents token by token, see agent-trainer gateway --help.
`;

export function addServeCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  command(program, "serve", "serve trained models to clients of OpenAI and Anthropic")
    .argument(
      "[models...]",
      "runs, checkpoints or models, each as MODEL or NAME=MODEL; RUN/best is the best checkpoint",
    )
    .option("--follow", "serve newer checkpoints of the runs as they are saved")
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
    .option("--fireworks", "serve the serverless training API of Fireworks instead")
    .option(
      "--model <model>",
      "with --tinker or --fireworks: folder, .gguf file or built-in model (default: builtin:shop-tiny)",
    )
    .option(
      "--name <name>",
      "with --tinker or --fireworks: model name that clients use (default: derived from --model)",
    )
    .option(
      "--folder <folder>",
      "with --tinker or --fireworks: folder for training runs and checkpoints (default: tinker-runs, or fireworks-runs)",
    )
    .option(
      "--token <token>",
      "another name of --key; with --tinker or --fireworks it is generated and printed when not set [env: TINKER_API_KEY, or FIREWORKS_API_KEY]",
    )
    .option(
      "--max-models <n>",
      "with --tinker or --fireworks: maximum number of models loaded at once (default: 32)",
      wholeNumber(1),
    )
    .option(
      "--max-body-mib <n>",
      "with --tinker or --fireworks: maximum request body in MiB (default: 64)",
      wholeNumber(1),
    )
    .addHelpText("after", serveHelp)
    .action(async (models: string[], flags: ServeFlags) => {
      const { serveCommand } = await import("./serve.ts");
      onExit(await serveCommand(models, flags, io));
    });
}
