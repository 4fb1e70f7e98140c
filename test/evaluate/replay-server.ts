/** A server of OpenAI's protocol without a model, which says what was said in recorded episodes. */
import { text as readBody } from "node:stream/consumers";
import type { ChatMessage } from "../../src/core/message.ts";
import { serveHttp, type TestServer } from "../gateway/http-world.ts";

type Said = Pick<ChatMessage, "content">;

/** Of an episode in a run folder, what is read here. */
export interface Recorded {
  readonly trajectories: readonly {
    readonly steps: readonly {
      readonly trace: { readonly messages: readonly Said[]; readonly response: Said };
    }[];
  }[];
}

/** Responds to a message as the episode that it was the last message of. */
export function replay(episodes: readonly Recorded[]): Promise<TestServer> {
  const said = new Map(
    episodes.map(({ trajectories }) => {
      const { messages, response } = trajectories[0]!.steps[0]!.trace;
      return [messages.at(-1)!.content, response.content];
    }),
  );
  return serveHttp((request, response) => {
    void readBody(request).then((text) => {
      const send = (status: number, body: object): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
      };
      if (request.url === "/v1/models") return send(200, { data: [{ id: "replayed" }] });
      if (request.url !== "/v1/chat/completions") return send(404, {});
      const { messages } = JSON.parse(text) as { messages: { content: string }[] };
      const content = said.get(messages.at(-1)!.content)!;
      const choices = [
        { index: 0, message: { role: "assistant", content }, finish_reason: "stop" },
      ];
      const usage = { prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 };
      return send(200, { id: "1", object: "chat.completion", choices, usage });
    });
  });
}
