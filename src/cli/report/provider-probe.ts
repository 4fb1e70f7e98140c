/**
 * Run as a process of its own, since a provider's libraries may write to the terminal or end the
 * process: tries the provider that it is given, and prints one line of JSON.
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
