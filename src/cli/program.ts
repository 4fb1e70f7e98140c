/** The command line: commands, flags and help. What a command does is in `commands/`. */
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { demoCommand, type DemoFlags } from "./commands/demo.ts";
import { adminTokenVariable, gatewayCommand, type GatewayFlags } from "./commands/gateway.ts";
import { workerKeyVariable } from "./commands/gateway-source.ts";
import type { DoctorFlags } from "./commands/doctor.ts";
import { addModelCommands } from "./commands/model-commands.ts";
import { serveCommand, serveTokenVariable, type ServeFlags } from "./commands/serve.ts";
import { addVerlCommands } from "./commands/verl-commands.ts";
import { trainCommand, type TrainFlags } from "./commands/train.ts";
import { exitCodeOf, exitCodes } from "./terminal/exit-codes.ts";
import type { CliIo } from "./terminal/io.ts";
import { formatConfigHelp } from "./report/option-help.ts";
import { formatError } from "./terminal/report-error.ts";
import { colorsFor } from "./terminal/terminal.ts";

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/u.test(text) && value >= least && value < 2 ** 32) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };
}

function learningRate(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1.");
}

const trainHelp = `
Examples:
  $ agent-trainer train shop.yaml
  $ agent-trainer train shop.yaml data.train_batch_size=8 training.learning_rate=3e-4
  $ agent-trainer train shop.yaml --dry-run
  $ agent-trainer train --explain algorithm.kl_beta
  $ agent-trainer train shop.yaml --resume runs/shop

Overrides: key=value sets an option, ~key takes it back to its default; values are YAML.
`;

const demoHelp = `
Examples:
  $ agent-trainer demo
  $ agent-trainer demo --steps 5 --seed 1
  $ agent-trainer demo --json --quiet
`;

const gatewayHelp = `
Examples:
  $ agent-trainer gateway --worker http://localhost:8000/v1 --store traces.sqlite
  $ agent-trainer gateway --worker http://a:8000 --worker http://b:8000 --tokenizer ./Qwen3-4B
  $ agent-trainer gateway --builtin builtin:shop-tiny --store memory --port 0

A key for the workers is read from ${workerKeyVariable}.

An agent gets the URL and the key of a session of its own, and needs no change:
  $ curl -X POST http://127.0.0.1:9090/sessions -H "Authorization: Bearer $ADMIN_TOKEN" -d '{}'
`;

const serveHelp = `
Examples:
  $ agent-trainer serve --tinker
  $ agent-trainer serve --tinker --model ./Qwen3-0.6B --port 8100 --folder checkpoints

Then, with the official client:
  $ TINKER_BASE_URL=http://127.0.0.1:8100 TINKER_API_KEY=tml-... python train.py
`;

function portNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/u.test(text) && value < 2 ** 16) return value;
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** The flags that every command has. */
function command(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("--json", "print one JSON object as the last line of stdout")
    .option("--quiet", "show only warnings while it runs")
    .option("--verbose", "show stacks of errors");
}

