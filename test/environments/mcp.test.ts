/** Tools of an MCP server, through the official client. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { McpSource } from "../../src/environments/mcp/mcp-source.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";

const { signal } = new AbortController();
const command = `${process.execPath} ${join(import.meta.dirname, "mcp-stdio-server.mjs")}`;
const task = { id: "1", instruction: "What is 2 + 3?", metadata: {} };

it("offers the tools of all pages, and returns results as text", async () => {
  const episode = await new McpSource({ server: command }).open(task, { signal });
  expect(episode.prompt).toEqual([{ role: "user", content: "What is 2 + 3?" }]);
  expect(episode.tools.map(({ name }) => name)).toEqual(["add", "picture", "fail"]);
  expect(await episode.call("add", { a: 2, b: 3 }, signal)).toEqual({ text: "5", isError: false });
  expect(await episode.call("picture", {}, signal)).toMatchObject({
    text: "[image image/png, 4 characters of base64]",
  });
  expect(await episode.call("fail", {}, signal)).toEqual({ text: "It failed.", isError: true });
  await episode.close();
  await episode.close();
});

it("a program that does not exist fails the attempt", async () => {
  const source = new McpSource({ server: "/no/such/program --now" });
  await expect(source.open(task, { signal })).rejects.toMatchObject({ code: "ENVIRONMENT_FAILED" });
});

it("needs tasks and an evaluator from elsewhere", async () => {
  const call = '<tool_call>{"name":"add","arguments":{"a":2,"b":3}}</tool_call>';
  const given = {
    env: `mcp:${command}`,
    dataset: [{ instruction: "What is 2 + 3?", sum: "5" }],
    config: {},
  };
  await expect(evaluate({ ...given, model: createScriptedTarget([]) })).rejects.toThrow(
    /tools but no rewards/u,
  );
  const { items } = await evaluate({
    ...given,
    evaluator: (row, { output }) => output === row.metadata["sum"],
    model: createScriptedTarget(({ text }) => (text.includes("5") ? "5" : call)),
  });
  expect(items).toMatchObject([{ reward: 1 }]);
});
