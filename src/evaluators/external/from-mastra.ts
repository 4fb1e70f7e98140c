/** Scorers of Mastra: objects that score a run of an agent, its input and its output. */
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import type { Task } from "../../core/task.ts";
import { plainOf } from "../../util/exact-json.ts";
import { readJson } from "../json/read-json.ts";
import { fieldOf, readText, type Scorer, type TextOptions, tooLong } from "../scorer.ts";
import { episodeMessages } from "../trajectory/read-trajectory.ts";
import { externalScore } from "./external-score.ts";

/**
 * What Mastra's `createScorer` makes, and the scorers of `@mastra/evals`.
 *
 * @example
 * const scorer: MastraScorer = createScorer({ id: "short", description: "Short responses" })
 *   .generateScore(({ run }) => (String(run.output).length < 80 ? 1 : 0));
 */
export interface MastraScorer {
  // Each scorer has types of its input and output, which only it knows.
  // oxlint-disable-next-line typescript/no-explicit-any
  run(run: any): Promise<unknown>;
}

/**
 * Options of {@link fromMastra}.
 *
 * @example
 * const options: FromMastraOptions<{ label: string }> = { reference: (task) => task.metadata.label };
 */
export interface FromMastraOptions<Metadata> extends TextOptions {
  /**
   * What the scorer receives as `input` and `output`: the messages of the episode as Mastra stores those of an
   * agent, or the instruction and the text of the response. @default "messages"
   */
  readonly outputs?: "messages" | "text";
  /** What it receives as `groundTruth`. @default the field `answer` of the row; nothing where it has none */
  readonly reference?: (task: Task<Metadata>) => unknown;
  /** Score from which on the episode is correct. @default 1 */
  readonly passScore?: number;
}

/**
 * An evaluator of a scorer of Mastra: of `@mastra/evals`, or made by `createScorer`. Its score is the reward,
 * and its reason is kept.
 *
 * @example
 * import { createKeywordCoverageScorer } from "@mastra/evals/scorers/prebuilt";
 * const evaluator = fromMastra(createKeywordCoverageScorer(), { passScore: 0.8 });
 */
export function fromMastra<Metadata = unknown>(
  scorer: MastraScorer,
  options: FromMastraOptions<Metadata> = {},
): Scorer<Metadata> {
  const { outputs: kind = "messages", reference, passScore = 1 } = options;
  return async (task, episode) => {
    const text = kind === "text" ? readText(episode, options) : "";
    if (text === null) return tooLong();
    const expected = reference === undefined ? fieldOf(task, "answer") : reference(task);
    const result = await scorer.run({
      ...(kind === "text"
        ? { input: task.instruction, output: text }
        : agentRun(episodeMessages(episode))),
      ...(expected === undefined ? {} : { groundTruth: expected }),
    });
    return externalScore(result, task, passScore);
  };
}

const textOf = ({ content }: ChatMessage): string => messageText(content, { image: "drop" });

/** Input and output of an agent, as `@mastra/core` 1 hands them to scorers. */
function agentRun(messages: readonly ChatMessage[]): object {
  const results = new Map(
    messages.flatMap((one) => (one.toolCallId === undefined ? [] : [[one.toolCallId, one]])),
  );
  const stored = messages.map((message, index) => storedMessage(message, index, results));
  const of = (role: string): readonly object[] => stored.filter((one) => one.role === role);
  return {
    input: {
      inputMessages: of("user"),
      rememberedMessages: [],
      systemMessages: messages
        .filter(({ role }) => role === "system")
        .map((message) => ({ role: "system", content: textOf(message) })),
      taggedSystemMessages: {},
    },
    output: of("assistant"),
  };
}

/** Version 2 of Mastra's messages; the result of a tool is a part of the message that called it. */
function storedMessage(
  message: ChatMessage,
  index: number,
  results: ReadonlyMap<string, ChatMessage>,
): { readonly role: string } {
  const { role, toolCalls = [] } = message;
  const content = textOf(message);
  const calls = toolCalls.map(({ id, name, arguments: written }) => {
    const reading = readJson(written);
    const answer = results.get(id);
    return {
      toolCallId: id,
      toolName: name,
      args: "value" in reading ? plainOf(reading.value) : {},
      ...(answer === undefined ? { state: "call" } : { state: "result", result: textOf(answer) }),
    };
  });
  const parts = [
    ...(content === "" ? [] : [{ type: "text", text: content }]),
    ...calls.map((toolInvocation) => ({ type: "tool-invocation", toolInvocation })),
  ];
  const own = {
    format: 2,
    parts,
    content,
    ...(calls.length === 0 ? {} : { toolInvocations: calls }),
  };
  return { ...{ id: `message-${index}`, createdAt: new Date(0), content: own }, role };
}
