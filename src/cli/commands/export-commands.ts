/** Flags and help of `agent-trainer export` and `import`; the commands are loaded on demand. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExportFormat } from "../export/formats.ts";
import type { CliIo } from "../terminal/io.ts";
import type { ExportFlags } from "./export.ts";
import type { ImportFlags, ImportFormat } from "./import.ts";
import type { MakeCommand } from "./model-commands.ts";

const formats: readonly ExportFormat[] = [
  "atif",
  "training-trace",
  "otel",
  "trackio",
  "chat",
  "pairs",
];

const help = `
Formats, each one JSON document per line:
  atif            Harbor's Agent Trajectory Interchange Format v1.8, a document per trajectory
  training-trace  OpenEnv's TrainingTrace, with token ids, log-probabilities and masks
  otel            OpenTelemetry's GenAI spans as OTLP JSON, a document per episode
  trackio         {step, key, trace}: Trackio's traces, for trackio.log({key: trace}, step=step)
  chat            {messages, tools} of correct episodes, or of those from --min-reward on, for SFT
  pairs           {prompt, chosen, rejected}: the best and the worst of each task of a step, for DPO
Episodes of validations are in all of them but chat and pairs, which are for learning.

Examples:
  $ agent-trainer export runs/shop --format atif --output shop.atif.jsonl
  $ agent-trainer export runs/shop --format training-trace --episode 3
  $ agent-trainer export evals/before --format chat --min-reward 0.8 --output good.jsonl
`;

const readFormats: readonly ImportFormat[] = ["atif", "otel", "training-trace"];

const importHelp = `
Formats, one document per line, or a .json file with one:
  atif            Harbor's Agent Trajectory Interchange Format v1; documents of one session_id are one episode
  otel            OpenTelemetry's GenAI spans as OTLP JSON, an episode per trace; what was said must be in them
  training-trace  OpenEnv's TrainingTrace
Conversations and pairs need no import: agent-trainer sft and dpo read them.

Examples:
  $ agent-trainer import jobs/*/trajectory.json --format atif --output evals/harbor
  $ agent-trainer import traces.jsonl --format training-trace --output evals/openenv
  $ agent-trainer view evals/harbor
`;

function reward(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number.");
}

export function addExportCommand(
  program: Command,
  version: string,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  command(program, "export", "write recorded rollouts in the formats of other programs")
    .argument("<folder>", "folder of a run or of an evaluation")
    .addOption(
      new Option("--format <name>", "format to write").choices(formats).makeOptionMandatory(),
    )
    .option("--episode <id>", "only this episode: its id, or its number in the list of show")
    .option("--output <file>", "file to write (default: standard output)")
    .option("--min-reward <n>", "for chat: the smallest reward of a conversation", reward)
    .addHelpText("after", help)
    .action(async (folder: string, flags: ExportFlags) => {
      const { exportCommand } = await import("./export.ts");
      onExit(await exportCommand(folder, flags, version, io));
    });
  command(program, "import", "read what other programs recorded, to look at it here")
    .argument("<files...>", "files of documents")
    .addOption(
      new Option("--format <name>", "format of the files")
        .choices(readFormats)
        .makeOptionMandatory(),
    )
    .requiredOption("--output <folder>", "folder to create, as that of an evaluation")
    .addHelpText("after", importHelp)
    .action(async (files: string[], flags: ImportFlags) => {
      const { importCommand } = await import("./import.ts");
      onExit(importCommand(files, flags, io));
    });
}
