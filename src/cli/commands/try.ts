/** `agent-trainer try`: the agent on one task, with everything that was sent, sampled, called and scored. */
import { folderOf, loadConfig } from "../../config/load.ts";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { evaluate } from "../../launch/evaluate/evaluate.ts";
import { loadTasks } from "../../launch/run-datasets.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { endpointHelp, evaluatedModel, flagOverrides } from "../load/evaluated-model.ts";
import { toLine } from "../../runs/json-lines.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";
import { formatEpisode } from "../report/conversation-text.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { createItemProgress } from "../terminal/item-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { colorsFor } from "../terminal/terminal.ts";

const help = `
Examples:
  $ agent-trainer try shop.yaml
  $ agent-trainer try shop.yaml --task 7
  $ agent-trainer try shop.yaml --command "python agent.py"
  $ agent-trainer try shop.yaml --task tea-and-milk --model http://localhost:8000/v1
  $ agent-trainer try shop.yaml --model runs/shop rollout.val.temperature=0
`;

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

export const command: CliCommand = defineCommand({
  flags: (trial) =>
    trial
      .option("--model <model>", endpointHelp.model)
      .option("--model-name <name>", endpointHelp.modelName)
      .option("--key-env <variable>", endpointHelp.keyEnv)
      .option("--command <command>", endpointHelp.command)
      .argument("<config>", "YAML file with agent, evaluator and dataset, as for train")
      .argument("[overrides...]", "key=value pairs that override options of the file")
      .option("--task <id>", "id of the task in dataset.train, or its number (default: 1)")
      .option("--seed <n>", "random seed (default: trainer.seed)", wholeNumber(0)),
  help,
  async run([file, overrides], { json = false, verbose = false, ...flags }, io) {
    const model = evaluatedModel(flags);
    const { config } = loadConfig({ file, overrides: [...flagOverrides(flags), ...overrides] });
    const task = await findTask(config, flags.task);
    const progress = createItemProgress({ stream: io.stderr, isQuiet: true });
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(io, "Stopping. Press Ctrl-C again to quit immediately.");
    const episodes: Episode[] = [];
    const running = evaluate({
      config,
      dataset: [task],
      n: 1,
      ...defined({ model, seed: flags.seed }),
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
      json
        ? toLine(episode)
        : formatEpisode(conversationOf(episode), colorsFor(io.stdout), verbose),
    );
    return episode.error === undefined ? exitCodes.done : exitCodes.failed;
  },
});
