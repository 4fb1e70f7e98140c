/** Documents of Harbor's Agent Trajectory Interchange Format, ATIF-v1, as drafts of episodes. */
import { z } from "zod";
import { ConfigError } from "../../core/errors.ts";
import type { ChatMessage, ContentPart, ToolDefinition } from "../../core/message.ts";
import type { DraftedCall, DraftedTrajectory } from "./drafted-episode.ts";

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ path: z.string() }).optional(),
});
const content = z.union([z.string(), z.array(part), z.null()]);
const ids = z.array(z.int()).optional();

const step = z.looseObject({
  source: z.enum(["system", "user", "agent"]),
  message: content.optional(),
  timestamp: z.string().nullish(),
  model_name: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  is_copied_context: z.boolean().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        tool_call_id: z.string(),
        function_name: z.string(),
        arguments: z.unknown(),
      }),
    )
    .nullish(),
  observation: z
    .looseObject({
      results: z.array(
        z.looseObject({ source_call_id: z.string().nullish(), content: content.optional() }),
      ),
    })
    .nullish(),
  metrics: z
    .looseObject({
      prompt_tokens: z.number().optional(),
      completion_tokens: z.number().optional(),
      prompt_token_ids: ids,
      completion_token_ids: ids,
      logprobs: z.array(z.number()).optional(),
      extra: z.looseObject({ weight_version: z.int().nullish() }).nullish(),
    })
    .nullish(),
  extra: z
    .looseObject({
      trace_id: z.string().optional(),
      stop_reason: z.string().optional(),
      reward: z.number().nullish(),
    })
    .nullish(),
});

const document = z.looseObject({
  schema_version: z.string().startsWith("ATIF-v1"),
  session_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  agent: z
    .looseObject({
      name: z.string(),
      model_name: z.string().nullish(),
      tool_definitions: z
        .array(
          z.looseObject({
            function: z.looseObject({
              name: z.string(),
              description: z.string().optional(),
              parameters: z.record(z.string(), z.unknown()).optional(),
            }),
          }),
        )
        .nullish(),
    })
    .nullish(),
  steps: z.array(step),
  final_metrics: z
    .looseObject({ extra: z.looseObject({ reward: z.number().nullish() }).nullish() })
    .nullish(),
  extra: z
    .looseObject({
      task: z.looseObject({ id: z.string(), instruction: z.string() }).nullish(),
      is_correct: z.boolean().nullish(),
    })
    .nullish(),
});

type AtifStep = z.output<typeof step>;

function contentOf(given: z.output<typeof content> | undefined): ChatMessage["content"] {
  if (typeof given === "string") return given;
  return (given ?? []).map(({ text, source }): ContentPart =>
    source === undefined ? { type: "text", text: text ?? "" } : { type: "image", url: source.path },
  );
}

function messageOf(given: AtifStep): ChatMessage {
  const calls = given.tool_calls ?? [];
  return {
    role: given.source === "agent" ? "assistant" : given.source,
    content: contentOf(given.message),
    ...(given.reasoning_content == null ? {} : { reasoning: given.reasoning_content }),
    ...(calls.length === 0
      ? {}
      : {
          toolCalls: calls.map((call) => ({
            id: call.tool_call_id,
            name: call.function_name,
            arguments:
              typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
          })),
        }),
  };
}

const results = ({ observation }: AtifStep): ChatMessage[] =>
  (observation?.results ?? []).map((result) => ({
    role: "tool",
    content: contentOf(result.content),
    ...(result.source_call_id == null ? {} : { toolCallId: result.source_call_id }),
  }));

