/** Tasks that a model writes for the tools of a server, with the calls that solve them. */
import { z } from "zod";
import { AgentTrainerError } from "../../core/errors.ts";
import {
  type ChatCompletion,
  type ChatEndpoint,
  NoCompletion,
  patientCompletion,
} from "../../http/chat-completion.ts";
import { HttpFault } from "../../http/http-fault.ts";
import type { OfferedTool, Proposal } from "./proposal.ts";

const batch = 8;
const timeoutMs = 300_000;
const maxToolChars = 40_000;
/** Instructions that the model is shown, so that it writes others. */
const maxShown = 30;
/** Responses without a task after which it is given up. */
const maxEmpty = 3;

const list = z.array(
  z.object({
    instruction: z.string().min(1).max(4000),
    calls: z
      .array(z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }))
      .min(1),
  }),
);

const system = (tools: readonly OfferedTool[], maxCalls: number): string => `
You write tasks for an assistant that has tools. Each task is what a user would ask, in plain words, without naming
tools, and has exactly one right answer, which the last call returns. Write with each task the calls that solve it,
1 to ${maxCalls} of them, with every argument that the tools need. Where an argument is what an earlier call returned,
write {"$result": 0} for the result of the first call, and {"$result": 0, "path": "items.0.id"} for a part of it.
The task must say everything that cannot be found with the tools. Never ask for anything that depends on the time.

Tools:
${JSON.stringify(tools.map(({ name, description, parameters }) => ({ name, description, parameters }))).slice(0, maxToolChars)}

Respond with a JSON list and nothing else: [{"instruction": "...", "calls": [{"tool": "...", "arguments": {}}]}]`;

/** The list in a response: after reasoning, in a fenced block or bare. */
function readList(text: string): readonly Proposal[] {
  const from = text.indexOf("[", Math.max(0, text.lastIndexOf("</think>")));
  try {
    return list.parse(JSON.parse(text.slice(from, text.lastIndexOf("]") + 1)));
  } catch {
    return [];
  }
}

export interface ModelProposalOptions {
  readonly endpoint: ChatEndpoint;
  readonly maxCalls: number;
  readonly seed: number;
  /** Results of the server's own tools, so that tasks ask for what there is. */
  readonly samples: readonly string[];
  readonly onTokens: (prompt: number, completion: number) => void;
  readonly signal: AbortSignal;
}

/** @throws AgentTrainerError (`UPSTREAM_FAILED`) where the model cannot be asked */
export async function* modelProposals(
  tools: readonly OfferedTool[],
  { endpoint, maxCalls, seed, samples, onTokens, signal }: ModelProposalOptions,
): AsyncGenerator<Proposal> {
  const written: string[] = [];
  const seen = samples.length === 0 ? "" : `What tools say now:\n${samples.join("\n")}\n\n`;
  for (let [request, empty] = [0, 0]; empty < maxEmpty; request++) {
    const before = written.slice(-maxShown);
    const other =
      before.length === 0 ? "" : `Already written, so write others:\n${before.join("\n")}\n\n`;
    const messages = [
      { role: "system", content: system(tools, maxCalls).trim() },
      { role: "user", content: `${seen}${other}Write ${batch} tasks.` },
    ];
    const body = { temperature: 1, seed: seed + request, ...endpoint.body };
    const found = await ask({ ...endpoint, body }, messages, signal);
    onTokens(found.promptTokens, found.completionTokens);
    const proposals = readList(found.content);
    empty = proposals.length === 0 ? empty + 1 : 0;
    for (const proposal of proposals) {
      written.push(proposal.instruction);
      yield proposal;
    }
  }
}

async function ask(
  endpoint: ChatEndpoint,
  messages: readonly object[],
  signal: AbortSignal,
): Promise<ChatCompletion> {
  try {
    return await patientCompletion(endpoint, messages, { timeoutMs, signal, tries: 3 });
  } catch (error) {
    if (!(error instanceof HttpFault || error instanceof NoCompletion)) throw error;
    throw new AgentTrainerError({
      code: "UPSTREAM_FAILED",
      message: `The model "${endpoint.model}" at ${endpoint.baseUrl} cannot be asked: ${error.message}.`,
      hint: "Check --model, --model-name and --key-env.",
      cause: error,
    });
  }
}
