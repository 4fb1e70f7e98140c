import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createRandom } from "../random.ts";
import { ExternalSort } from "./external-sort.ts";

it.each([
  [0, 10],
  [1, 10],
  [10, 10],
  [11, 10],
  [1000, 7],
  [1000, 1000],
])("sorts %i records in chunks of %i, as often as asked", (count, chunk) => {
  const folder = mkdtempSync(join(tmpdir(), "sort-"));
  const random = createRandom(count + chunk);
  {
    using sort = new ExternalSort(6, folder, chunk);
    const records = Array.from({ length: count }, () =>
      // Few first words, so that what follows decides.
      Buffer.from([0, 0, 0, random() * 3, random() * 256, random() * 256]),
    );
    for (const record of records) sort.add(record);
    const wanted = records.toSorted(Buffer.compare).map(String);
    for (let time = 0; time < 2; time++) expect(Array.from(sort.sorted(), String)).toEqual(wanted);
  }
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
