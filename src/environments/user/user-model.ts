/** What plays a user: a model behind an endpoint, the model that is trained, or a script. */
import type { AgentConfig } from "../../core/agent.ts";
import { ConfigError } from "../../core/errors.ts";
import { HttpFault } from "../../http/http-fault.ts";
import {
  chatCompletion,
  type ChatEndpoint,
  isHttpUrl,
  NoCompletion,
} from "../../http/chat-completion.ts";
import { callModel } from "../../rollouts/workflow/model-call.ts";

/** A message of the conversation, as the user sees it. */
export interface UserMessage {
  /** `user` is the simulated user itself. */
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A model behind an OpenAI-compatible endpoint; its calls are never captured, so never trained. */
export interface UserEndpoint extends ChatEndpoint {}

/** The user's next message, for a conversation that begins with its instructions. */
export type UserScript = (
  messages: readonly UserMessage[],
  signal: AbortSignal,
) => string | Promise<string>;

/** `"policy"` is the model of the run, in a separate trajectory that is not trained. */
export type UserModel = UserEndpoint | UserScript | "policy";

/** A call of the user's model that gave nothing to use; the next one may. */
export class UserFault extends Error {
  /** Another call would fail in the same way. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Name of the trajectory of a user that the policy plays. */
const role = "user";

/** @throws ConfigError for an endpoint that cannot be called. */
export function checkUserModel(model: UserModel): void {
  if (typeof model !== "object") return;
  const { baseUrl } = model;
  if (isHttpUrl(baseUrl)) return;
  throw new ConfigError({
    message: `The user's baseUrl is ${JSON.stringify(baseUrl)}, which is not an HTTP URL.`,
    hint: "Give the URL up to and including /v1.",
    fields: { baseUrl },
  });
}

/** As its model sees the conversation: what it wrote is its own, what the agent wrote is said to it. */
const turned = (messages: readonly UserMessage[]) =>
  messages.map(({ role: who, content }) => ({
    role: who === "system" ? who : who === "user" ? "assistant" : "user",
    content,
  }));

/** Asks for one message. @throws UserFault, or the signal's reason */
export async function askUser(
  model: UserModel,
  config: AgentConfig,
  messages: readonly UserMessage[],
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<string> {
  if (typeof model === "function") return await model(messages, signal);
  if (model === "policy") {
    const endpoint = config.trajectory(role, { train: false });
    return (await callModel({ ...config, signal }, endpoint, turned(messages))).content;
  }
  if (isSession(model.baseUrl, config)) {
    throw new ConfigError({
      message: "The user's baseUrl is that of the rollout, so its calls would be trained on.",
      hint: 'Pass model: "policy" for a user that the trained model plays.',
      fields: { baseUrl: model.baseUrl },
    });
  }
  return await callEndpoint(model, turned(messages), signal, timeoutMs);
}

/** Any endpoint of the gateway, this rollout's or another's. */
const isSession = (baseUrl: string, config: AgentConfig): boolean =>
  new URL(baseUrl).origin === new URL(config.baseUrl).origin &&
  new URL(baseUrl).pathname.startsWith("/sessions/");

async function callEndpoint(
  endpoint: UserEndpoint,
  messages: readonly object[],
  signal: AbortSignal,
  timeoutMs: number,
): Promise<string> {
  try {
    return (await chatCompletion(endpoint, messages, { signal, timeoutMs })).content;
  } catch (error) {
    if (error instanceof NoCompletion) throw new UserFault(error.message);
    if (!(error instanceof HttpFault)) throw error;
    const { kind, status, message } = error;
    if (kind !== "status") throw new UserFault(`the endpoint ${message}`);
    const isFinal = status !== undefined && status < 500 && ![408, 425, 429].includes(status);
    throw new UserFault(`the endpoint responded with status ${status}`, isFinal);
  }
}
