/** The command line: commands, flags and help. The commands themselves are in `commands/`. */
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { addChatCommand } from "./commands/chat-commands.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addDatasetCommands } from "./commands/dataset-commands.ts";
import { demoCommand, type DemoFlags } from "./commands/demo.ts";
import { adminTokenVariable, gatewayCommand, type GatewayFlags } from "./commands/gateway.ts";
import { workerKeyVariable } from "./commands/gateway-source.ts";
import { addEnvCommands } from "./commands/env-commands.ts";
import { addEvaluationCommands } from "./commands/evaluation-commands.ts";
import { addExportCommand } from "./commands/export-commands.ts";
import { addFineTuneCommands } from "./commands/fine-tune-commands.ts";
import { addDoctorCommands } from "./commands/doctor-commands.ts";
import { addInitCommand } from "./commands/init-commands.ts";
import { addModelCommands } from "./commands/model-commands.ts";
import { addServeCommands } from "./commands/serve-commands.ts";
import { portNumber, wholeNumber } from "./terminal/flag-values.ts";
import { addRunsCommands } from "./commands/runs-commands.ts";
import { addVerlCommands } from "./commands/verl-commands.ts";
import { addViewCommands } from "./commands/view-commands.ts";
import { trainCommand, type TrainFlags } from "./commands/train.ts";
import { exitCodeOf, exitCodes } from "./terminal/exit-codes.ts";
import type { CliIo } from "./terminal/io.ts";
import { formatConfigHelp } from "./report/option-help.ts";
import { formatError } from "./terminal/report-error.ts";
import { safeIo } from "./terminal/safe-io.ts";
import { colorsFor } from "./terminal/terminal.ts";
import { wrapText } from "./terminal/wrap-text.ts";

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function learningRate(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1.");
}

const commandHelp = "command that is the agent; the same as agent_command.run=...";

const trainHelp = `
Examples:
  $ agent-trainer train shop.yaml
  $ agent-trainer train shop.yaml data.train_batch_size=8 training.learning_rate=3e-4
  $ agent-trainer train shop.yaml --dry-run
  $ agent-trainer train shop.yaml --command "python agent.py"
  $ agent-trainer train --explain algorithm.kl_beta
  $ agent-trainer train shop.yaml --resume runs/shop
  $ agent-trainer train --env ors:http://127.0.0.1:8080 model.name=./Qwen3-0.6B

Overrides: key=value sets an option, ~key resets it to its default. Values are YAML.
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

The API key for the workers is read from ${workerKeyVariable}.

Create a session, then point the agent at its URL and API key; the agent itself needs no change:
  $ curl -X POST http://127.0.0.1:9090/sessions -H "Authorization: Bearer $ADMIN_TOKEN" -d '{}'
`;

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** The flags that every command has. */
function command(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("--json", "print one JSON object as the last line of stdout")
    .option("--quiet", "print only warnings during the run")
    .option("--verbose", "print stack traces of errors");
}

