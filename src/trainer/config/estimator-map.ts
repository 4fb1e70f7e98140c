/** The option that gives single roles another estimator: its two forms in YAML, both kept as a list. */
import { z } from "zod";
import { estimatorNames } from "../../algorithms/catalog.ts";

const pairEnds = estimatorNames.map((name) => `=${name}`);
const isPair = (text: string): boolean =>
  pairEnds.some((end) => text.endsWith(end) && text.length > end.length);

/** `{judge: rloo}` or `["judge=rloo"]` → `["judge=rloo"]`. Keys are roles, so their case must stay. */
export const estimatorMap = (): z.ZodPrefault<z.ZodType<readonly string[]>> =>
  z
    .union([
      z
        .record(z.string().min(1), z.enum(estimatorNames))
        .transform((map) => Object.entries(map).map(([role, name]) => `${role}=${name}`)),
      z.array(z.string().refine(isPair)),
    ])
    .prefault([])
    .meta({ allowed: "a map of roles to estimators, or a list of role=estimator" })
    .describe("Estimators of single roles, over adv_estimator.");
