import { existsSync, mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { loadNative } from "../../engine/native/load-native.ts";
import { Device } from "../../engine/tensor/device.ts";
import { runCli } from "../program.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "doctor-"));
  vi.stubEnv("HF_HOME", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

async function doctor(...flags: string[]): Promise<{ code: number; out: string }> {
  let out = "";
  const code = await runCli(["doctor", ...flags], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: () => undefined },
  });
  return { code, out };
}

interface Report {
  readonly engine: { readonly path: string } | null;
  readonly hub: object;
  readonly problems: readonly string[];
}
const inJson = async (): Promise<Report> => JSON.parse((await doctor("--json")).out) as Report;

it("shows the kernels that a run uses, tested, and the hub's cache", async () => {
  mkdirSync(join(home, "hub/models--owner--name"), { recursive: true });
  const { engine, hub } = await inJson();
  const { instructionSet, hasBfloat16 } = new Device({ threads: 1 });
  expect(engine).toMatchObject({
    kind: "addon",
    instructionSet: instructionSet.name,
    instructionSets: loadNative().instructionSets.map(({ name }) => name),
    hasBfloat16,
    passesSelfTest: true,
  });
  expect(existsSync(engine!.path)).toBe(true);
  expect(hub).toMatchObject({ cacheFolder: join(home, "hub"), models: ["owner/name"] });
});

it("shows what was asked for, each in a line", async () => {
  vi.stubEnv("AGENT_TRAINER_NATIVE", "wasm");
  const { out } = await doctor();
  expect(out).toMatch(/^kernels +wasm \((?:prebuilt|built here)\), self-test passed$/mu);
  expect(out).toMatch(/^instructions +simd128$/mu);
  expect(out).toMatch(/^bf16 +emulated/mu);
});

it.each([
  ["AGENT_TRAINER_NATIVE", "cuda"],
  ["AGENT_TRAINER_INSTRUCTION_SET", "mmx"],
])("names %s=%s as a problem", async (name, value) => {
  vi.stubEnv(name, value);
  const { engine, problems } = await inJson();
  expect(engine).toBeNull();
  expect(problems).toContainEqual(expect.stringContaining(`"${value}"`));
  expect((await doctor()).code).toBe(1);
});
