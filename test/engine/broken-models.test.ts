/** Model folders of strangers: every file broken, absurd or no file at all. Each is refused with a sentence. */
import { execFileSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadModelRenderer } from "../../src/backends/local/load-model.ts";
import { openModel } from "../../src/cli/load/open-model.ts";
import { reportModel } from "../../src/cli/report/model-report.ts";
import { AgentTrainerError } from "../../src/core/errors.ts";
import { openPolicy } from "./open-policy.ts";
import { writeSmallModel } from "./write-small-model.ts";
import { processorClock } from "../processor-time.ts";

let root = "";
let made = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "hostile-models-"));
  await writeSmallModel(join(root, "good"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function copy(): Promise<string> {
  const folder = join(root, `m${made++}`);
  await cp(join(root, "good"), folder, { recursive: true });
  return folder;
}

type Json = Record<string, unknown>;

async function change(folder: string, name: string, edit: (json: Json) => unknown): Promise<void> {
  const json = JSON.parse(await readFile(join(folder, name), "utf8")) as Json;
  await writeFile(join(folder, name), JSON.stringify(edit(json)));
}

/** What `model inspect` says, and what loading says: sentences, soon, of our own kind. */
async function complaints(folder: string): Promise<string> {
  const seconds = processorClock();
  const texts: string[] = [];
  const attempts = [
    async () => texts.push(...(await reportModel(await openModel(folder))).problems),
    () => openPolicy(folder),
    () => loadModelRenderer(folder),
  ];
  for (const attempt of attempts) {
    try {
      await attempt();
    } catch (error) {
      expect(AgentTrainerError.isInstance(error), String(error)).toBe(true);
      texts.push((error as Error).message);
    }
  }
  expect(seconds()).toBeLessThan(5);
  return texts.join("\n");
}

it("takes the folder that the others are made of", async () => {
  const text = await complaints(await copy());
  expect(text).toBe("");
});

describe("a config.json", () => {
  it.each([
    ["num_hidden_layers", 1e9],
    ["num_hidden_layers", 1e300],
    ["head_dim", 2 ** 40],
    ["vocab_size", 2 ** 50],
    ["hidden_size", 1e15],
    ["intermediate_size", 1e15],
    ["num_attention_heads", 1e12],
    ["num_hidden_layers", 1.5],
    ["num_hidden_layers", null],
    ["rms_norm_eps", "x"],
    ["architectures", ["constructor"]],
    ["architectures", 7],
    ["rope_theta", []],
  ])("with %s = %j is refused by its name", async (key, value) => {
    const folder = await copy();
    await change(folder, "config.json", (json) => ({ ...json, [key]: value }));
    const text = await complaints(folder);
    const isAbsurd = typeof value === "number" && value > 10;
    expect(text).toMatch(isAbsurd ? new RegExp(`"${key}" is .*, but \\d+ is the most`) : folder);
  });
  it("with as many layers as there may be, but not in the weights, names the one that is missing", async () => {
    const folder = await copy();
    await change(folder, "config.json", (json) => ({ ...json, num_hidden_layers: 1000 }));
    expect(await complaints(folder)).toContain(
      '"model.layers.2.input_layernorm.weight" is missing',
    );
  });
});

describe("a JSON file", () => {
  const names = ["config.json", "tokenizer.json", "tokenizer_config.json"];
  it.each(
    names.flatMap((name) =>
      ["null", "[]", "7", '"x"', "", "{", "[".repeat(100_000)].map((text) => [name, text] as const),
    ),
  )("%s of %.20j is refused by its name", async (name, text) => {
    const folder = await copy();
    await writeFile(join(folder, name), text);
    expect(await complaints(folder)).toContain(join(folder, name));
  });
});

describe("an index of shards", () => {
  it.each([
    [{ weight_map: { a: 5 } }, /names 5 in its "weight_map"/],
    [{ weight_map: { a: null } }, /names null in its "weight_map"/],
    [{ weight_map: { a: ["x"] } }, /names \["x"\] in its "weight_map"/],
    [{ weight_map: 5 }, /has no "weight_map"/],
    [{ weight_map: ["x"] }, /has no "weight_map"/],
    [{ weight_map: null }, /has no "weight_map"/],
    [null, /must hold an object, but holds null/],
    [{ weight_map: { a: "../x" } }, /outside of its folder/],
    [{ weight_map: { a: "gone" } }, /gone cannot be read/],
  ])("%j is refused by its name", async (index, message) => {
    const folder = await copy();
    await rm(join(folder, "model.safetensors"));
    await writeFile(join(folder, "model.safetensors.index.json"), JSON.stringify(index));
    expect(await complaints(folder)).toMatch(message);
  });
});

describe("a safetensors header", () => {
  const entry = { dtype: "F32", shape: [2], data_offsets: [0, 8] };
  it.each([
    null,
    [],
    7,
    { a: null },
    { a: 5 },
    { a: { ...entry, dtype: "constructor" } },
    { a: { ...entry, shape: null } },
    { a: { ...entry, shape: ["2"] } },
    { a: { ...entry, shape: [-1, -2] } },
    { a: { ...entry, data_offsets: [-8, 0] } },
    { a: { ...entry, data_offsets: [0] } },
    { a: { ...entry, data_offsets: null } },
    { a: { ...entry, shape: [2 ** 40, 2 ** 40] } },
  ])("%j is refused by the file's name", async (header) => {
    const folder = await copy();
    const text = Buffer.from(JSON.stringify(header));
    const bytes = Buffer.alloc(8 + text.length + 8);
    bytes.writeBigUInt64LE(BigInt(text.length));
    text.copy(bytes, 8);
    await writeFile(join(folder, "model.safetensors"), bytes);
    expect(await complaints(folder)).toMatch(/model\.safetensors is not a usable safetensors file/);
  });
});

describe("a tokenizer", () => {
  it.each([
    ["vocab", 266],
    ["vocab", 1e12],
    ["vocab", -1],
    ["vocab", "x"],
    ["added", 5_000_000],
  ])(
    "with an id that the model does not have (%s, %j) is refused by the token's name",
    async (where, id) => {
      const folder = await copy();
      await change(folder, "tokenizer.json", (json) => {
        const { model, added_tokens: added } = json as {
          model: { vocab: Json };
          added_tokens: Json[];
        };
        if (where === "vocab") model.vocab["strange"] = id;
        else added.push({ ...added[0], id, content: "strange" });
        return json;
      });
      const text = await complaints(folder);
      const sentence = `tokenizer.json: the token "strange" has the id ${JSON.stringify(id)}, but the model's ids are 0 to 265.`;
      // Once by inspect, once at load.
      expect(text.split(sentence).length - 1).toBe(2);
    },
  );
});

describe.skipIf(process.platform === "win32")("a pipe", () => {
  it.each([
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
    "chat_template.jinja",
  ])("instead of %s is refused, not waited for", async (name) => {
    const folder = await copy();
    await rm(join(folder, name), { force: true });
    execFileSync("mkfifo", [join(folder, name)]);
    expect(await complaints(folder)).toContain(`${join(folder, name)} is a pipe, not a file`);
  });
  it("instead of a .gguf file is refused, too", async () => {
    const file = join(root, "pipe.gguf");
    execFileSync("mkfifo", [file]);
    expect(await complaints(file)).toContain(`${file} is a pipe, not a file`);
  });
});
