/** `structured`: how many samples under fifty schemas are valid, and what masks cost a token. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shopTiny, writeSmolModel } from "../engine/models.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { atLeast, atMost, result } from "../harness/result.ts";
import type { StructuredInput, StructuredOutput } from "./structured-case.ts";

const caseFile = new URL("structured-case.ts", import.meta.url);

export const structured: Benchmark = {
  name: "structured",
  summary: "samples under fifty JSON schemas: how many are valid, and what token masks cost",
  async run({ quick, repetitions }, log) {
    const perSchema = quick ? 8 : 200;
    const run = (input: Partial<StructuredInput>): Promise<StructuredOutput> =>
      runChild(caseFile, {
        model: shopTiny,
        perSchema: 0,
        repetitions,
        tokens: quick ? 16 : 96,
        ...input,
      });
    log(`${50 * perSchema} samples under 50 schemas ...`);
    const { samples, valid } = await run({ perSchema });
    log(`${valid} of ${samples} are valid. The cost of masks, shop-tiny ...`);
    const tiny = await run({});
    log(`${(100 * tiny.overhead).toFixed(1)} %`);
    const folder = await mkdtemp(join(tmpdir(), "structured-"));
    try {
      log("The cost of masks, SmolLM2-135M shape ...");
      const smol = await run({ model: await writeSmolModel(folder) });
      const goal = quick ? undefined : atMost(10);
      return [
        result(
          `valid of ${samples} samples under 50 schemas`,
          "%",
          (100 * valid) / samples,
          atLeast(100),
        ),
        result(
          "shop-tiny, batch 8: time of a token under a schema, more than without",
          "%",
          100 * tiny.overhead,
          goal,
        ),
        result("SmolLM2-135M shape, batch 8: the same", "%", 100 * smol.overhead, goal),
      ];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