function buildProgram(io: CliIo, onExit: (code: number) => void): Command {
  const program = new Command("agent-trainer")
    .description("Reinforcement learning for the agents that TypeScript people already have.")
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .showHelpAfterError("Run agent-trainer --help to see what there is.")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer demo\n  $ agent-trainer train CONFIG.yaml --dry-run\n",
    );
  command(program, "train", "train an agent as a YAML file describes it")
    .argument("[config]", "the YAML file")
    .argument("[overrides...]", "key=value, over what the file says")
    .option("--resume [runDir]", "go on with a run; without a folder, with the latest one")
    .option(
      "--allow-changes",
      "resume with other options that decide what the run computes, and record them",
    )
    .option("--dry-run", "print the resolved options and where each came from, then stop")
    .option("--explain <key>", "tell what an option means and which backends honour it, then stop")
    .option("--seed <n>", "trainer.seed", wholeNumber(0))
    .addHelpText("after", () => `${trainHelp}\n${formatConfigHelp()}`)
    .action(async (config: string | undefined, overrides: string[], flags: TrainFlags) => {
      const positional = config === undefined ? [] : [config, ...overrides];
      onExit(await trainCommand(positional, flags, io));
    });
  command(program, "demo", "train the built-in shop agent, with a sample before and after")
    .option("--seed <n>", "seed of the run", wholeNumber(0))
    .option("--steps <n>", "optimizer steps", wholeNumber(1))
    .option("--lr <rate>", "learning rate; 0 is the control", learningRate)
    .option("--resume [runDir]", "go on with an interrupted demo")
    .addHelpText("after", demoHelp)
    .action(async (flags: DemoFlags) => {
      onExit(await demoCommand(flags, io));
    });
  command(program, "gateway", "capture every call of any agent, token by token")
    .option("--worker <url>", "inference server that answers; may be given again", collect)
    .addOption(
      new Option("--kind <kind>", "what the workers are")
        .choices(["auto", "vllm", "sglang", "llamacpp", "openai"])
        .default(undefined, "auto, which asks them"),
    )
    .option(
      "--tokenizer <path>",
      "folder or .gguf file of the workers' model; then prompts are sent as token ids",
    )
    .option("--builtin <model>", "answer from a model in this process")
    .option("--store <file>", 'SQLite file of the traces, or "memory"', "traces.sqlite")
    .addOption(
      new Option("--store-sync <mode>", "full survives a power cut; normal a crash, and is faster")
        .choices(["full", "normal"])
        .default("full"),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <n>", "port to listen on; 0 takes a free one", portNumber, 9090)
    .option("--admin-token <token>", `opens the admin routes [env: ${adminTokenVariable}]`)
    .option("--open", "ask for no tokens; only on this machine, for clients that cannot send one")
    .option("--model <name>", "name of the model that answers carry")
    .option("--session-idle <s>", "forget sessions without a call for so long", wholeNumber(1))
    .addHelpText("after", gatewayHelp)
    .action(async (flags: GatewayFlags) => {
      onExit(await gatewayCommand(flags, io));
    });
  addModelCommands(program, io, onExit, command);
  addVerlCommands(program, io, onExit, command);
  command(program, "doctor", "what this machine has, what works, and what to do about the rest")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer doctor\n  $ agent-trainer doctor --json\n",
    )
    .action(async (flags: DoctorFlags) => {
      const { doctorCommand } = await import("./commands/doctor.ts");
      onExit(await doctorCommand(flags, io));
    });
  command(program, "serve", "offer the embedded engine to programs of others")
    .option("--tinker", "over the Tinker API: training, sampling, checkpoints")
    .option("--model <model>", "folder, .gguf file or built-in model", "builtin:shop-tiny")
    .option("--name <name>", "what clients call the model")
    .option("--folder <folder>", "training runs and checkpoints", "tinker-runs")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <n>", "port to listen on; 0 takes a free one", portNumber, 8100)
    .option("--token <token>", `what clients must send [env: ${serveTokenVariable}]`)
    .option("--threads <n>", "threads inside one operation", wholeNumber(1))
    .option("--max-models <n>", "models loaded at the same time (default: 32)", wholeNumber(1))
    .option("--max-body-mib <n>", "largest request in MiB (default: 64)", wholeNumber(1))
    .addHelpText("after", serveHelp)
    .action(async (flags: ServeFlags) => {
      onExit(await serveCommand(flags, io));
    });
  return program;
}

/** Runs the command line; resolves with the exit status and never rejects. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  let code: number = exitCodes.done;
  const program = buildProgram(io, (status) => (code = status));
  if (args.length === 0) {
    io.stdout.write(program.helpInformation());
    return exitCodes.usage;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    // Commander has already written its own text.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const isVerbose = args.includes("--verbose") || (process.env["DEBUG"] ?? "") !== "";
    io.stderr.write(formatError(error, colorsFor(io.stderr), isVerbose));
    return exitCodeOf(error);
  }
}
