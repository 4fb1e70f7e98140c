/** The same truth through requests and responses: what a client sends is JSON that it received. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createGateway, type Gateway } from "../../src/gateway/index.ts";
import { createRandom } from "../../src/util/random.ts";
import { checkSession, noTotals } from "./check-session.ts";
import { pick, randomSampler, type Random } from "./random-choice.ts";
import { loadPlainModels, loadQwen3Models, type TruthModel } from "./truth-models.ts";

interface WireMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string }[];
}

let models: readonly TruthModel[] = [];
const gateways: Gateway[] = [];
beforeAll(() => {
  models = [...loadPlainModels(), ...loadQwen3Models()];
});
afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

const tools = [
  { type: "function", function: { name: "get_weather", parameters: { type: "object" } } },
  { type: "function", function: { name: "now" } },
];

async function request(
  gateway: Gateway,
  session: { readonly baseUrl: string; readonly apiKey: string },
  body: object,
): Promise<WireMessage> {
  const response = await gateway.fetch(
    new Request(`${session.baseUrl}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${session.apiKey}`,
      },
      body: JSON.stringify(body),
    }),
  );
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const { choices } = JSON.parse(text) as { choices: [{ message: WireMessage }] };
  return choices[0].message;
}

async function converse(
  random: Random,
  send: (body: object) => Promise<WireMessage>,
): Promise<void> {
  const offered = random() < 0.5 ? { tools } : {};
  let messages: readonly object[] = [{ role: "user", content: pick(random, ["Hi", "é 🙂", ""]) }];
  for (let turn = 0; turn < 4; turn++) {
    const reply = await send({ model: "m", messages, ...offered });
    const results = (reply.tool_calls ?? []).map(({ id }) => ({
      role: "tool",
      tool_call_id: id,
      content: "ok",
    }));
    const next = results.length > 0 ? results : [{ role: "user", content: "And?" }];
    messages = messages.concat(reply, next);
  }
}

it("holds for conversations over the gateway's own protocol", async () => {
  const totals = noTotals();
  for (const model of models) {
    const sampler = randomSampler(model);
    const target = { kind: "sampler" as const, sampler, renderer: model.renderer };
    const gateway = createGateway({ target, model: "m" });
    gateways.push(gateway);
    await gateway.listen();
    for (let i = 0; i < 20; i++) {
      const random = createRandom(1000 + i);
      sampler.random = random;
      sampler.samples.length = 0;
      const session = await gateway.sessions.open({ uid: `h${i}`, seed: i, sampling: {} });
      await converse(random, (body) => request(gateway, session, body));
      const context = { sessionUid: session.uid, defaultName: "agent", handles: new Map() };
      checkSession(model, await session.traces(), sampler.samples, context, totals);
      await session.close();
    }
  }
  console.log(`token truth over the protocol: ${JSON.stringify(totals)}`);
  expect(totals.drifted).toBe(0);
  expect(totals.calls).toBe(models.length * 20 * 4);
  expect(totals.extended).toBeGreaterThan(totals.calls / 2);
});
