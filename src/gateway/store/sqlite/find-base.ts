/** Which stored trace a new one is best stored as a continuation of. */
import type { Trace } from "../../../core/trace.ts";
import { commonPrefix } from "../../../util/token-prefix.ts";
import type { KnownTrace, KnownTraces } from "./known-traces.ts";
import { keptMessages } from "./trace-row.ts";

/** With less in common than this, a reference costs more than it saves. */
const minTokens = 16;

function gainOf(trace: Trace, base: KnownTrace): number {
  const tokens = commonPrefix(trace.promptIds, base.tokens);
  const messages = keptMessages(trace.messages, base.trace);
  return tokens < minTokens && messages === 0 ? 0 : tokens + minTokens * messages;
}

/** Among the latest of the session. A parent that the trace names is better, where there is one. */
export function findBase(trace: Trace, known: KnownTraces): KnownTrace | undefined {
  let best: KnownTrace | undefined;
  let most = 0;
  for (const candidate of known.recent(trace.sessionUid)) {
    const gain = gainOf(trace, candidate);
    if (gain <= most) continue;
    best = candidate;
    most = gain;
  }
  // Where an earlier trace does as well, taking it keeps chains short, and thereby reading fast.
  for (;;) {
    const earlier = best?.baseUid === undefined ? undefined : known.get(best.baseUid);
    if (!earlier || gainOf(trace, earlier) < most) return best;
    best = earlier;
  }
}
