/** `POST .../v1/responses`. */
import { readJsonObject } from "../../http/body.ts";
import type { FinishedCall } from "../../call/call.ts";
import { readString } from "../../http/json-fields.ts";
import type { Reply } from "../../http/reply.ts";
import { handleCall, type CallStream, type RouteContext } from "../handle-call.ts";
import type { EventStream } from "../../http/event-stream.ts";
import { identifyCall } from "../repeated-call.ts";
import { ignoredFields } from "../fields/field-table.ts";
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
  gateway.ignored.note("openai-responses", ignoredFields(body, responsesFields));
  const { responseId, lost } = identifyCall(context, parsed.call, "resp_");
  const { renderer } = target;
  const options = { responseId, model, renderer, logprobs: parsed.logprobs, body };
  // Before the client can know the id.
  const store = ({ completions }: FinishedCall): void => {
    const responses = completions.map(({ message }) => message);
    if (conversation !== undefined)
      continueConversation(session, conversation, [...parsed.added, ...responses]);
    if (!parsed.store) return;
    rememberResponse(session, responseId, previousId, [...parsed.added, ...responses]);
  };
  const open = (events: EventStream): CallStream => {
    const stream = new ResponsesStream(options, events);
    return {
      begin: () => {
        stream.begin();
      },
      delta: (choice, delta) => {
        stream.delta(choice, delta);
      },
      finish: (call) => {
        store(call);
        stream.finish(call);
      },
      fail: (error) => {
        stream.fail(error);
      },
    };
  };
  return handleCall(context, {
    call: parsed.call,
    responseId,
    lost,
    stream: parsed.stream ? open : null,
    whole: (result) => {
      store(result);
      return toResponse(result, options);
    },
  });
}
