import { expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { ScoreTallies, type ScoredCall } from "./score-tallies.ts";

it("says what adding up all of it would say, for any version and time", () => {
  const random = createRandom(5);
  const tallies = new ScoreTallies();
  const all: { call: ScoredCall; score: number | null }[] = [];
  const sinces = [0, 30, 60];
  let reads = 0;
  for (let step = 0; step < 2000; step++) {
    const call = { version: `v${Math.floor(random() * 3)}`, at: Math.floor(random() * 100) };
    const score = random() < 0.2 ? null : Math.round(random() * 8) / 8;
    all.push({ call, score });
    tallies.change(call, score, 1);
    if (random() < 0.4) {
      const [gone] = all.splice(Math.floor(random() * all.length), 1);
      tallies.change(gone!.call, gone!.score, -1);
    }
    const [version, since] = [`v${step % 4}`, sinces[step % 3]!];
    const wanted = all.flatMap((one) =>
      one.score !== null && one.call.version === version && one.call.at >= since ? [one.score] : [],
    );
    const found = tallies.of(version, since, () => {
      reads++;
      return all;
    });
    expect(found).toEqual({ n: wanted.length, sum: wanted.reduce((sum, one) => sum + one, 0) });
  }
  // Read once for each version and time, not for each look.
  expect(reads).toBeLessThanOrEqual(9);
});
