/** The loop of an agent in an environment, with a limit on turns. */
import type { Task } from "../../core/task.ts";
import { TerminationEvent } from "../../core/termination.ts";
import { checkStep, make, type Agent, type Environment, type Maker } from "./agent-environment.ts";
import type { ModelCallOptions, ModelOutput } from "./model-call.ts";
import { Workflow } from "./workflow.ts";

/** The classes of an agent and of its environment, with their arguments. */
export interface AgentEnvironmentArgs {
  /** Class of the agent. */
  readonly agentClass: Maker<Agent>;
  /** Class of the environment; it receives the task's metadata and `envArgs`. */
  readonly envClass: Maker<Environment>;
  /** Arguments of the agent. @default {} */
  readonly agentArgs?: object;
  /** Arguments of the environment, in addition to the task's metadata. @default {} */
  readonly envArgs?: object;
}

/** Arguments of a `MultiTurnWorkflow`. */
export interface MultiTurnArgs extends AgentEnvironmentArgs {
  /** Maximum number of model calls. @default 5 */
  readonly maxSteps?: number;
}

/**
 * Resets the environment, then lets the agent act until it is done. Ends with `env_done`,
 * `max_response_length_exceeded` (a response was truncated) or `max_turns_exceeded`.
 */
export class MultiTurnWorkflow<
  Args extends MultiTurnArgs = MultiTurnArgs,
  Metadata = Record<string, unknown>,
> extends Workflow<Args, Metadata> {
  protected get maxSteps(): number {
    return this.args.maxSteps ?? 5;
  }

  /** Fields of the next call; may end the rollout. */
  protected limits(_last: ModelOutput | null, _first: ModelOutput | null): ModelCallOptions {
    return {};
  }

  async run(task: Task<Metadata>): Promise<never> {
    const { agentClass, envClass, agentArgs = {}, envArgs = {} } = this.args;
    const env = await make(envClass, { ...(task.metadata as object), ...envArgs });
    this.onEnd(() => env.close?.());
    const agent = await make(agentClass, agentArgs);
    const { observation, info = {} } = await env.reset();
    await agent.updateFromEnv(observation, 0, false, info);
    const turns = this.trajectory();
    let first: ModelOutput | null = null;
    let last: ModelOutput | null = null;
    // Turns depend on each other.
    /* oxlint-disable no-await-in-loop */
    while (turns.length < this.maxSteps) {
      const options = { ...agent.callOptions, ...this.limits(last, first) };
      last = await turns.call(agent.chatCompletions, options);
      first ??= last;
      const action = await agent.updateFromModel(last.content, last);
      const next = checkStep(await env.step(action));
      turns.mark({ action, reward: next.reward, done: next.done });
      await agent.updateFromEnv(next.observation, next.reward, next.done, next.info ?? {});
      if (last.finishReason === "length") {
        throw new TerminationEvent("max_response_length_exceeded");
      }
      if (next.done) throw new TerminationEvent("env_done");
    }
    /* oxlint-enable no-await-in-loop */
    throw new TerminationEvent("max_turns_exceeded");
  }
}

/** One model call and one step of the environment. */
export class SingleTurnWorkflow<Metadata = Record<string, unknown>> extends MultiTurnWorkflow<
  AgentEnvironmentArgs,
  Metadata
> {
  protected override get maxSteps(): number {
    return 1;
  }
}
