/**
 * Refuses an execution provider that cannot be used here: it may be part of the installed build and
 * still lack a device or a library, or compute something else than the CPU.
 */
import { ConfigError } from "../core/errors.ts";
import { raceAbort } from "../util/abort.ts";
import { probeProvider } from "./probe-provider.ts";
import type { Provider } from "./provider.ts";
import { listProviders, runtimeVersion } from "./runtime.ts";

/** Loading a device's libraries and compiling for it for the first time is slow. */
const limitMs = 120_000;

/** Runs small graphs on it. @throws ConfigError saying what is missing, what is wrong, or that it hangs */
export async function requireProvider(provider: Provider): Promise<void> {
  if (provider === "cpu") return;
  const installed = (await listProviders()).map(({ name }) => name);
  const fields = { option: "local.provider", provider, installed };
  if (!installed.includes(provider)) {
    if (provider === "cpu-bf16")
      throw new ConfigError({
        message: `local.provider is "cpu-bf16", which needs an ARM64 processor and Linux; this machine is ${process.platform} ${process.arch}.`,
        hint: "Leave it out to compute in 32-bit floats.",
        fields,
      });
    throw new ConfigError({
      message: `local.provider is "${provider}", but the installed onnxruntime-node ${await runtimeVersion()} (${process.platform} ${process.arch}) has no such provider; it has ${installed.join(", ")}.`,
      hint: "Choose one of those, or leave it out to compute on the processor.",
      fields,
    });
  }
  try {
    await raceAbort(probeProvider(provider), AbortSignal.timeout(limitMs));
  } catch (cause) {
    const reason = providerReason(cause instanceof Error ? cause.message : String(cause));
    throw new ConfigError({
      message: `local.provider is "${provider}", which does not work on this machine: ${reason}`,
      hint: "`agent-trainer doctor` tries every provider. Leave it out to compute on the processor.",
      fields,
      cause,
    });
  }
}

/** The last sentence of the runtime's message; source code locations precede it. */
export function providerReason(message: string): string {
  const [line = ""] = message.trim().split("\n");
  return /was false\. (.+)$/u.exec(line)?.[1] ?? line.replace(/^OrtSessionOptions\w+: /u, "");
}
