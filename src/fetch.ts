/**
 * `agent-trainer/fetch`: for applications whose clients are created once, outside of any rollout.
 *
 * @module fetch
 */
export {
  redirectFetch,
  rolloutFetch,
  type RedirectOptions,
} from "./rollouts/attempt/redirect-fetch.ts";
