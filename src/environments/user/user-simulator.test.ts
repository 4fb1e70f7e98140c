import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../core/agent.ts";
import type { Task } from "../../core/task.ts";
import { createUpstream, type UpstreamOptions } from "../../testing/index.ts";
import { defined } from "../../util/defined.ts";
import { scriptedUser } from "./scripted-user.ts";
import type { UserModel } from "./user-model.ts";
import { userSimulator } from "./user-simulator.ts";

const task: Task = { id: "t", instruction: "Buy a lamp.", metadata: {} };

const rollout = (signal = new AbortController().signal): AgentConfig =>
  ({
    baseUrl: "http://127.0.0.1:1/sessions/s/v1",
    apiKey: "key",
    model: "policy",
    signal,
  }) as unknown as AgentConfig;

const begin = (model: UserModel, more: object = {}, config = rollout()) =>
  userSimulator({ model, ...more }).begin(task, config);

describe("userSimulator", () => {
  it("says its lines and stops", async () => {
    const user = begin(scriptedUser(["Hello", "A lamp"]));
    expect([await user.say(), await user.say("Hi"), await user.say("Here")]).toEqual([
      "Hello",
      "A lamp",
      null,
    ]);
    expect(user.ended).toBe("stop");
    expect(user.metrics()).toEqual({ user_turns: 2, user_faults: 0 });
    expect(user.messages.slice(1).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "user: Hello",
      "assistant: Hi",
      "user: A lamp",
      "assistant: Here",
    ]);
    expect(await user.say("More?")).toBeNull();
  });

  it("stops after its turns, or by a function", async () => {
    const short = begin(() => "And?", { maxTurns: 2 });
    expect([await short.say(), await short.say("a"), await short.say("b")]).toEqual([
      "And?",
      "And?",
      null,
    ]);
    expect(short.ended).toBe("max_turns");
    const bye = begin(scriptedUser(["Hi", "bye"]), { stop: (text: string) => text === "bye" });
    expect([await bye.say(), await bye.say("Hi")]).toEqual(["Hi", null]);
  });

  it("asks its endpoint with persona, goal and roles turned round", async () => {
    await using server = await createUpstream({ kind: "openai", script: () => "A lamp, please." });
    const model = { baseUrl: `${server.url}/v1`, model: "scripted", body: { max_tokens: 20 } };
    const user = begin(model, {
      persona: "Polite.",
      goal: (of: Task) => `Goal: ${of.instruction}`,
    });
    expect(await user.say()).toBe("A lamp, please.");
    await user.say("Which?");
    const [first, second] = server.calls.map(({ body }) => body as Record<string, unknown>);
    expect(first).toMatchObject({ model: "scripted", max_tokens: 20 });
    const [system] = first!["messages"] as { role: string; content: string }[];
    for (const part of ["Polite.", "Goal: Buy a lamp.", "###STOP###"])
      expect(system!.content).toContain(part);
    expect((second!["messages"] as { role: string }[]).map(({ role }) => role)).toEqual([
      "system",
      "assistant",
      "user",
    ]);
  });

  it.each([
    ["is empty", () => " "],
    ["is too long", () => "x".repeat(20)],
    ["is of the assistant", () => "Assistant: Which lamp?"],
    ["is not text", () => 7 as unknown as string],
    ["is an error", () => Promise.reject(new Error("out of order"))],
  ])("tries again where the message %s, then fails as the user", async (_what, bad) => {
    let calls = 0;
    const once = begin(() => (calls++ === 0 ? bad() : "User: A lamp"), { maxChars: 10 });
    expect(await once.say()).toBe("A lamp");
    expect(once.metrics()).toEqual({ user_turns: 1, user_faults: 1 });
    const always = begin(bad, { maxChars: 10, retries: 0 });
    await expect(always.say()).rejects.toMatchObject({
      code: "USER_FAILED",
      fields: { tries: 1, user_faults: 1, isFinal: false },
    });
  });

  it.each<[string, UpstreamOptions["fault"], boolean]>([
    ["a server error", () => ({ type: "status", status: 500 }), false],
    ["a wrong key", () => ({ type: "status", status: 401 }), true],
  ])("counts %s of its endpoint", async (_what, fault, isFinal) => {
    await using server = await createUpstream({
      kind: "openai",
      script: () => "x",
      ...defined({ fault }),
    });
    const user = begin({ baseUrl: `${server.url}/v1`, model: "m" }, { retries: 0 });
    await expect(user.say()).rejects.toMatchObject({ code: "USER_FAILED", fields: { isFinal } });
  });

  it("counts a message that takes too long", async () => {
    const user = begin(() => new Promise<string>(() => {}), { timeoutMs: 5, retries: 0 });
    await expect(user.say()).rejects.toMatchObject({ code: "USER_FAILED" });
  });

  it("ends with the rollout, and then it is no fault of the user", async () => {
    const own = new AbortController();
    const user = begin(() => new Promise<string>(() => {}), {}, rollout(own.signal));
    const said = user.say();
    own.abort(new Error("the rollout is over"));
    await expect(said).rejects.toThrow("the rollout is over");
    expect(user.metrics()).toEqual({ user_turns: 0, user_faults: 0 });
  });

  it("refuses an endpoint of the gateway, whose calls are trained on", async () => {
    const user = begin({ baseUrl: "http://127.0.0.1:1/sessions/s/v1", model: "m" });
    await expect(user.say()).rejects.toThrow("would be trained on");
  });

  it.each([
    ["baseUrl", { model: { baseUrl: "here", model: "m" } }],
    ["maxTurns", { maxTurns: 0 }],
    ["retries", { retries: -1 }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["maxChars", { maxChars: 1.5 }],
  ])("refuses options out of bounds: %s", (name, options) => {
    expect(() => userSimulator({ model: scriptedUser([]), ...options })).toThrow(name);
  });
});
