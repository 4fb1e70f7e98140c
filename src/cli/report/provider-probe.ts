/**
 * Tries the execution provider named by its argument and prints one line of JSON. Runs as a separate
 * process, since a provider's libraries may write to the terminal or end the process.
 */
import { probeProvider } from "../../engine/probe-provider.ts";

const [provider = "cpu"] = process.argv.slice(2);
const result = await probeProvider(provider).then(
  ({ ms }) => ({ works: true, ms }),
  (error: unknown) => ({
    works: false,
    reason: error instanceof Error ? error.message : String(error),
  }),
);
process.stdout.write(`${JSON.stringify(result)}\n`);
