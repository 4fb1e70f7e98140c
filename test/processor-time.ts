/** Seconds of processor time, which a busy machine does not stretch as it stretches seconds of a clock. */

/** Of this process, with all its threads, since a moment. */
export function processorClock(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
}
