/** Configurations that would hang, crash or change the program: each is refused with an error message. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig, resolveConfig } from "./load.ts";
import { configJsonSchema } from "./schema.ts";
import { processorClock } from "../../test/processor-time.ts";

function files(contents: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-hostile-"));
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text);
  return join(folder, "run.yaml");
}

const load = (text: string, others: Readonly<Record<string, string>> = {}): unknown =>
  loadConfig({ file: files({ "run.yaml": text, ...others }) });
const refusal = (message: RegExp): object =>
  expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(message) });

describe("a YAML file", () => {
  it.each([
    ["model: &m {name: m, more: *m}", /run\.yaml contains a part that contains itself/],
    ["a: &a [*a]", /contains a part that contains itself/],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e", "f"].map((name, i) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcde"[i]}`).join()}]`).join("\n")}`,
      /run\.yaml.*Excessive alias count/,
    ],
    ["__proto__: {polluted: 1}", /run\.yaml uses __proto__ as the name of an option/],
    ["model: {name: m}\nrollout: {__proto__: {n: 3}}", /uses __proto__/],
    ["rollout.__proto__.n: 3", /uses __proto__/],
    [`a: ${"[".repeat(20_000)}`, /nested more than 128 levels/],
    [`a: ${"{b: ".repeat(200)}${"}".repeat(200)}`, /nested more than 128 levels/],
    [`${"- ".repeat(3000)}x`, /nested more than 128 levels/],
    [Array.from({ length: 1000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), /nested more than/],
    [
      Array.from({ length: 70 }, (_, i) => `${" ".repeat(i)}a:`).join("\n") + " 1",
      /nested more than 64/,
    ],
    ["- a", /must hold a map of options; got a list/],
    ["x".repeat(5 * 2 ** 20), /5242880 bytes, but 4194304 is the limit/],
  ])("%# is refused", (text, message) => {
    expect(() => load(text)).toThrow(refusal(message));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("of a million blank lines before a comment is read in linear time", () => {
    const seconds = processorClock();
    load(`defaults: [base]\nmodel: {name: m}`, {
      "base.yaml": `${"\n".repeat(400_000)}# nothing\n`,
    });
    expect(seconds()).toBeLessThan(60);
  });

  it("whose defaults double at every step is refused", () => {
    const others = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`f${i}.yaml`, `defaults: [f${i + 1}, f${i + 1}]`]),
    );
    expect(() => load("defaults: [f0, f0]", { ...others, "f40.yaml": "{}" })).toThrow(
      refusal(/name more than 1000 files/),
    );
  });

  it("whose references double at every step is refused", () => {
    const lines = Array.from({ length: 40 }, (_, i) => `x${i}: "\${x${i + 1}}\${x${i + 1}}"`);
    expect(() => load(`${lines.join("\n")}\nx40: y`)).toThrow(
      refusal(/more than 10000 references/),
    );
  });

  it.skipIf(process.platform === "win32")("that is a pipe is refused, not waited for", () => {
    const file = join(mkdtempSync(join(tmpdir(), "agent-trainer-hostile-")), "run.yaml");
    execFileSync("mkfifo", [file]);
    expect(() => loadConfig({ file })).toThrow(refusal(/is a pipe, not a file/));
  });
});

describe("an override", () => {
  it.each([
    "__proto__.polluted=1",
    "rollout.__proto__.n=1",
    "rollout={__proto__: {n: 1}}",
    "~__proto__",
  ])("%s is refused", (override) => {
    expect(() => loadConfig({ overrides: ["model.name=m", override] })).toThrow(
      refusal(/__proto__ as the name of an option/),
    );
  });
  it("as data is refused, too, with names from JSON and circles", () => {
    const named = JSON.parse('{"model":{"name":"m","__proto__":{"polluted":1}}}') as object;
    expect(() => loadConfig({ overrides: { ...named } })).toThrow(refusal(/__proto__/));
    const circle: Record<string, unknown> = { model: { name: "m" } };
    circle["rollout"] = circle;
    expect(() => resolveConfig(circle)).toThrow(refusal(/contains itself/));
  });
  it.each([`rollout=${"[".repeat(30_000)}`, "rollout=&a [*a]"])("%# is refused", (override) => {
    expect(() => loadConfig({ overrides: ["model.name=m", override] })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});

interface Node {
  readonly type?: string;
  readonly maximum?: number;
  readonly exampleValues?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
}

/** Whole numbers of the schema, each with its maximum. */
function* wholeNumbers(node: Node, path = ""): Generator<readonly [key: string, most: number]> {
  if (node.type === "integer") yield [path, node.maximum ?? Infinity];
  for (const one of node.anyOf ?? []) yield* wholeNumbers(one, path);
  for (const [key, child] of Object.entries(node.properties ?? {}))
    yield* wholeNumbers(child, path === "" ? key : `${path}.${key}`);
}

describe("a whole number", () => {
  // Their checks are refinements, which JSON Schema does not show.
  const orAll = ["data.val_batch_size", "trainer.total_batches"];
  const all = [...wholeNumbers(configJsonSchema())].filter(([key]) => !orAll.includes(key));

  it("has a bound that a machine can hold, for every option", () => {
    expect(all.length).toBeGreaterThan(50);
    const unbounded = all.filter(([key, most]) => most > 2 ** 32 && key !== "budget.tokens");
    expect(unbounded).toEqual([]);
  });
  it.each(orAll)("of %s has one, too", (key) => {
    expect(() => loadConfig({ overrides: ["model.name=m", `${key}=2000000000`] })).toThrow(
      refusal(/from 1 to 1000000000; got 2000000000/u),
    );
  });
  it.each([
    ["rollout.n=1e9", /^rollout\.n must be .* at most 65536; got 1000000000\.$/u],
    ["workflow.n_parallel_tasks=1e8", /at most 65536/u],
    ["data.train_batch_size=1e12", /at most 1000000;/u],
    ["rollout.train.max_tokens=1e9", /at most 16777216;/u],
  ])("%s is refused at start", (override, message) => {
    expect(() => loadConfig({ overrides: ["model.name=m", override] })).toThrow(refusal(message));
  });
  it("and another one may not ask for more rollouts together than fit", () => {
    const overrides = ["model.name=m", "rollout.n=60000", "data.train_batch_size=1000"];
    expect(() => loadConfig({ overrides })).toThrow(
      refusal(/rollout\.n=60000 is 60000000 rollouts in each step.*the limit is 1000000/u),
    );
    const large = ["model.name=m", "rollout.n=64", "data.train_batch_size=4096"];
    expect(loadConfig({ overrides: large }).config.rollout.n).toBe(64);
  });
});
