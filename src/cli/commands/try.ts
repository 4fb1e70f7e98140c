/** `agent-trainer try`: the agent on one task, with everything that was sent, sampled, called and scored. */
import { folderOf, loadConfig } from "../../config/load.ts";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { evaluate } from "../../launch/evaluate/evaluate.ts";
import { loadTasks } from "../../launch/run-datasets.ts";
import { toLine } from "../../runs/json-lines.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { formatEpisodeReport } from "../report/episode-report.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { createItemProgress } from "../terminal/item-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { type EndpointFlags, evaluatedModel, flagOverrides } from "./evaluated-model.ts";

export interface TryFlags extends EndpointFlags {
  /** Number from 1, or id. */
  readonly task?: string;
  readonly json?: boolean;
  readonly seed?: number;
  readonly verbose?: boolean;
}

/** Of the training data, else of the validation data. */
async function findTask(config: TrainConfig, wanted = "1"): Promise<Task> {
  const { train, val } = config.dataset;
  const [spec, option] = train === null ? [val, "dataset.val"] : [train, "dataset.train"];
  if (spec === null) {
    throw new ConfigError({
      message: "There is no task to try: neither dataset.train nor dataset.val is set.",
      hint: "Set one of them in the configuration.",
      fields: { option },
    });
  }
  const { trainTasks, valTasks } = await loadTasks(config, folderOf(config), {});
  const tasks = train === null ? valTasks : [...trainTasks];
  const found = tasks.find(({ id }) => id === wanted) ?? tasks[Number(wanted) - 1];
  if (found !== undefined) return found;
  const nearest = nearestName(
    wanted,
    tasks.map(({ id }) => id),
  );
  throw new ConfigError({
    message: `${option} has no task ${JSON.stringify(wanted)}: it has ${tasks.length} tasks.`,
    hint:
      nearest === undefined
        ? "Give --task the id of a task, or its number from 1."
        : `Did you mean ${nearest}?`,
    fields: { wanted, tasks: tasks.length },
  });
}

/** Runs the command; resolves with the exit status. */
export async function tryCommand(
  positional: readonly string[],
  flags: TryFlags,
  io: CliIo,
): Promise<number> {
  const [file, ...given] = positional as [string, ...string[]];
  const model = evaluatedModel(flags);
  const { config } = loadConfig({ file, overrides: [...flagOverrides(flags), ...given] });
  const task = await findTask(config, flags.task);
  const progress = createItemProgress({ stream: io.stderr, isQuiet: true });
  using late = createLateErrors(io.stderr);
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping. Press Ctrl-C again to quit immediately.\n");
  });
  const episodes: Episode[] = [];
  const running = evaluate({
    config,
    dataset: [task],
    n: 1,
    ...(model === undefined ? {} : { model }),
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    signal: interrupt.signal,
    onEpisode: (episode) => episodes.push(episode),
    onWarning: (message) => progress.onWarning(message),
    onPull: createPullProgress(io.stderr),
  }).finally(() => late.watch());
  try {
    const { status } = await running;
    if (status === "interrupted") return exitCodes.interrupted;
  } catch (error) {
    // A rollout that failed is shown with its error.
    const isShown = AgentTrainerError.isInstance(error) && error.code === "TOO_MANY_FAILURES";
    if (!isShown || episodes.length === 0) throw error;
  }
  const [episode] = episodes;
  if (episode === undefined) return exitCodes.failed;
  io.stdout.write(
    flags.json === true
      ? toLine(episode)
      : formatEpisodeReport(episode, colorsFor(io.stdout), flags.verbose === true),
  );
  return episode.error === undefined ? exitCodes.done : exitCodes.failed;
}