function buildProgram(io: CliIo, onExit: (code: number) => void): Command {
  const program = new Command("agent-trainer")
    .description("Reinforcement learning for the agents you already have in TypeScript.")
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(wrapText(text, io.stdout.columns)),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      writeErr: (text) => void io.stderr.write(text),
    })
    .showHelpAfterError("Run agent-trainer --help to list commands and options.")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer demo\n  $ agent-trainer train CONFIG.yaml --dry-run\n",
    );
  addInitCommand(program, io, onExit, command);
  command(program, "train", "train the agent that a YAML file describes")
    .argument("[config]", "YAML file with the run's options")
    .argument("[overrides...]", "key=value pairs that override options of the file")
    .option(
      "--resume [runDir]",
      "resume the run in this folder; without a folder, resume the latest run",
    )
    .option(
      "--allow-changes",
      "with --resume: accept changed options that affect the results, and record the changes",
    )
    .option(
      "--env <name>",
      "environment that gives tasks, tools and rewards, as in ors:URL; the same as env=NAME, and the file may be omitted",
    )
    .option(
      "--dry-run",
      "print the resolved options and the source of each, look for the files they name, then exit",
    )
    .option("--explain <key>", "explain an option and list the backends that support it, then exit")
    .option("--seed <n>", "random seed of the run; the same as trainer.seed=n", wholeNumber(0))
    .option("--command <command>", commandHelp)
    .option(
      "--skip-bad-rows",
      "skip dataset rows that cannot be used; the same as dataset.skip_bad_rows=true",
    )
    .addHelpText("after", () => `${trainHelp}\n${formatConfigHelp(io.stdout.columns)}`)
    .action(async (config: string | undefined, overrides: string[], flags: TrainFlags) => {
      const positional = config === undefined ? [] : [config, ...overrides];
      onExit(await trainCommand(positional, flags, io));
    });
  addFineTuneCommands(program, io, onExit, command);
  addEvaluationCommands(program, io, onExit, command);
  command(
    program,
    "demo",
    "train the built-in shop agent, and show sample rollouts before and after",
  )
    .option("--seed <n>", "random seed of the run", wholeNumber(0))
    .option("--steps <n>", "number of optimizer steps", wholeNumber(1))
    .option(
      "--lr <rate>",
      "learning rate, 0 to 1; 0 learns nothing, for a control run",
      learningRate,
    )
    .option(
      "--resume [runDir]",
      "resume an interrupted demo; without a folder, resume the latest one",
    )
    .addHelpText("after", demoHelp)
    .action(async (flags: DemoFlags) => {
      onExit(await demoCommand(flags, io));
    });
  command(
    program,
    "gateway",
    "run a gateway that captures every model call of any agent, token by token",
  )
    .option("--worker <url>", "URL of an inference server; repeat the flag for several", collect)
    .addOption(
      new Option("--kind <kind>", "server software of the workers")
        .choices(["auto", "vllm", "sglang", "llamacpp", "openai", "anthropic"])
        .default(undefined, "auto: detected per worker"),
    )
    .option(
      "--tokenizer <path>",
      "folder or .gguf file of the workers' model; prompts are then sent as token ids",
    )
    .option("--builtin <model>", "serve this model from the embedded engine instead of workers")
    .option("--store <file>", 'SQLite file for the traces, or "memory"', "traces.sqlite")
    .addOption(
      new Option(
        "--store-sync <mode>",
        "SQLite durability: full survives a power loss; normal is faster and survives a crash of the process",
      )
        .choices(["full", "normal"])
        .default("full"),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 9090)
    .option(
      "--admin-token <token>",
      `token for the admin routes; generated and printed when not set [env: ${adminTokenVariable}]`,
    )
    .option("--open", "require no tokens; loopback only, for clients that cannot send one")
    .option(
      "--model <name>",
      "model name reported in responses (default: the name of the worker's or built-in model)",
    )
    .option(
      "--session-idle <s>",
      "close sessions without a call for this many seconds (default: never)",
      wholeNumber(1),
    )
    .addHelpText("after", gatewayHelp)
    .action(async (flags: GatewayFlags) => {
      onExit(await gatewayCommand(flags, io));
    });
  addModelCommands(program, io, onExit, command);
  addDatasetCommands(program, io, onExit, command);
  addRunsCommands(program, io, onExit, command);
  addEnvCommands(program, io, onExit, command);
  addExportCommand(program, version(), io, onExit, command);
  addVerlCommands(program, io, onExit, command);
  addDoctorCommands(program, io, onExit, command);
  addServeCommands(program, io, onExit, command);
  addChatCommand(program, io, onExit, command);
  addCompletionCommand(program, io);
  addViewCommands(program, io, onExit, command);
  return program;
}

/** Runs the command line; resolves with the exit status and never rejects. */
export async function runCli(args: readonly string[], streams: CliIo): Promise<number> {
  const io = safeIo(streams);
  let code: number = exitCodes.done;
  const program = buildProgram(io, (status) => (code = status));
  if (args.length === 0) {
    io.stdout.write(wrapText(program.helpInformation(), io.stdout.columns));
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
