/** What the routes of the Fireworks wire share. */
import type { TinkerService } from "../../../src/tinker-server/service.ts";

export interface FireworksParts {
  readonly service: TinkerService;
  /** The one account that there is: the id in `accounts/<id>`. */
  readonly account: string;
  /** How long a request for a result waits. */
  readonly pollMs: number;
  /** Larger results are announced first to a client that wants to know their size. */
  readonly metadataBytes: number;
  /** Of a body. */
  readonly maxBodyBytes: number;
}
