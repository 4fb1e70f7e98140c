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
      .describe("CPU threads within one operation; null is half of the CPUs, at least 2.")
      .meta(free),
    provider: z
      .enum(["cpu", "webgpu", "cuda", "coreml", "dml"])
      .default("cpu")
      .describe(
        "Execution provider of onnxruntime that computes; one that does not work on this machine is an error at start.",
      )
      .meta(free),
    training_memory_mib: count(64)
      .default(1536)
      .describe(
        "Memory in MiB for the activations of one training micro-batch; less memory makes training slower.",
      )
      .meta(free),
    cache_memory_mib: count(64)
      .nullable()
      .default(null)
      .describe(
        "Memory in MiB for the KV cache of running sequences and prompts; with less, more of them wait. null is a quarter of the machine's memory.",
      )
      .meta(free),
    sampling_precision: z
      .enum(["float32", "int8"])
      .default("float32")
      .describe(
        "Precision of the frozen weights while sampling; int8 needs LoRA and samples from a slightly different distribution, which the loss corrects.",
      ),
    moment_precision: z
      .enum(["float32", "bfloat16"])
      .default("float32")
      .describe(
        "Precision of AdamW's moments; bfloat16 takes half of the memory, with stochastic rounding.",
      ),
  })
  .prefault({})
  .describe("Options of the backend that the command line creates for backend=local.");
