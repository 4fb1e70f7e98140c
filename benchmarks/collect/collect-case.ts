/** Child: one file of traces into a folder, or that folder to rows, once. */
import { join } from "node:path";
import { curate } from "../../src/production/curate/curate.ts";
import { importFile } from "../../src/production/import/import-file.ts";
import { emptyCounts } from "../../src/production/receiver/keep-otlp.ts";
import { ProductionStore } from "../../src/production/store/production-store.ts";
import { answer, peakMiB } from "../harness/child-side.ts";

export interface CollectInput {
  readonly work: "import" | "curate";
  readonly folder: string;
}

export interface CollectOutput {
  readonly seconds: number;
  readonly spans: number;
  readonly beforeMiB: number;
  readonly peakMiB: number;
}

answer(async ({ work, folder }: CollectInput): Promise<CollectOutput> => {
  const store = join(folder, "production");
  const beforeMiB = peakMiB();
  const start = performance.now();
  let spans: number;
  if (work === "import") {
    const counts = emptyCounts();
    const kept = new ProductionStore(store);
    const file = join(folder, "traces.jsonl");
    await importFile(file, { store: kept, format: "otel", counts });
    await kept.close();
    spans = counts.spans;
  } else {
    ({ spans } = await curate({ folder: store, output: join(folder, "curated"), unrated: true }));
  }
  return { seconds: (performance.now() - start) / 1000, spans, beforeMiB, peakMiB: peakMiB() };
});
