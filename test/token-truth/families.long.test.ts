import { expect, it } from "vitest";
import { atLeast, budgetMs, goal, proveTruth } from "./run-truth.ts";
import { loadFamilyModels } from "./truth-models.ts";

it(
  `token truth holds for Gemma, Phi, OLMo 2, Mistral, SmolLM3 in ${goal} conversations, or as many as ${budgetMs / 1000} s allow`,
  async () => {
    const { conversations, drifted } = await proveTruth(
      "Gemma, Phi, OLMo 2, Mistral, SmolLM3",
      loadFamilyModels(),
    );
    expect(drifted).toBe(0);
    expect(conversations).toBeGreaterThanOrEqual(atLeast);
  },
  budgetMs + 60_000,
);
