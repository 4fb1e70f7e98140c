import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ModelSource } from "./model-source.ts";
import { readSafetensors } from "./safetensors.ts";
import { decodeToScratch } from "./scratch-weights.ts";

const base = [
  { name: "a", shape: [2, 3], decay: true },
  { name: "b", shape: [3], decay: false },
];
const values: Readonly<Record<string, Float32Array>> = {
  a: Float32Array.of(1, 2, 3, 4, 5, 6),
  b: Float32Array.of(7, 8, 9),
};

/** Fails at the tensor `broken`. */
function sourceOf(broken = ""): ModelSource {
  return {
    async *read(names: readonly string[]) {
      for (const name of names) {
        if (name === broken) throw new Error("unreadable");
        yield [name, values[name]!] as const;
      }
    },
  } as unknown as ModelSource;
}
const temporary = (): string => mkdtempSync(join(tmpdir(), "scratch-test-"));

it("writes what the runtime maps, and deletes it", async () => {
  const scratch = await decodeToScratch(sourceOf(), base, temporary());
  const [stored] = scratch!.files.values();
  const tensors = await readSafetensors(join(scratch!.folder, stored!.file));
  expect([...tensors.get("b")!.data]).toEqual([7, 8, 9]);
  expect(tensors.get("a")).toEqual({ shape: [2, 3], data: values["a"] });
  expect(scratch!.files.get("b")).toMatchObject({ dtype: "F32", shape: [3], length: 12 });
  scratch![Symbol.dispose]();
  expect(existsSync(scratch!.folder)).toBe(false);
});

it("leaves nothing behind when the model cannot be read", async () => {
  const parent = temporary();
  await expect(decodeToScratch(sourceOf("b"), base, parent)).rejects.toThrow("unreadable");
  expect(readdirSync(parent)).toEqual([]);
});

it("writes nothing where there is no room", async () => {
  const parent = temporary();
  const huge = [{ name: "a", shape: [2 ** 25, 2 ** 25], decay: true }];
  expect(await decodeToScratch(sourceOf(), huge, parent)).toBeNull();
  expect(readdirSync(parent)).toEqual([]);
});

it("leaves them in memory where nothing may be written", async () => {
  const nowhere = join(temporary(), "nowhere");
  expect(await decodeToScratch(sourceOf(), base, nowhere)).toBeNull();
});

it("removes what killed processes left, and nothing of others", async () => {
  const parent = temporary();
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const dead = `agent-trainer-weights-${pid}-`;
  const kept = [`${dead}new`, `agent-trainer-weights-${process.pid}-old`, "something-else"];
  for (const name of [...kept, `${dead}old`]) mkdirSync(join(parent, name));
  const longAgo = Date.now() / 1000 - 11 * 60;
  for (const name of [`${dead}old`, kept[1]!, kept[2]!])
    utimesSync(join(parent, name), longAgo, longAgo);
  using scratch = await decodeToScratch(sourceOf(), base, parent);
  expect(readdirSync(parent).toSorted()).toEqual(
    [...kept, scratch!.folder.slice(parent.length + 1)].toSorted(),
  );
});
