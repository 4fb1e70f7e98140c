import { expect, it } from "vitest";
import { atLeast, budgetMs, goal, proveTruth } from "./run-truth.ts";
import { loadPlainModels } from "./truth-models.ts";

it(
  `token truth holds for families without reasoning in ${goal} conversations, or as many as ${budgetMs / 1000} s allow`,
  async () => {
    const { conversations, drifted } = await proveTruth(
      "families without reasoning",
      loadPlainModels(),
    );
    expect(drifted).toBe(0);
    expect(conversations).toBeGreaterThanOrEqual(atLeast);
  },
  budgetMs + 60_000,
);
