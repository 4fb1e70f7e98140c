/** What the end of a run means to those who look at it. */

const bad: ReadonlySet<string> = new Set(["failed", "stopped", "unreadable", "untrained"]);

/** It did not do what it was started for. */
export const isBadEnd = (status: string): boolean => bad.has(status);
