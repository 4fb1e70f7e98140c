/** All cases. */
import type { ConformanceCase } from "../case.ts";
import { completionsCases } from "./completions.ts";
import { loopCases } from "./loops.ts";
import { matrixCases } from "./matrix.ts";
import { mixedCases } from "./mixed.ts";
import { nativeCases } from "./native.ts";
import { serverCases } from "./server.ts";

export const cases: readonly ConformanceCase[] = [
  ...matrixCases,
  ...loopCases,
  ...completionsCases,
  ...mixedCases,
  ...nativeCases,
  ...serverCases,
];
