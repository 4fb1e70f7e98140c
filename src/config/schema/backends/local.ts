/** Options of the embedded engine, where the trainer creates it. */
import { z } from "zod";
import { precisionOptions } from "../../../core/precision.ts";
import { integer, mebibytes, type Section } from "../kinds.ts";
import { free } from "../option-meta.ts";

export const localOptions: Section<"local"> = z
  .strictObject({
    threads: integer(1, 1024)
      .nullable()
      .default(null)
      .describe("CPU threads within one operation; null is half of the CPUs, at least 2.")
      .meta(free),
    precision: z
      .enum(precisionOptions)
      .default("auto")
      .describe(
        "What matrix products are computed in, the same for sampling and training; auto is bf16 where the processor has instructions for it, else f32.",
      )
      .meta(free),
    training_memory_mib: mebibytes(64)
      .default(1536)
      .describe(
        "Memory in MiB for the activations of one training micro-batch; less memory makes training slower.",
      )
      .meta(free),
    cache_memory_mib: mebibytes(64)
      .nullable()
      .default(null)
      .describe(
        "Memory in MiB for the KV cache of running sequences and prompts; with less, more of them wait. null is a quarter of the machine's memory.",
      )
      .meta(free),
    moment_precision: z
      .enum(["float32", "bfloat16"])
      .default("float32")
      .describe(
        "Precision of AdamW's moments; bfloat16 takes half of the memory, with stochastic rounding.",
      ),
  })
  .prefault({})
  .describe(
    "Options of the backend local, where the trainer creates it: by name, with backend=local.",
  );
