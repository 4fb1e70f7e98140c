/** A running bridge, whichever way it was started; disposing of it ends what was started here. */
import type { BridgeClient } from "./bridge-client.ts";

export interface OpenBridge extends AsyncDisposable {
  readonly client: BridgeClient;
  /** Process id of the child; null when the bridge was attached to. */
  readonly pid: number | null;
}
