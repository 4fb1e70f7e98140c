/** Adds files to the store; what it has already is passed over, so that a round may read a file again. */
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { importFile } from "../../production/import/import-file.ts";
import { emptyCounts } from "../../production/receiver/keep-otlp.ts";
import type { Feedback, FeedbackInput } from "../../production/store/feedback.ts";
import {
  ProductionStore,
  readFeedback,
  readSpans,
} from "../../production/store/production-store.ts";
import type { Span } from "../../production/store/span.ts";
import { DigestSet } from "../../util/digest-set.ts";
import type { CollectStage } from "../../runs/rounds/round.ts";
import { importOwn, ownFormats } from "../own-calls.ts";

const keyOfSpan = ({ traceId, id }: Span): string => `${traceId}/${id}`;

/** The same words of the same person, whenever they were said: a file may have no time. */
function keyOfFeedback({ at: _at, weightVersion: _version, ...said }: FeedbackInput): string {
  return JSON.stringify(Object.entries(said).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

class DistinctStore extends ProductionStore {
  readonly #spans = new DigestSet();
  readonly #feedback = new DigestSet();

  constructor(folder: string) {
    super(folder);
    for (const span of readSpans(folder)) this.#spans.add(keyOfSpan(span));
    for (const feedback of readFeedback(folder)) this.#feedback.add(keyOfFeedback(feedback));
  }

  override addSpans(spans: readonly Span[]): Promise<void> {
    return super.addSpans(spans.filter((span) => this.#spans.add(keyOfSpan(span))));
  }

  override addFeedback(given: readonly FeedbackInput[]): Promise<readonly Feedback[]> {
    return super.addFeedback(given.filter((one) => this.#feedback.add(keyOfFeedback(one))));
  }

  get counts(): Pick<CollectStage, "spans" | "feedback"> {
    return { spans: this.#spans.size, feedback: this.#feedback.size };
  }
}

export async function collectStage(
  { store: folder, files, format }: ImproveConfig["collect"],
  signal: AbortSignal,
): Promise<CollectStage> {
  if (format === null) return { files: 0, spans: 0, feedback: 0 };
  const store = new DistinctStore(folder);
  const before = store.counts;
  try {
    const options = { store, format, counts: emptyCounts(), signal };
    for (const file of files)
      await (ownFormats.includes(format) ? importOwn(file, options) : importFile(file, options));
  } finally {
    await store.close();
  }
  const { spans, feedback } = store.counts;
  return {
    files: files.length,
    spans: spans - before.spans,
    feedback: feedback - before.feedback,
  };
}
