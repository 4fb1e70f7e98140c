/** `agent-trainer import`: what other programs recorded, as a folder that view, show and export read. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { ConfigError } from "../../core/errors.ts";
import { readLines } from "../../datasets/files/json-lines-file.ts";
import { openEvaluationFolder } from "../../runs/evaluations/evaluation-folder.ts";
import { itemOf } from "../../runs/evaluations/evaluation-item.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { type DraftedTrajectory, episodesOfDrafts } from "../import/drafted-episode.ts";
import { atifReader } from "../import/read-atif.ts";
import { readOtel } from "../import/read-otel.ts";
import { readTrainingTrace } from "../import/read-training-trace.ts";
import { exitCodes } from "../terminal/exit-codes.ts";

const help = `
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

const formats = ["atif", "otel", "training-trace"] as const;

type Reader = (value: unknown, at: string) => readonly DraftedTrajectory[];

/** One for each import: what its documents become is counted together. */
const readers: Readonly<Record<(typeof formats)[number], () => Reader>> = {
  atif: () => {
    const read = atifReader();
    return (value, at) => [read(value, at)];
  },
  otel: () => readOtel,
  "training-trace": () => (value, at) => [readTrainingTrace(value, at)],
};

function parsed(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConfigError({
      message: `${at} is not valid JSON.`,
      hint: "A file ends in .json and holds one document, or has one in each line.",
      cause,
      fields: { at },
    });
  }
}

/** One document of a `.json` file, or one per line. */
function* documents(file: string): Generator<readonly [value: unknown, at: string]> {
  if (file.endsWith(".json")) {
    yield [parsed(readFileSync(file, "utf8"), file), file];
    return;
  }
  for (const { text, number } of readLines(file)) {
    const at = `${file}:${number}`;
    if (text.trim() !== "") yield [parsed(text, at), at];
  }
}

function draftsOf(
  value: unknown,
  at: string,
  { read, format }: { readonly read: Reader; readonly format: string },
): readonly DraftedTrajectory[] {
  try {
    return read(value, at);
  } catch (error) {
    const [first] = error instanceof z.ZodError ? error.issues : [];
    const isDeep = error instanceof RangeError;
    if (first === undefined && !isDeep && !(error instanceof SyntaxError)) throw error;
    const reason = isDeep
      ? "its values are nested too deeply"
      : first === undefined
        ? String(error)
        : `${first.path.join(".")}: ${first.message}`;
    throw new ConfigError({
      message: `${at} is no document of the format ${format}: ${reason}.`,
      hint: "Name the format that the file has with --format.",
      cause: error,
      fields: { at, format },
    });
  }
}

/** @throws ConfigError for what is not of the format, or a folder in use. */
export const command: CliCommand = defineCommand({
  flags: (imported) =>
    imported
      .argument("<files...>", "files of documents")
      .addOption(
        new Option("--format <name>", "format of the files").choices(formats).makeOptionMandatory(),
      )
      .requiredOption("--output <folder>", "folder to create, as that of an evaluation"),
  help,
  run([files], { format, output, json, quiet }, io) {
    const how = { read: readers[format](), format };
    const drafts = files.flatMap((file) =>
      [...documents(file)].flatMap(([value, at]) => draftsOf(value, at, how)),
    );
    const episodes = episodesOfDrafts(drafts);
    const tasks = new Set(episodes.map(({ task }) => task.id));
    const settings = {
      model: drafts.flatMap(({ calls }) => calls.map(({ model }) => model))[0] ?? "",
      n: episodes.reduce((most, { rolloutIndex }) => Math.max(most, rolloutIndex + 1), 1),
      seed: 0,
      sampling: {},
      failureReward: 0,
      solvedReward: null,
      tasks: tasks.size,
      dataHash: createHash("sha256")
        .update(JSON.stringify([...tasks]))
        .digest("hex"),
    };
    using folder = openEvaluationFolder(output, settings, false);
    for (const episode of episodes) folder.add(itemOf(episode, 0), episode);
    const result = { format, output, trajectories: drafts.length, episodes: episodes.length };
    if (json === true) io.stdout.write(`${JSON.stringify(result)}\n`);
    else if (quiet !== true)
      io.stdout.write(
        `${output}: ${episodes.length} episodes of ${tasks.size} tasks. To look at them: agent-trainer view ${output}\n`,
      );
    return exitCodes.done;
  },
});
