/** What users said of each version of a served model, for the viewer. */
import { ServedCalls } from "../../launch/serve/served-calls.ts";
import { ProductionStore } from "../../production/store/production-store.ts";
import type { FindFeedback } from "../../view/server/rounds.ts";

/** A store is read again when it has grown. */
export function createFeedbackReader(): FindFeedback {
  const read = new Map<string, { bytes: number; found: ReturnType<FindFeedback> }>();
  return (store) => {
    const { bytes } = new ProductionStore(store);
    const before = read.get(store);
    if (before?.bytes === bytes) return before.found;
    const found = new Map(new ServedCalls(store).versions());
    read.set(store, { bytes, found });
    return found;
  };
}
