/** A bridge that answers, whoever started it; disposing of it ends what was started. */
import type { BridgeClient } from "./bridge-client.ts";

export interface OpenBridge extends AsyncDisposable {
  readonly client: BridgeClient;
  /** Of the child; null when the bridge was attached to. */
  readonly pid: number | null;
}
