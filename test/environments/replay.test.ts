import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { environment } from "../../src/environments/environment.ts";
import { RecordedCalls } from "../../src/environments/replay/recorded-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const call = (name: string, given: object, result: string): object => ({
  name,
  arguments: given,
  result,
});
const taskOf = (id: string, calls: readonly object[]): object => ({
  id,
  instruction: `do ${id}`,
  messages: [{ role: "user", content: `do ${id}` }],
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  calls,
  answer: "x",
});
const lines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");
mkdirSync(join(folder, "val"));
writeFileSync(
  join(folder, "tasks.jsonl"),
  lines([
    taskOf("a", [
      call("look", { city: "Oslo", day: 1 }, "cold"),
      call("look", { city: "Oslo", day: 1 }, "colder"),
    ]),
    taskOf("b", [call("look", { city: "Rome", day: 1 }, "warm")]),
  ]),
);
writeFileSync(
  join(folder, "val", "tasks.jsonl"),
  lines([taskOf("v", [call("look", { city: "Kyiv" }, "mild")])]),
);

const { signal } = new AbortController();

async function episodeOf(query = "", split = "train", index = 0) {
  const source = environment(`replay:${folder}${query}`);
  const tasks: Task[] = [];
  for await (const task of source.tasks(split)) tasks.push(task);
  const episode = await source.open(tasks[index]!, { signal });
  return {
    episode,
    tasks,
    look: (given: Record<string, unknown>) => episode.call("look", given, signal),
  };
}

describe("replay:", () => {
  it("has the tasks of a split, with prompt and tools", async () => {
    const { episode, tasks } = await episodeOf();
    expect(tasks.map(({ id, instruction }) => [id, instruction])).toEqual([
      ["a", "do a"],
      ["b", "do b"],
    ]);
    expect(episode.prompt).toEqual([{ role: "user", content: "do a" }]);
    expect(episode.tools).toEqual([{ name: "look", parameters: { type: "object" } }]);
    const source = environment(`replay:${folder}`);
    const some: string[] = [];
    for await (const { id } of source.tasks("train", { start: 1, stop: 2 })) some.push(id);
    expect([some, source.givesRewards]).toEqual([["b"], false]);
  });

  it("answers the same call as in production, in any order of arguments, each time as then", async () => {
    const { look } = await episodeOf();
    expect((await look({ day: 1, city: "Oslo" })).text).toBe("cold");
    expect((await look({ city: "Oslo", day: 1 })).text).toBe("colder");
    const last = await look({ city: "Oslo", day: 1 });
    expect([last.text, last.signals]).toEqual([
      "colder",
      { replay_nearest_fraction: 0, replay_missing_fraction: 0 },
    ]);
  });

  it("takes the same call of another task, then the nearest, and measures it", async () => {
    const { look, episode } = await episodeOf("?nearest=0.3");
    expect((await look({ city: "Rome", day: 1 })).text).toBe("warm");
    expect((await look({ city: "Oslo", day: 2 })).text).toBe("cold");
    expect((await episode.finish!(signal)).signals).toEqual({
      replay_nearest_fraction: 0.5,
      replay_missing_fraction: 0,
    });
  });

  it("ends where too many calls are not in the record", async () => {
    const { look } = await episodeOf("?nearest=1&max_missing=2");
    expect(await look({ city: "Lima" })).toMatchObject({ isError: true, done: false });
    expect(await look({ city: "Lima" })).toMatchObject({
      isError: true,
      done: true,
      signals: { replay_missing_fraction: 1 },
    });
  });

  it("gives a task of training no answer of what is held out", async () => {
    expect((await (await episodeOf("", "val")).look({ city: "Kyiv" })).text).toBe("mild");
    expect(await (await episodeOf()).look({ city: "Kyiv" })).toMatchObject({ isError: true });
  });

  it.each([
    ["", "has no folder"],
    ["x?nearest=", "nearest=NaN"],
    ["x?nearest=2", "nearest=2"],
    ["x?max_missing=0", "max_missing=0"],
    ["x?nearst=1", "nearst"],
  ])("refuses %j by name", (rest, problem) => {
    expect(() => environment(`replay:${rest}`)).toThrow(problem);
  });

  it("says which files it needs", async () => {
    const source = environment(`replay:${join(folder, "none")}`);
    await expect(source.tasks("train")[Symbol.asyncIterator]().next()).rejects.toThrow(
      "tasks.jsonl",
    );
    await expect(
      environment(`replay:${folder}`).tasks("dev")[Symbol.asyncIterator]().next(),
    ).rejects.toThrow("train and val");
  });
});

it("compares arguments by their words", () => {
  const calls = new RecordedCalls();
  calls.add({ name: "f", arguments: { q: "red running shoes" }, result: "1" });
  calls.add({ name: "f", arguments: { q: "blue hat" }, result: "2" });
  expect(calls.nearest("f", { q: "Red running shoes, please" }, 0.6)).toBe("1");
  expect(calls.nearest("f", { q: "green coat" }, 0.1)).toBeNull();
  expect(calls.nearest("g", { q: "red running shoes" }, 0)).toBeNull();
});
