/** Tasks by templates, where no model writes them: one call, or a second one that goes on from its result. */
import { createRandom } from "../../util/random.ts";
import { ArgumentValues, type KnownValues } from "./argument-values.ts";
import { isLink, type OfferedTool, type Proposal, type ProposedCall } from "./proposal.ts";

const shown = (value: unknown): string =>
  isLink(value) ? "the result of the call before" : JSON.stringify(value);

function argumentText(given: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(given).map(([name, value]) => `${name} = ${shown(value)}`);
  return parts.length === 0 ? "without arguments" : `with ${parts.join(", ")}`;
}

/** The first sentence of what a tool does. */
function sentenceOf({ name, description = "" }: OfferedTool): string {
  const [first = ""] = description.trim().split(/(?<=[.!?])\s|\n/u);
  const text = first.slice(0, 200).replace(/[.!?:]+$/u, "");
  return text === "" ? `Use ${name}` : text;
}

const ends = [
  "Answer with the result and nothing else.",
  "What is the result? Answer with it alone.",
  "Reply with exactly what you get.",
];

function wordsOf(tool: OfferedTool, { arguments: given }: ProposedCall, which: number): string {
  const how = argumentText(given);
  return which % 2 === 0
    ? `${sentenceOf(tool)}, ${how} (${tool.name}).`
    : `Use the tool ${tool.name} ${how}.`;
}

/** A required number or text of the second call that the first one may give. */
function linkable({ parameters }: OfferedTool): string | undefined {
  const { properties, required } = parameters as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
    readonly required?: readonly string[];
  };
  return required?.find((name) => ["number", "integer"].includes(String(properties?.[name]?.type)));
}

/** Without end; the same for the same seed and the same server. */
export function* templateProposals(
  tools: readonly OfferedTool[],
  { seed, known, maxCalls }: { seed: number; known: KnownValues; maxCalls: number },
): Generator<Proposal | null> {
  const random = createRandom(seed);
  const values = new ArgumentValues(random, known);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (;;) {
    const count = 1 + Math.floor(random() * maxCalls);
    const calls: ProposedCall[] = [];
    const said: string[] = [];
    for (let i = 0; i < count; i++) {
      const tool = pick(tools);
      const made = values.of(tool.parameters);
      if (made === null) break;
      const link = i > 0 && random() < 0.7 ? linkable(tool) : undefined;
      const call = {
        tool: tool.name,
        arguments: link === undefined ? made : { ...made, [link]: { $result: i - 1 } },
      };
      calls.push(call);
      said.push(`${i > 0 ? "Then: " : ""}${wordsOf(tool, call, Math.floor(random() * 2))}`);
    }
    const instruction = `${said.join(" ")} ${pick(ends)}`;
    yield calls.length < count ? null : { instruction, calls };
  }
}
