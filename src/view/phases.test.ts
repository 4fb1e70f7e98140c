import { expect, it } from "vitest";
import { isPhase, mainPhase } from "./phases.ts";

it("takes the phase whose tasks come back: validations first, if there are two", () => {
  const of = (validation: number, train: number) =>
    mainPhase([
      { phase: "train", steps: train },
      { phase: "validation", steps: validation },
    ]);
  expect([of(2, 30), of(1, 30), of(1, 1)]).toEqual(["validation", "train", "validation"]);
  expect(mainPhase([{ phase: "evaluation", steps: 1 }])).toBe("evaluation");
  expect(mainPhase([])).toBe("train");
  expect([isPhase("train"), isPhase("constructor")]).toEqual([true, false]);
});
