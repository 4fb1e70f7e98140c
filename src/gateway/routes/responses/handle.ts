/** `POST .../v1/responses`. */
import { readJsonObject } from "../../http/body.ts";
import type { FinishedCall } from "../../call/call.ts";
import { readString } from "../../http/json-fields.ts";
import type { Reply } from "../../http/reply.ts";
import { handleCall, type RouteContext } from "../handle-call.ts";
import { readConversation } from "./conversations.ts";
import {
  continueConversation,
  recallConversation,
  recallMessages,
  recallResponses,
  rememberResponse,
} from "./memory.ts";
import { References, referredResponses } from "./references.ts";
import { responsesFields, parseResponsesRequest } from "./request.ts";
import { toResponse } from "./response.ts";
import { ResponsesStream } from "./stream.ts";

export async function handleResponses(context: RouteContext): Promise<Reply> {
  const { gateway, session, request } = context;
  const { model, target } = gateway;
  const body = await readJsonObject(request, gateway);
  const previousId = readString(body, "previous_response_id");
  const conversation = readConversation(body);
  const recalled =
    conversation !== undefined
      ? recallConversation(session, conversation)
      : previousId === undefined
        ? []
        : await recallMessages(session, previousId);
  const references = new References(await recallResponses(session, referredResponses(body.input)));
  const parsed = parseResponsesRequest(body, model, target.abilities, recalled, references);
  const { renderer } = target;
  const options = { model, renderer, logprobs: parsed.logprobs, body };
  // Before the client can know the id.
  const store = ({ responseId, completions }: FinishedCall): void => {
    const responses = completions.map(({ message }) => message);
    if (conversation !== undefined)
      continueConversation(session, conversation, [...parsed.added, ...responses]);
    if (!parsed.store) return;
    rememberResponse(session, responseId, previousId, [...parsed.added, ...responses]);
  };
  return handleCall(context, {
    body,
    fields: responsesFields,
    idPrefix: "resp_",
    call: parsed.call,
    stream: parsed.stream
      ? (events, responseId) => new ResponsesStream({ ...options, responseId }, events, store)
      : null,
    whole: (result) => {
      store(result);
      return toResponse(result, { ...options, responseId: result.responseId });
    },
  });
}
