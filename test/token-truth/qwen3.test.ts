import { expect, it } from "vitest";
import { atLeast, budgetMs, goal, proveTruth } from "./run-truth.ts";
import { loadQwen3Models } from "./truth-models.ts";

it(
  `token truth holds for Qwen 3 in ${goal} conversations, or as many as ${budgetMs / 1000} s allow`,
  async () => {
    const { conversations, drifted } = await proveTruth("Qwen 3", loadQwen3Models());
    expect(drifted).toBe(0);
    expect(conversations).toBeGreaterThanOrEqual(atLeast);
  },
  budgetMs + 60_000,
);
