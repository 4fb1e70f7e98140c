import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunFinding } from "../../src/core/health.ts";
import { exampleEpisode } from "../../src/view/index/example-episode.ts";
import { listEpisodes, facets, findByName, neighbours } from "../../src/view/index/query.ts";
import { RunIndex } from "../../src/view/index/run-index.ts";
import { addEpisodes, episodeLine, newRunFolder } from "./view-run.ts";

const ids = (index: RunIndex, filter = {}): string[] =>
  listEpisodes(index.db, filter).rows.map(({ id }) => id);

it("grows with its files, and waits for the end of a line", async () => {
  const folder = newRunFolder();
  addEpisodes(folder, "000001.jsonl", [{ id: "1/a/0", responses: ["one"] }]);
  using index = new RunIndex(folder);
  expect(await index.extend()).toBe(true);
  expect(await index.extend()).toBe(false);
  const line = episodeLine({ id: "1/b/0", responses: ["zwei", "drei"] });
  const file = join(folder, "episodes", "000001.jsonl");
  appendFileSync(file, line.slice(0, 100));
  expect(await index.extend()).toBe(false);
  expect(ids(index)).toEqual(["1/a/0"]);
  appendFileSync(file, line.slice(100));
  addEpisodes(folder, "val-000002.jsonl", [{ id: "val-2/a/0", responses: ["three"] }]);
  expect(await index.extend()).toBe(true);
  expect(ids(index)).toEqual(["val-2/a/0", "1/b/0", "1/a/0"]);
  expect(index.state()).toMatchObject({ episodes: 3, calls: 4, damaged: 0 });
  const row = findByName(index.db, "1/b/0")!;
  expect(row).toMatchObject({ step: 1, phase: "train", calls: 2, preview: "drei" });
  expect(`${JSON.stringify(index.episode(row.n))}\n`).toBe(line);
});

it("notices files that were written anew or are gone, as after a resume", async () => {
  const folder = newRunFolder();
  const file = join(folder, "episodes", "000002.jsonl");
  addEpisodes(folder, "000001.jsonl", [{ id: "1/a/0", responses: ["kept"] }]);
  addEpisodes(folder, "000002.jsonl", [{ id: "2/a/0", responses: ["before"] }]);
  using index = new RunIndex(folder);
  await index.extend();
  writeFileSync(file, episodeLine({ id: "2/x/0", responses: ["after the resume"] }));
  await index.extend();
  expect(ids(index)).toEqual(["2/x/0", "1/a/0"]);
  expect(ids(index, { text: "before" })).toEqual([]);
  expect(ids(index, { text: "resume" })).toEqual(["2/x/0"]);
  rmSync(file);
  await index.extend();
  expect(ids(index)).toEqual(["1/a/0"]);
  expect(index.state()).toMatchObject({ episodes: 1, calls: 1 });
});

it("leaves out damaged lines, and says how many", async () => {
  const folder = newRunFolder();
  const good = episodeLine({ id: "1/a/0", responses: ["fine"] });
  const file = join(folder, "episodes", "000001.jsonl");
  writeFileSync(file, `{"id": 1}\n${good}{"cut\n[]\n\n${good.replace("1/a/0", "1/b/0")}`);
  using index = new RunIndex(folder);
  await index.extend();
  expect(ids(index)).toEqual(["1/b/0", "1/a/0"]);
  expect(index.state().damaged).toBe(3);
});

it("is made anew where its file is damaged or from another version", async () => {
  const folder = newRunFolder();
  addEpisodes(folder, "000001.jsonl", [{ id: "1/a/0", responses: ["fine"] }]);
  writeFileSync(join(folder, "index.db"), "this is not a database, but long enough".repeat(99));
  {
    using index = new RunIndex(folder);
    await index.extend();
    expect(ids(index)).toEqual(["1/a/0"]);
    index.db.exec("PRAGMA user_version = 99");
  }
  using index = new RunIndex(folder);
  expect(ids(index)).toEqual([]);
  await index.extend();
  expect(ids(index)).toEqual(["1/a/0"]);
});

it("serves two processes that extend it at once", async () => {
  const folder = newRunFolder();
  for (let step = 1; step <= 5; step++)
    addEpisodes(folder, `00000${step}.jsonl`, [{ id: `${step}/a/0`, responses: ["x"] }]);
  using one = new RunIndex(folder);
  using two = new RunIndex(folder);
  await Promise.all([one.extend(), two.extend()]);
  expect(one.state().episodes).toBe(5);
  expect(two.state().episodes).toBe(5);
});

it("filters by all fields at once, and pages", async () => {
  const folder = newRunFolder();
  addEpisodes(folder, "000001.jsonl", [
    { id: "1/a/0", task: "a", reward: 0, responses: ['get_price("lamp")'] },
    { id: "1/a/1", task: "a", rollout: 1, reward: 1, responses: ["A lamp costs 25."] },
    {
      id: "1/b/0",
      task: "b",
      reward: null,
      responses: ["lamps"],
      extra: { terminationReason: "error", error: { name: "Error", message: "no route to host" } },
    },
  ]);
  using index = new RunIndex(folder);
  await index.extend();
  expect(ids(index, { task: "a", minReward: 0.5 })).toEqual(["1/a/1"]);
  expect(ids(index, { maxReward: 0.5 })).toEqual(["1/a/0"]);
  expect(ids(index, { text: "lamp" })).toEqual(["1/b/0", "1/a/1", "1/a/0"]);
  expect(ids(index, { text: "LAMP cost" })).toEqual(["1/a/1"]);
  expect(ids(index, { text: "route" })).toEqual(["1/b/0"]);
  // Operators of the search language are words here.
  expect(ids(index, { text: '") OR "x NOT * -' })).toEqual([]);
  expect(ids(index, { only: "errors" })).toEqual(["1/b/0"]);
  expect(ids(index, { only: "incorrect" })).toEqual(["1/a/0"]);
  expect(facets(index.db).ended).toEqual([
    { value: "completed", count: 2 },
    { value: "error", count: 1 },
  ]);
  const first = listEpisodes(index.db, {}, null, 2);
  expect(first).toMatchObject({ count: 3, isCountExact: true, next: 2 });
  expect(listEpisodes(index.db, {}, first.next, 2).rows.map(({ n }) => n)).toEqual([1]);
  expect(neighbours(index.db, 2, {})).toEqual({ previous: 3, following: 1 });
  expect(existsSync(join(folder, "index.db"))).toBe(true);
  expect(readFileSync(join(folder, "metrics.jsonl"), "utf8")).toBe("");
});

it("finds an episode that shows a problem: for most a low reward, for a hacked reward a high one", async () => {
  const folder = newRunFolder();
  addEpisodes(folder, "000003.jsonl", [
    { id: "3/a/0", reward: 0.5, responses: ["x"] },
    { id: "3/a/1", rollout: 1, reward: 0, responses: ["y"] },
    { id: "3/a/2", rollout: 2, reward: 1, responses: ["z"] },
  ]);
  using index = new RunIndex(folder);
  await index.extend();
  const finding = { steps: [1, 3], disease: "stale_weights" } as unknown as RunFinding;
  const idOf = (found: RunFinding): string | undefined =>
    index.episode(exampleEpisode(index.db, found) ?? 0)?.id;
  expect(idOf(finding)).toBe("3/a/1");
  expect(idOf({ ...finding, disease: "reward_hacked" })).toBe("3/a/2");
  expect(exampleEpisode(index.db, { ...finding, filter: { only: "errors" } })).toBeNull();
  expect(exampleEpisode(index.db, { ...finding, steps: [] })).toBeNull();
});
