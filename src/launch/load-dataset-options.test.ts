import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import { readTasks } from "../datasets/tasks/read-tasks.ts";
import { inspectDataset } from "./inspect-dataset.ts";
import { loadDataset, openSource } from "./load-dataset.ts";
import { loadTasks, type RunTasks } from "./run-datasets.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-options-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, rows: readonly (object | string)[]): string {
  const lines = rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row)));
  writeFileSync(join(folder, name), lines.join("\n"));
  return name;
}
const ids = (dataset: Iterable<{ readonly id: string }>): string[] =>
  Array.from(dataset, ({ id }) => id);
const { signal } = new AbortController();
async function* rowsOf(count: number): AsyncGenerator<{ question: string }> {
  for (let i = 0; i < count; i++) yield { question: `q${i} ü🙂` };
}
const verlRow = {
  prompt: [{ role: "user", content: "Add 1 and 2" }],
  reward_model: { ground_truth: "3" },
};

describe("fields", () => {
  it("are read under other names, from inside of maps and lists", async () => {
    const file = write("verl.jsonl", [verlRow]);
    const fields = { instruction: "prompt.0.content", answer: "reward_model.ground_truth" };
    expect(await loadDataset(file, { folder, fields })).toEqual([
      {
        id: "0",
        instruction: "Add 1 and 2",
        metadata: { ...verlRow, instruction: "Add 1 and 2", answer: "3" },
      },
    ]);
  });
  it("make a row of what looks like a task", async () => {
    const row = { id: "a", instruction: "i", metadata: { page: 1 }, solution: "s" };
    const [task] = await loadDataset([row], { fields: { answer: "solution" } });
    expect(task).toEqual({ id: "a", instruction: "i", metadata: { ...row, answer: "s" } });
  });
  it("that a row lacks are named with its line", async () => {
    const file = write("lacks.jsonl", [{ text: "a" }, "", { txt: "b" }]);
    await expect(
      loadDataset(file, { folder, fields: { instruction: "text" } }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(
        /lacks\.jsonl:3: there is no field "text".*the row has txt/,
      ) as string,
      hint: "Did you mean txt?",
    });
  });
  it("can be made by a function, which may leave rows out", async () => {
    const rows = [{ a: 1 }, { a: 2 }, { a: 3 }];
    const tasks = await loadDataset(rows, {
      map: ({ a }) => (a === 2 ? null : { instruction: `double ${a}`, answer: 2 * a }),
    });
    expect(Array.from(tasks, ({ id, instruction }) => [id, instruction])).toEqual([
      ["0", "double 1"],
      ["2", "double 3"],
    ]);
  });
});

describe("bad rows", () => {
  const rows = [
    { question: "a" },
    "{",
    { other: 1 },
    { id: "0", question: "b" },
    { question: "c" },
  ];
  it("are skipped on request, counted and named", async () => {
    const warnings: string[] = [];
    const file = write("bad.jsonl", rows);
    const tasks = await loadDataset(file, {
      folder,
      skipBadRows: true,
      onWarning: (text) => void warnings.push(text),
    });
    expect(ids(tasks)).toEqual(["0", "4"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^3 of 5 rows of the dataset bad\.jsonl were skipped\./);
    for (const line of [2, 3, 4]) expect(warnings[0]).toContain(`bad.jsonl:${line}: `);
  });
  it("of a table are those with too few or too many values", async () => {
    writeFileSync(join(folder, "bad.csv"), "id,question\n1,a\n2\n3,b\n4,c,d\n");
    expect(ids(await loadDataset("bad.csv", { folder, skipBadRows: true }))).toEqual(["1", "3"]);
    await expect(loadDataset("bad.csv", { folder })).rejects.toThrow("on line 3");
  });
  it("are an error when there are no others", async () => {
    await expect(loadDataset([{ a: 1 }], { skipBadRows: true })).rejects.toThrow(
      'no row that can be used; the first problem: row 1 of the dataset: there is neither "instruction"',
    );
  });
});

describe("a stream", () => {
  it("is refused where memory has no room for it, with what it is called", async () => {
    const source = await openSource(rowsOf(1000), { folder, option: "source", signal });
    const options = { ...source, fields: null, map: null, skipBadRows: true, signal };
    const read = async (maxSize: number) =>
      await readTasks(source.rows, { ...options, stopAfter: Infinity, maxSize });
    await expect(read(2 ** 14)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(
        /^The dataset is too large .* first \d+ tasks have more than 0\.015625 MiB as JSON\.$/u,
      ) as string,
    });
  });
  it("is read no further than its limit", async () => {
    let read = 0;
    function* endless(): Generator<{ question: string }> {
      for (;;) yield { question: `q${read++}` };
    }
    expect(await loadDataset(endless(), { limit: 3 })).toHaveLength(3);
    expect(read).toBe(3);
  });
});

