/** Options of the embedded engine. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free } from "./option-meta.ts";

export const localOptions: Section<"local"> = z
  .strictObject({
    threads: count(1)
      .nullable()
      .default(null)
      .describe("Threads inside one operation; null is half of the processors, at least 2.")
      .meta(free),
    provider: z
      .enum(["cpu", "webgpu", "cuda", "coreml", "dml"])
      .default("cpu")
      .describe(
        "What computes: an execution provider of onnxruntime. Refused at start where it does not work.",
      )
      .meta(free),
    training_memory_mib: count(64)
      .default(1536)
      .describe("MiB for the activations of one training micro-batch; less is slower.")
      .meta(free),
    cache_memory_mib: count(64)
      .nullable()
      .default(null)
      .describe(
        "MiB for keys and values of running sequences and prompts; with less, more of them wait. Null is a quarter of the memory.",
      )
      .meta(free),
    sampling_precision: z
      .enum(["float32", "int8"])
      .default("float32")
      .describe(
        "Frozen weights while sampling; int8 needs LoRA and draws from a slightly different distribution, which the loss corrects.",
      ),
    moment_precision: z
      .enum(["float32", "bfloat16"])
      .default("float32")
      .describe("AdamW's moments; bfloat16 takes half of the memory, rounded at random."),
  })
  .prefault({})
  .describe("Options of the backend that the command line makes for backend: local.");
