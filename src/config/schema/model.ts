/** Options of the model that is trained. */
import { z } from "zod";
import { count, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { needs } from "./option-meta.ts";

export const modelOptions: Section<"model"> = z
  .strictObject({
    name: words().describe(
      "The policy: a folder, the folder of a run (its newest checkpoint), a .gguf file, OWNER/NAME on a hub, or builtin:shop-tiny; of these, what the backend knows.",
    ),
    lora_rank: count(0).default(0).describe("Rank of the LoRA adapters; 0 trains every weight."),
    lora_alpha: z
      .number()
      .gt(0)
      .default(32)
      .describe("LoRA updates are scaled by lora_alpha / lora_rank.")
      .meta(needs({ option: "model.lora_rank", above: 0 })),
  })
  .prefault({} as { name: string });
