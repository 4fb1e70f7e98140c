/** Whether a text follows instructions that can be verified, such as "at least 300 words". */
import type { Task } from "../../core/task.ts";
import {
  type SyncScorer,
  type TextOptions,
  evaluatorError,
  fieldOf,
  readText,
  scored,
  tooLong,
} from "../scorer.ts";
import {
  type InstructionArguments,
  ArgumentProblem,
  follows,
  instructionIds,
} from "./instruction-rules.ts";

/**
 * One instruction with its arguments, both named as in IFEval.
 *
 * @example
 * const instruction: Instruction = {
 *   id: "length_constraints:number_words",
 *   args: { relation: "at least", num_words: 300 },
 * };
 */
export interface Instruction {
  readonly id: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/**
 * Options of {@link instructionFollowing}.
 *
 * @example
 * const options: InstructionFollowingOptions<Record<string, unknown>> = { loose: true, partial: true };
 */
export interface InstructionFollowingOptions<Metadata> extends TextOptions {
  /**
   * The instructions of a task.
   * @default `instruction_id_list` and `kwargs` of `task.metadata`, as in IFEval's files
   */
  readonly instructions?: (task: Task<Metadata>) => readonly Instruction[];
  /** Whether it is enough without the first line, the last line, or asterisks. @default false */
  readonly loose?: boolean;
  /** Whether the reward is the fraction of instructions followed. @default false: 1 for all, else 0 */
  readonly partial?: boolean;
}

/** The variants of a response of which IFEval's loose accuracy accepts any. */
function variants(text: string): readonly string[] {
  const lines = text.split("\n");
  const cut = [lines, lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)];
  const texts = cut.map((one) => one.join("\n").trim());
  return [
    text,
    ...texts.slice(1),
    ...[text, ...texts.slice(1)].map((one) => one.replaceAll("*", "")),
  ];
}

/**
 * 1 where the text follows all instructions of the task, else 0, or the fraction that it follows. Has the
 * instructions of IFEval apart from `language:response_language`, which needs a language model; those on
 * English text in one case check the case only. The signal is `followed`.
 *
 * @example
 * const evaluator = instructionFollowing({
 *   instructions: () => [{ id: "punctuation:no_comma" }],
 * });
 */
export function instructionFollowing<Metadata = unknown>(
  options: InstructionFollowingOptions<Metadata> = {},
): SyncScorer<Metadata> {
  const { loose = false, partial = false } = options;
  return (task, episode) => {
    const instructions = options.instructions?.(task) ?? ofRow(task);
    if (instructions.length === 0) throw noInstructions(task.id);
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const texts = loose ? variants(text) : [text];
    const failed = instructions.filter(
      (one) => !texts.some((variant) => variant.trim() !== "" && check(variant, one, task.id)),
    );
    const fraction = 1 - failed.length / instructions.length;
    const reward = partial || failed.length === 0 ? fraction : 0;
    const metadata = failed.length === 0 ? {} : { failed: failed.map(({ id }) => id) };
    return scored(reward, metadata, [{ name: "followed", value: fraction }]);
  };
}

function check(text: string, { id, args = {} }: Instruction, taskId: string): boolean {
  try {
    const found = follows(text, id, args);
    if (found !== null) return found;
  } catch (error) {
    if (!(error instanceof ArgumentProblem)) throw error;
    throw evaluatorError(
      `The instruction "${id}" of task "${taskId}" is not valid: ${error.message}.`,
      "Name and give the arguments as in IFEval's files.",
      { taskId, id },
      error,
    );
  }
  throw evaluatorError(
    `The instruction "${id}" of task "${taskId}" is not known.`,
    `Known are ${instructionIds.join(", ")}.`,
    { taskId, id },
  );
}

function ofRow<Metadata>(task: Task<Metadata>): readonly Instruction[] {
  const ids = fieldOf(task, "instruction_id_list");
  const args = fieldOf(task, "kwargs") ?? [];
  const areValid =
    Array.isArray(ids) && ids.every((id) => typeof id === "string") && Array.isArray(args);
  if (!areValid) throw noInstructions(task.id);
  return (ids as readonly string[]).map((id, i) => ({
    id,
    args: (args as readonly (InstructionArguments | null | undefined)[])[i] ?? {},
  }));
}

const noInstructions = (taskId: string): Error =>
  evaluatorError(
    `Task "${taskId}" has no instructions to check.`,
    "Add `instruction_id_list` and `kwargs` to the row, or pass `instructions`.",
    { taskId },
  );
