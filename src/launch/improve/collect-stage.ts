/** Adds files to the store; what it has already is passed over, so that a round may read a file again. */
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { importFile } from "../../production/import/import-file.ts";
import { emptyCounts } from "../../production/receiver/keep-otlp.ts";
import { ProductionStore, readSpans } from "../../production/store/production-store.ts";
import type { Span } from "../../production/store/span.ts";
import { DigestSet } from "../../util/digest-set.ts";
import type { CollectStage } from "../../runs/rounds/round.ts";
import { importOwn, ownFormats } from "../own-calls.ts";

const keyOfSpan = ({ traceId, id }: Span): string => `${traceId}/${id}`;

class DistinctStore extends ProductionStore {
  readonly #spans = new DigestSet();

  constructor(folder: string) {
    super(folder);
    for (const span of readSpans(folder)) this.#spans.add(keyOfSpan(span));
  }

  override addSpans(spans: readonly Span[]): Promise<void> {
    return super.addSpans(spans.filter((span) => this.#spans.add(keyOfSpan(span))));
  }

  get spans(): number {
    return this.#spans.size;
  }
}

export async function collectStage(
  { store: folder, files, format }: ImproveConfig["collect"],
  signal: AbortSignal,
): Promise<CollectStage> {
  if (format === null) return { files: 0, spans: 0, feedback: 0 };
  const store = new DistinctStore(folder);
  const before = store.spans;
  const counts = emptyCounts();
  try {
    const options = { store, format, counts, signal };
    for (const file of files)
      await (ownFormats.includes(format) ? importOwn(file, options) : importFile(file, options));
  } finally {
    await store.close();
  }
  return { files: files.length, spans: store.spans - before, feedback: counts.feedback };
}
