/** What the model of the matrix says: text with a tool call, text alone, and after a second question a call alone. */

/** The second question of a rollout, for agents that take one. */
export const followUp = "And once more?";

export interface ToolCallText {
  readonly name: string;
  readonly arguments: object;
}

/** How one framework has tools called and ends; by its prompt, of which `results` prices are known. */
export interface Dialect {
  readonly call: (call: ToolCallText, isAlone: boolean) => string;
  readonly answer: string;
  /** What a framework asks the model for once the tools are done. */
  readonly extract?: { readonly when: (text: string) => boolean; readonly says: string };
}

const answer = "It costs what the tool said.";
const block = (call: ToolCallText): string => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`;
const withText = (call: ToolCallText, isAlone: boolean): string =>
  isAlone ? block(call) : `Let me look that up.\n${block(call)}`;

const native: Dialect = { call: withText, answer };

/** Its answer is a call, too. */
const smolagents: Dialect = {
  call: withText,
  answer: block({ name: "final_answer", arguments: { answer } }),
};

const fields = (values: Readonly<Record<string, string>>): string =>
  [...Object.entries(values), ["completed", ""]]
    .map(([name, text]) => `[[ ## ${name} ## ]]\n${text}`)
    .join("\n\n");
const step = ({ name, arguments: given }: ToolCallText): string =>
  fields({
    next_thought: "Let me see.",
    next_tool_name: name,
    next_tool_args: JSON.stringify(given),
  });

/** Writes fields in a format that it defines, instead of calling tools. */
const dspy: Dialect = {
  call: step,
  answer: step({ name: "finish", arguments: {} }),
  extract: {
    when: (text) => !text.includes("next_tool_name"),
    says: fields({ reasoning: "The tool said it.", answer }),
  },
};

export const dialects = { native, smolagents, dspy } as const;

/** @param toolCalls that are made for the first question; one is for the second */
export function respond(
  text: string,
  toolCalls: number,
  call: (i: number) => ToolCallText,
  dialect: Dialect,
): string {
  if (dialect.extract?.when(text) === true) return dialect.extract.says;
  const results = text.split("PRICE-").length - 1;
  const isSecond = text.includes(followUp) && dialect.extract === undefined;
  if (results >= toolCalls + (isSecond ? 1 : 0)) return dialect.answer;
  return dialect.call(call(results), results % 2 === 1);
}
