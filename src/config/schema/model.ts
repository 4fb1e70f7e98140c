/** Options of the model that is trained. */
import { z } from "zod";
import { count, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { needs } from "./option-meta.ts";

export const modelOptions: Section<"model"> = z
  .strictObject({
    name: words().describe(
      "Model that is trained: a model folder, a run folder (its newest checkpoint), a .gguf file, OWNER/NAME on a hub, or builtin:shop-tiny; which of these work depends on the backend.",
    ),
    lora_rank: count(0)
      .default(0)
      .describe(
        "Rank of the LoRA adapters (arXiv:2106.09685); 0 trains all weights, without LoRA.",
      ),
    lora_alpha: z
      .number()
      .gt(0)
      .default(32)
      .describe(
        "Scale of the LoRA adapters: their output is multiplied by lora_alpha / lora_rank (arXiv:2106.09685).",
      )
      .meta(needs({ option: "model.lora_rank", above: 0 })),
  })
  .prefault({} as { name: string });
