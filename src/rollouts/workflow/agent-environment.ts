/** The interfaces of an agent and of the environment that it acts in, and how instances are created. */
import { AgentTrainerError } from "../../core/errors.ts";
import { describeValue } from "../failures/error-facts.ts";
import type { ModelCallOptions, ModelOutput, WireMessage } from "./model-call.ts";

type Info = Readonly<Record<string, unknown>>;

/**
 * Turns observations into messages, and responses into actions. One instance is used for one rollout.
 *
 * @typeParam Observation What the environment returns to the agent.
 * @typeParam Action What the agent passes to `env.step`.
 */
export interface Agent<Observation = unknown, Action = unknown> {
  /** The conversation so far, in OpenAI's wire format: the messages of the next call. */
  readonly chatCompletions: readonly WireMessage[];
  /** Fields of each call other than model and messages, such as `tools`. */
  readonly callOptions?: ModelCallOptions;
  /** Called first with the observation of `reset`, then with that of each `step`. */
  updateFromEnv(
    observation: Observation,
    reward: number,
    done: boolean,
    info: Info,
  ): void | Promise<void>;
  /**
   * Decides what to do about the response; the result becomes the step's `action` and is passed to
   * `env.step`.
   */
  updateFromModel(text: string, output: ModelOutput): Action | Promise<Action>;
}

/** How a rollout begins. */
export interface EnvironmentStart<Observation = unknown> {
  readonly observation: Observation;
  readonly info?: Info;
}

/** What an environment returns for an action. */
export interface EnvironmentStep<Observation = unknown> extends EnvironmentStart<Observation> {
  /** Reward of the action; the rollout's is the sum. */
  readonly reward: number;
  /** Whether the environment has ended. */
  readonly done: boolean;
}

/**
 * The environment that the agent acts in. One instance is used for one rollout.
 *
 * @typeParam Observation What the environment returns to the agent.
 * @typeParam Action What the agent passes to `step`.
 */
export interface Environment<Observation = unknown, Action = unknown> {
  reset(): EnvironmentStart<Observation> | Promise<EnvironmentStart<Observation>>;
  step(action: Action): EnvironmentStep<Observation> | Promise<EnvironmentStep<Observation>>;
  /** Always called at the end, also after errors. */
  close?(): unknown;
}

/**
 * A class, a class with a static `fromDict`, or an arrow function. Each receives one object of
 * arguments; only the last two may be async.
 */
export type Maker<Made> =
  | (new (args: never) => Made)
  | { fromDict(args: never): Made | Promise<Made> }
  | ((args: never) => Made | Promise<Made>);

/** Creates an agent or an environment. */
export async function make<Made>(maker: Maker<Made>, args: object): Promise<Made> {
  if ("fromDict" in maker && typeof maker.fromDict === "function") {
    return await maker.fromDict(args as never);
  }
  // Arrow functions have no prototype; nothing else distinguishes them from a class.
  return isArrow(maker)
    ? await maker(args as never)
    : new (maker as new (args: never) => Made)(args as never);
}

function isArrow<Made>(maker: Maker<Made>): maker is (args: never) => Made | Promise<Made> {
  return typeof maker === "function" && (maker as { prototype?: unknown }).prototype === undefined;
}

/** @throws AgentTrainerError (`ROLLOUT_FAILED`) when an environment did not return a step. */
export function checkStep(returned: unknown): EnvironmentStep {
  const { reward, done } = (returned ?? {}) as {
    readonly reward?: unknown;
    readonly done?: unknown;
  };
  if (Number.isFinite(reward) && typeof done === "boolean") return returned as EnvironmentStep;
  throw new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `env.step returned ${describeValue(returned)}, which has no finite reward or no done.`,
    hint: "Return { observation, reward, done, info? }.",
  });
}
