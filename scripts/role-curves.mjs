/**
 * Runs examples/solver-judge.ts with an adapter for each role and with one set of weights, and writes
 * docs/role-adapters.json: rewards of both roles by step.
 *
 *   node scripts/role-curves.mjs          seeds 0, 1 and 2; what is in the file already is not run again
 *   node scripts/role-curves.mjs 3 4      other seeds
 */
import { mean, runCurves } from "./seeded-curves.mjs";

const curves = await runCurves({
  file: "docs/role-adapters.json",
  example: "examples/solver-judge.ts",
  ways: ["adapter", "shared"],
  seeds: [0, 1, 2],
  argumentsOf: (way, seed) => [`judge=${way}`, `seed=${seed}`],
  // `step 3  reward 0.4  solver 0.1  judge 0.9`
  pointOf: ([, , , , , solver, , judge]) => ({ solver: Number(solver), judge: Number(judge) }),
});

for (const way of ["adapter", "shared"]) {
  for (const role of ["solver", "judge"]) {
    const own = curves.filter((one) => one.way === way);
    const of = (from, to) =>
      own.map(({ steps }) => mean(steps.slice(from, to).map((step) => step[role])));
    const show = (values) => `${mean(values).toFixed(3)} (${values.map((v) => v.toFixed(2))})`;
    console.log(`${way} ${role}: first three steps ${show(of(0, 3))}, last three ${show(of(-3))}`);
  }
}
