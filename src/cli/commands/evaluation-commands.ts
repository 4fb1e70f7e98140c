/** Flags and help of `eval`, `compare`, `rescore`, `try` and `show`; the commands are loaded on demand. */
import type { Command } from "commander";
import { wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { CompareFlags } from "./compare.ts";
import type { EvalFlags } from "./eval.ts";
import { workerKeyVariable } from "./gateway-source.ts";
import type { MakeCommand } from "./model-commands.ts";
import type { RescoreFlags } from "./rescore.ts";
import type { ShowFlags } from "./show.ts";
import type { TryFlags } from "./try.ts";

const evalHelp = `
Examples:
  $ agent-trainer eval shop.yaml
  $ agent-trainer eval shop.yaml --model runs/shop --n 4
  $ agent-trainer eval shop.yaml --model runs/shop/checkpoints/000010 --json
  $ agent-trainer eval shop.yaml --model http://localhost:8000/v1 --limit 20
  $ agent-trainer eval shop.yaml --command "python agent.py"
  $ agent-trainer eval shop.yaml --model https://api.openai.com/v1 --model-name gpt-4o-mini --key-env OPENAI_API_KEY
  $ agent-trainer eval shop.yaml --model anthropic:https://api.anthropic.com/v1 --key-env ANTHROPIC_API_KEY
  $ agent-trainer eval shop.yaml --resume evals/2026-01-31T12-00-00-1a2b3c

Sampling options are those of rollout.val; overrides as for train: rollout.val.temperature=0.6
`;

const compareHelp = `
B is worse where the whole 95 % interval of the difference in reward is below 0. The interval is that of a
paired sign-flip test over the tasks that both evaluations have, at 5 %.

Examples:
  $ agent-trainer compare evals/before evals/after
  $ agent-trainer compare evals/main evals/branch --fail-if-worse
  $ agent-trainer compare evals/before evals/after --json
`;

const rescoreHelp = `
Examples:
  $ agent-trainer rescore runs/shop --evaluator stricter.ts#evaluator
  $ agent-trainer rescore evals/before --evaluator stricter.ts --output evals/before-stricter
`;

const tryHelp = `
Examples:
  $ agent-trainer try shop.yaml
  $ agent-trainer try shop.yaml --task 7
  $ agent-trainer try shop.yaml --command "python agent.py"
  $ agent-trainer try shop.yaml --task tea-and-milk --model http://localhost:8000/v1
  $ agent-trainer try shop.yaml --model runs/shop rollout.val.temperature=0
`;

const showHelp = `
Examples:
  $ agent-trainer show runs/shop
  $ agent-trainer show evals/before --failed
  $ agent-trainer show evals/before 12
  $ agent-trainer show runs/shop 3/tea-and-milk/0 --json
`;

function withModel(command: Command): Command {
  return command
    .option(
      "--model <model>",
      "URL of an OpenAI-compatible endpoint (of Anthropic's API: anthropic:URL), run folder, checkpoint, or model name (default: model.name)",
    )
    .option("--model-name <name>", "model as the endpoint names it (default: what it lists first)")
    .option(
      "--key-env <variable>",
      `environment variable with the key of the endpoint (default: ${workerKeyVariable})`,
    )
    .option("--command <command>", "command that is the agent; the same as agent_command.run=...");
}

export function addEvaluationCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  withModel(command(program, "eval", "evaluate an agent against any model, without training"))
    .argument("<config>", "YAML file with agent, evaluator and dataset, as for train")
    .argument("[overrides...]", "key=value pairs that override options of the file")
    .option("--n <n>", "attempts at each task (default: rollout.n_val)", wholeNumber(1))
    .option("--limit <n>", "evaluate the first n tasks only", wholeNumber(1))
    .option(
      "--concurrency <n>",
      "attempts running at the same time (default: workflow.n_parallel_tasks)",
      wholeNumber(1),
    )
    .option("--dataset <file>", "tasks to evaluate on (default: dataset.val)")
    .option("--output <folder>", "folder for the results (default: a new one in evals/)")
    .option("--resume <folder>", "resume the evaluation in this folder")
    .option("--seed <n>", "random seed (default: trainer.seed)", wholeNumber(0))
    .addHelpText("after", evalHelp)
    .action(async (config: string, overrides: string[], flags: EvalFlags) => {
      const { evalCommand } = await import("./eval.ts");
      onExit(await evalCommand([config, ...overrides], flags, io));
    });
  command(program, "compare", "compare two evaluations task by task")
    .argument("<a>", "folder of the first evaluation")
    .argument("<b>", "folder of the second evaluation")
    .option("--fail-if-worse", "exit with 1 if B is worse than A")
    .option("--seed <n>", "random seed of the test (default: 0)", wholeNumber(0))
    .addHelpText("after", compareHelp)
    .action(async (a: string, b: string, flags: CompareFlags) => {
      const { compareCommand } = await import("./compare.ts");
      onExit(compareCommand(a, b, flags, io));
    });
  command(program, "rescore", "score recorded episodes with another evaluator, without model calls")
    .argument("<folder>", "folder of a run or of an evaluation")
    .requiredOption("--evaluator <module>", "evaluator as path#export")
    .option("--output <folder>", "folder to record the new scores in, for compare")
    .addHelpText("after", rescoreHelp)
    .action(async (folder: string, flags: RescoreFlags) => {
      const { rescoreCommand } = await import("./rescore.ts");
      onExit(await rescoreCommand(folder, flags, io));
    });
  withModel(command(program, "try", "run the agent on one task, and show all that happened"))
    .argument("<config>", "YAML file with agent, evaluator and dataset, as for train")
    .argument("[overrides...]", "key=value pairs that override options of the file")
    .option("--task <id>", "id of the task in dataset.train, or its number (default: 1)")
    .option("--seed <n>", "random seed (default: trainer.seed)", wholeNumber(0))
    .addHelpText("after", tryHelp)
    .action(async (config: string, overrides: string[], flags: TryFlags) => {
      const { tryCommand } = await import("./try.ts");
      onExit(await tryCommand([config, ...overrides], flags, io));
    });
  command(program, "show", "list recorded rollouts of a run or an evaluation, or show one")
    .argument("<folder>", "folder of a run or of an evaluation")
    .argument("[episode]", "id of the episode, or its number in the list")
    .option("--failed", "list only those that failed or are incorrect")
    .addHelpText("after", showHelp)
    .action(async (folder: string, episode: string | undefined, flags: ShowFlags) => {
      const { showCommand } = await import("./show.ts");
      onExit(showCommand(folder, episode, flags, io));
    });
}
