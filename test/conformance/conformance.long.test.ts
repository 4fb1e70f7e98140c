/** The conformance suite as part of the tests; `npm run conformance` runs the same cases alone. */
import { describe, expect, it } from "vitest";
import { isFor } from "./case.ts";
import { cases } from "./cases/index.ts";
import { targets } from "./targets.ts";

describe.each(targets)("conformance with a $name", (target) => {
  for (const { name, skip, run } of cases.filter((each) => isFor(target, each))) {
    it.skipIf(skip !== undefined)(name, async () => {
      await expect(run(target)).resolves.toBeUndefined();
    });
  }
});