function callOf(
  given: AtifStep,
  messages: readonly ChatMessage[],
  about: { readonly id: string; readonly model: string; readonly tools: readonly ToolDefinition[] },
): DraftedCall {
  const { metrics, extra, timestamp } = given;
  const [promptIds, responseIds] = [
    metrics?.prompt_token_ids ?? [],
    metrics?.completion_token_ids ?? [],
  ];
  const logprobs = metrics?.logprobs ?? [];
  const time = Date.parse(timestamp ?? "");
  return {
    id: extra?.trace_id ?? about.id,
    messages,
    tools: about.tools,
    response: messageOf(given),
    model: given.model_name ?? about.model,
    promptIds,
    responseIds,
    logprobs: logprobs.length === responseIds.length ? logprobs : [],
    ...(responseIds.length > 0
      ? {}
      : {
          usage: {
            promptTokens: metrics?.prompt_tokens ?? 0,
            completionTokens: metrics?.completion_tokens ?? 0,
          },
        }),
    stopReason: extra?.stop_reason === "length" ? "length" : "stop",
    weightVersion: metrics?.extra?.weight_version ?? null,
    reward: extra?.reward ?? null,
    finishedAt: Number.isNaN(time) ? 0 : time,
  };
}

/** A document has each message and tool once, an episode has them again in each later call. */
const maxRepeatedChars = 64 * 2 ** 20;

/** Of all documents of one import, which are written to disk. */
const maxAllChars = 4 * 2 ** 30;

function tooMuch(at: string, limit: number): ConfigError {
  return new ConfigError({
    message: `${at}: with the tools and the messages before each, the calls up to here have more than ${limit / 2 ** 20} MiB of text.`,
    hint: "Import the documents in parts, each into its folder.",
    fields: { at, limit },
  });
}

function tooRepetitive(at: string, calls: number): ConfigError {
  return new ConfigError({
    message: `${at}: with the tools and the messages before each, the first ${calls} of its calls have more than ${maxRepeatedChars / 2 ** 20} MiB of text.`,
    hint: "Cut the trajectory into documents with fewer steps each.",
    fields: { at, calls },
  });
}

/**
 * Reads the documents of one import; `at` names a document in what is thrown, and in ids where it has none.
 * @throws z.ZodError | ConfigError where the calls of a document would have more than 64 MiB of text, or those of
 * all more than `maxChars`
 */
export function atifReader(
  maxChars: number = maxAllChars,
): (value: unknown, at: string) => DraftedTrajectory {
  let allChars = 0;
  return (value, at) => {
    const { draft, repeatedChars } = readAtif(value, at);
    allChars += repeatedChars;
    if (allChars > maxChars) throw tooMuch(at, maxChars);
    return draft;
  };
}

interface AtifDocument {
  readonly draft: DraftedTrajectory;
  /** Of messages and tools, as often as calls have them. */
  readonly repeatedChars: number;
}

function readAtif(value: unknown, at: string): AtifDocument {
  const {
    session_id: session,
    agent,
    steps,
    final_metrics: final,
    extra,
    ...rest
  } = document.parse(value);
  const model = agent?.model_name ?? "";
  const tools = (agent?.tool_definitions ?? []).map(
    ({ function: tool }) => tool as unknown as ToolDefinition,
  );
  const episode = session ?? at;
  let history: ChatMessage[] = [];
  const toolChars = JSON.stringify(tools).length;
  let historyChars = toolChars;
  let repeatedChars = 0;
  let wasCopied = false;
  const calls: DraftedCall[] = [];
  for (const [i, given] of steps.entries()) {
    const isCopied = given.is_copied_context === true;
    // A conversation that begins anew repeats what it keeps.
    if (isCopied && !wasCopied) [history, historyChars] = [[], toolChars];
    wasCopied = isCopied;
    if (given.source === "agent" && !isCopied) {
      repeatedChars += historyChars;
      if (repeatedChars > maxRepeatedChars) throw tooRepetitive(at, calls.length + 1);
      calls.push(callOf(given, [...history], { id: `${episode}/${i}`, model, tools }));
    }
    const added = [messageOf(given), ...results(given)];
    history.push(...added);
    historyChars += JSON.stringify(added).length;
  }
  const first = steps.find(({ source }) => source === "user");
  const instruction = contentOf(first?.message);
  const draft: DraftedTrajectory = {
    episode,
    uid: rest.trajectory_id ?? episode,
    name: agent?.name ?? "agent",
    task: extra?.task ?? {
      id: episode,
      instruction: typeof instruction === "string" ? instruction : "",
    },
    reward: final?.extra?.reward ?? null,
    isCorrect: extra?.is_correct ?? null,
    calls,
  };
  return { draft, repeatedChars };
}
