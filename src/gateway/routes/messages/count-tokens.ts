/** `POST .../v1/messages/count_tokens`. Calls no model and captures nothing. */
import { readJsonObject } from "../../http/body.ts";
import type { RouteContext } from "../handle-call.ts";
import { parsePrompt } from "./request.ts";

export async function countMessageTokens({ gateway, request }: RouteContext): Promise<Response> {
  const body = await readJsonObject(request, gateway);
  const { messages, tools } = parsePrompt(body, gateway.target.abilities);
  const { gate, requestTimeoutMs, target } = gateway;
  if (gate.paused !== null) await gate.admit(requestTimeoutMs, request.signal);
  return Response.json({ input_tokens: await target.countTokens(messages, tools) });
}
