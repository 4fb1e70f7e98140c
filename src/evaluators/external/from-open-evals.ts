/** Evaluators of LangChain's `openevals` and `agentevals`: functions of inputs, outputs and reference outputs. */
import type { Task } from "../../core/task.ts";
import { wireMessage } from "../../core/wire-message.ts";
import { fieldOf, readText, type Scorer, type TextOptions, tooLong } from "../scorer.ts";
import { episodeMessages } from "../trajectory/read-trajectory.ts";
import { externalScore } from "./external-score.ts";

/**
 * An evaluator of `openevals` or `agentevals`, or a function of that form.
 *
 * @example
 * const isShort: OpenEvaluator = ({ outputs }) => ({ key: "short", score: String(outputs).length < 80 });
 */
export type OpenEvaluator = (args: {
  readonly inputs: unknown;
  readonly outputs: unknown;
  readonly referenceOutputs?: unknown;
  // Theirs take further fields, of any type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [name: string]: any;
  // What comes back is checked.
}) => unknown;

/**
 * Options of {@link fromOpenEvals}.
 *
 * @example
 * const options: FromOpenEvalsOptions<{ trajectory: object[] }> = {
 *   outputs: "messages",
 *   reference: (task) => task.metadata.trajectory,
 * };
 */
export interface FromOpenEvalsOptions<Metadata> extends TextOptions {
  /**
   * What the evaluator receives as `outputs`: the text of the response, as those of `openevals` do, or the
   * messages of the episode in OpenAI's format, as those of `agentevals` do. @default "text"
   */
  readonly outputs?: "text" | "messages";
  /**
   * What the evaluator receives as `referenceOutputs`.
   * @default the field `answer` of the row, or with messages `reference`; nothing where the row has none
   */
  readonly reference?: (task: Task<Metadata>) => unknown;
  /** Score from which on the episode is correct. @default 1 */
  readonly passScore?: number;
}

/**
 * An evaluator of one of LangChain's `openevals` or `agentevals`. `inputs` is the instruction; a truth value
 * counts as 1 or 0, and a comment becomes the reason. An evaluator that returns several scores is an error.
 *
 * @example
 * import { createTrajectoryMatchEvaluator } from "agentevals";
 * const evaluator = fromOpenEvals(createTrajectoryMatchEvaluator({ trajectoryMatchMode: "superset" }), {
 *   outputs: "messages",
 * });
 */
export function fromOpenEvals<Metadata = unknown>(
  evaluator: OpenEvaluator,
  options: FromOpenEvalsOptions<Metadata> = {},
): Scorer<Metadata> {
  const { outputs: kind = "text", reference, passScore = 1 } = options;
  const field = kind === "text" ? "answer" : "reference";
  return async (task, episode) => {
    const outputs =
      kind === "text" ? readText(episode, options) : episodeMessages(episode).map(wireMessage);
    if (outputs === null) return tooLong();
    const expected = reference === undefined ? fieldOf(task, field) : reference(task);
    const given = expected === undefined ? {} : { referenceOutputs: expected };
    const result = await evaluator({ inputs: task.instruction, outputs, ...given });
    return externalScore(result, task, passScore);
  };
}
