/** An episode of a Harbor task: a shell as the tool, the task's own tests as the reward, step after step. */
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentTool,
  PromptMessage,
} from "../../core/environment.ts";
import { environmentError } from "../episode/environment-error.ts";
import type { CommandResult, Container } from "./container.ts";
import { readRewards, trialRewards, type Rewards } from "./rewards.ts";
import { type HarborStep, type HarborTask, resolveVariables } from "./task-folder.ts";

/** The tool that every task has. */
const bash: EnvironmentTool = {
  name: "bash",
  description:
    "Runs a command in a shell on the machine of the task and returns its output. Each call is a new shell in the working folder. When the task is done, respond without a tool call.",
  parameters: {
    type: "object",
    properties: { command: { type: "string", description: "The command." } },
    required: ["command"],
  },
};

/** Limits of an episode. */
export interface HarborLimits {
  /** Of one command of the model, in milliseconds. */
  readonly commandTimeoutMs: number;
  /** Of the tests, in milliseconds, where the task allows more. */
  readonly verifierTimeoutMs: number;
}

/** A task in its container. */
export class HarborEpisode implements EnvironmentEpisode {
  readonly prompt: readonly PromptMessage[];
  readonly tools: readonly EnvironmentTool[] = [bash];
  readonly #task: HarborTask;
  readonly #container: Container;
  readonly #limits: HarborLimits;
  readonly #scored: Rewards[] = [];
  #isClosed = false;

  private constructor(task: HarborTask, container: Container, limits: HarborLimits) {
    this.#task = task;
    this.#container = container;
    this.#limits = limits;
    this.prompt = [{ role: "user", content: task.steps[0]?.instruction ?? "" }];
  }

  /** Puts the files of the first step in their place. */
  static async begin(
    task: HarborTask,
    container: Container,
    limits: HarborLimits,
    signal: AbortSignal,
  ): Promise<HarborEpisode> {
    const episode = new HarborEpisode(task, container, limits);
    await episode.#enter(task.steps[0], signal);
    return episode;
  }

  async call(
    _tool: string,
    { command }: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<EnvironmentResult> {
    if (typeof command !== "string") return { text: '"command" must be a string.', isError: true };
    const timeoutMs = this.#limits.commandTimeoutMs;
    const result = await this.#container.exec({ command, timeoutMs, signal });
    return { text: textOf(result, timeoutMs) };
  }

  /** Ends the step: its tests run, and the next instruction follows where there is one. */
  async respond(_text: string, signal: AbortSignal): Promise<EnvironmentResult> {
    const { steps, config } = this.#task;
    const step = steps[this.#scored.length];
    if (step === undefined) return { text: "", done: true };
    const rewards = await this.#verify(step, signal);
    this.#scored.push(rewards);
    const isEnough = Object.entries(step.minReward).every(
      ([name, least]) => (rewards[name] ?? -Infinity) >= least,
    );
    const next = isEnough ? steps[this.#scored.length] : undefined;
    if (next !== undefined) {
      await this.#enter(next, signal);
      return { text: next.instruction, done: false };
    }
    const { reward, signals } = trialRewards(this.#scored, config.multi_step_reward_strategy);
    return { text: "", reward, signals, done: true };
  }

  /** Scores the step that the agent left unfinished. Later steps were not begun, and do not count. */
  async finish(signal: AbortSignal): Promise<EnvironmentResult> {
    const { steps } = this.#task;
    let result = await this.respond("", signal);
    if (result.done === true) return result;
    const { reward, signals } = trialRewards(
      this.#scored,
      this.#task.config.multi_step_reward_strategy,
    );
    this.#scored.length = steps.length;
    result = { text: "", reward, signals, done: true };
    return result;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#container.close().catch(() => {});
  }

  async #enter(step: HarborStep | undefined, signal: AbortSignal): Promise<void> {
    if (step?.files === null || step === undefined) return;
    await this.#container.copyIn(step.files, ".", signal);
    const setup = { command: "if [ -f setup.sh ]; then bash setup.sh; fi", user: "root", signal };
    const end = await this.#container.exec({ ...setup, timeoutMs: this.#limits.verifierTimeoutMs });
    if (end.exitCode === 0) return;
    throw environmentError(`setup.sh of the step "${step.name}" failed: ${end.output.slice(-500)}`);
  }

  /** As Harbor does it: old rewards are deleted, the tests are copied in, and test.sh runs. */
  async #verify(step: HarborStep, signal: AbortSignal): Promise<Rewards> {
    const { verifierTimeoutMs } = this.#limits;
    const { timeout_sec, env, user } = step.verifier;
    const timeoutMs = Math.min(timeout_sec * 1000, verifierTimeoutMs);
    const clean = "rm -rf -- /logs/verifier/reward.txt /logs/verifier/reward.json /tests/*";
    await this.#container.exec({ command: clean, user: "root", timeoutMs, signal });
    for (const folder of step.tests) {
      // Later folders are copied over earlier ones.
      // oxlint-disable-next-line no-await-in-loop
      await this.#container.copyIn(folder, "/tests", signal);
    }
    const variables = resolveVariables(env, this.#task.passEnv);
    const command = "chmod +x /tests/test.sh; /tests/test.sh";
    const run = { command, env: variables, user: user ?? "root", timeoutMs, signal };
    const { output, ended } = await this.#container.exec(run);
    const where = step.name === null ? "" : ` of the step "${step.name}"`;
    if (ended === "timeout") {
      throw environmentError(`The tests${where} did not end within ${timeoutMs} ms.`, {
        hint: "Raise environment.call_timeout_s, or the task's [verifier] timeout_sec.",
      });
    }
    const json = await this.#container.read("/logs/verifier/reward.json", signal);
    const text =
      json === null ? await this.#container.read("/logs/verifier/reward.txt", signal) : null;
    const rewards = readRewards(json, text);
    if (rewards !== null) return rewards;
    throw environmentError(
      `The tests${where} of ${this.#task.folder} wrote no reward: neither a number in /logs/verifier/reward.txt nor numbers in reward.json. They ended with: ${output.slice(-500)}`,
      { hint: "Run the tests with the task's solution to see what is missing." },
    );
  }
}

function textOf({ output, exitCode, ended }: CommandResult, timeoutMs: number): string {
  const end =
    ended === "timeout"
      ? `[ended after ${timeoutMs / 1000} s]`
      : ended === "output"
        ? "[ended: it wrote more than 1 MiB]"
        : exitCode === 0
          ? ""
          : `[exit code ${exitCode ?? "unknown"}]`;
  return [output.trimEnd(), end].filter((part) => part !== "").join("\n") || "[no output]";
}
