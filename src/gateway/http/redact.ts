/** Where the gateway's own code finds it. */
export { redact } from "../../util/redact.ts";