describe("the datasets of a run", () => {
  const run = async (rows: readonly object[], ...overrides: string[]): Promise<RunTasks> => {
    const { config } = loadConfig({ overrides: [`model.name=x`, ...overrides] });
    return await loadTasks(config, folder, { trainDataset: rows as never });
  };
  const rows = Array.from({ length: 20 }, (_, i) => ({ question: `${i} is a number` }));
  it("are split, and the training part limited and sharded", async () => {
    const { trainTasks, valTasks } = await run(rows, "dataset.val_fraction=0.25");
    expect([trainTasks.length, valTasks.length]).toEqual([15, 5]);
    const part = await run(
      rows,
      "dataset.val_fraction=0.25",
      "dataset.shard=1/3",
      "dataset.val_limit=2",
    );
    expect(ids(part.trainTasks)).toEqual(ids(trainTasks).filter((_, i) => i % 3 === 1));
    expect(ids(part.valTasks)).toEqual(ids(valTasks).slice(0, 2));
  });
  it("warn of validation tasks that are training tasks", async () => {
    write("val.jsonl", [{ id: "v", question: "7 IS a number" }, { question: "else" }]);
    const { warnings } = await run(rows, "dataset.val=val.jsonl");
    expect(warnings).toEqual([
      expect.stringContaining("1 of 2 validation tasks are also training tasks") as string,
    ]);
    expect(warnings[0]).toContain('"v" is "7": "7 IS a number"');
    expect((await run(rows, "dataset.val=val.jsonl", "dataset.leak_check=false")).warnings).toEqual(
      [],
    );
  });
  it("remove duplicates, and say so", async () => {
    const { trainTasks, warnings } = await run([...rows, rows[3]!], "dataset.deduplicate=true");
    expect(trainTasks).toHaveLength(20);
    expect(warnings[0]).toMatch(/^1 of 21 tasks .* task "20" duplicates task "3"\.$/);
  });
  it("have the fields that the options name", async () => {
    const { trainTasks } = await run([verlRow], "dataset.fields={instruction: prompt.0.content}");
    expect(trainTasks.at(0)?.instruction).toBe("Add 1 and 2");
  });
});

describe("inspectDataset", () => {
  it("reports fields, bad rows and duplicates, and throws for none of them", async () => {
    const file = write("inspect.jsonl", [
      { question: "a b", n: 1, tags: ["x", "y"] },
      "{",
      { question: "A  B", n: null },
      { question: 5 },
    ]);
    expect(await inspectDataset(file, { folder })).toEqual({
      rows: 4,
      tasks: 2,
      badRows: 2,
      problems: [
        expect.stringMatching(/inspect\.jsonl:2: not valid JSON/),
        expect.stringMatching(/inspect\.jsonl:4: "question" must be a string; got 5\./),
      ],
      fields: [
        {
          name: "question",
          types: { string: 2, number: 1 },
          missing: 0,
          lengths: { min: 3, mean: 3.5, max: 4 },
        },
        { name: "n", types: { number: 1, null: 1 }, missing: 1, lengths: null },
        { name: "tags", types: { list: 1 }, missing: 2, lengths: { min: 2, mean: 2, max: 2 } },
      ],
      duplicates: { count: 1, examples: [{ id: "2", duplicates: "0" }] },
      examples: [
        { id: "0", instruction: "a b", metadata: { question: "a b", n: 1, tags: ["x", "y"] } },
        { id: "2", instruction: "A  B", metadata: { question: "A  B", n: null } },
      ],
    });
  });
});
