/** Messages of the Open Reward Standard, checked: a server may send anything. */
import { z } from "zod";
import type { EnvironmentTool, PromptMessage } from "../../core/environment.ts";
import { environmentError } from "../episode/environment-error.ts";

const record = z.record(z.string(), z.unknown());

const block = z.looseObject({ type: z.string() });
const text = z.looseObject({ type: z.literal("text"), text: z.string() });
const image = z.looseObject({ type: z.literal("image"), data: z.string(), mimeType: z.string() });

type Optional<T> = T | null | undefined;
type Fields = Record<string, unknown>;

/** Content of a message or of a tool's output. */
export type OrsBlocks = ({ type: string } & Fields)[];
export const orsBlocks: z.ZodType<OrsBlocks> = z.array(block);

export interface OrsTools {
  tools: { name: string; description?: Optional<string>; input_schema?: Optional<Fields> }[];
  terminal_tool?: Optional<{ name: string; arg?: Optional<string> }>;
  supports_score_group?: Optional<boolean>;
}
export const orsTools: z.ZodType<OrsTools> = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string().nullish(),
      input_schema: record.nullish(),
    }),
  ),
  terminal_tool: z.looseObject({ name: z.string(), arg: z.string().nullish() }).nullish(),
  supports_score_group: z.boolean().nullish(),
});

export const orsSplits: z.ZodType<{ name: string; type?: Optional<string> }[]> = z.array(
  z.looseObject({ name: z.string(), type: z.string().nullish() }),
);
export const orsNames: z.ZodType<string[]> = z.array(z.string());
export const orsCount: z.ZodType<{ num_tasks: number }> = z.looseObject({
  // They are read page by page, all of them.
  num_tasks: z.number().int().min(0).max(10_000_000),
});
export const orsTaskList: z.ZodType<{ tasks: Fields[] }> = z.looseObject({
  tasks: z.array(record),
});
export const orsMessages: z.ZodType<{ role: string; blocks: OrsBlocks }[]> = z.array(
  z.looseObject({ role: z.string(), blocks: orsBlocks }),
);

export type OrsOutput =
  | {
      ok: true;
      output: { blocks: OrsBlocks; reward?: Optional<number>; finished?: Optional<boolean> };
    }
  | { ok: false; error: string; reason?: Optional<string> };
export const orsOutput: z.ZodType<OrsOutput> = z.union([
  z.looseObject({
    ok: z.literal(true),
    output: z.looseObject({
      blocks: orsBlocks,
      reward: z.number().nullish(),
      finished: z.boolean().nullish(),
    }),
  }),
  z.looseObject({ ok: z.literal(false), error: z.string(), reason: z.string().nullish() }),
]);

export const orsScores: z.ZodType<{
  scores: { reward: number; metadata?: Optional<Fields> }[];
}> = z.looseObject({
  scores: z.array(z.looseObject({ reward: z.number(), metadata: record.nullish() })),
});

/** @throws AgentTrainerError that names the field that is wrong. */
export function checkWire<T>(schema: z.ZodType<T>, value: unknown, url: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue === undefined ? "" : ` at "${issue.path.join(".")}": ${issue.message}`;
  throw environmentError(`${url} broke its protocol${where}`, {
    isFinal: true,
    hint: "Look at which version of the protocol the server has.",
    fields: { url, path: issue?.path.join(".") ?? "" },
  });
}

/** The text that a model sees; what is no text is named. */
export function textOf(blocks: OrsBlocks): string {
  return blocks
    .map((one) => {
      const asText = text.safeParse(one);
      return asText.success ? asText.data.text : `[${one.type}]`;
    })
    .join("\n");
}

/** Parts in OpenAI's format; a plain string where there is only text. */
export function contentOf(blocks: OrsBlocks): PromptMessage["content"] {
  if (!blocks.some(({ type }) => type === "image")) return textOf(blocks);
  return blocks.map((one) => {
    const asImage = image.safeParse(one);
    if (!asImage.success) return { type: "text", text: textOf([one]) };
    const { mimeType, data } = asImage.data;
    return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
  });
}

/** The tools that a model may call: all but the terminal one. */
export function offeredTools({ tools, terminal_tool }: OrsTools): EnvironmentTool[] {
  return tools
    .filter(({ name }) => name !== terminal_tool?.name)
    .map(({ name, description, input_schema }) => ({
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: input_schema ?? { type: "object", properties: {} },
    }));
}
