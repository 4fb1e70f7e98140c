/** How much memory this process may use: the machine's, or the limit of its container. */
import { totalmem } from "node:os";

/** In bytes. A limit of the process (a cgroup's) counts where there is one below the machine's memory. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}
