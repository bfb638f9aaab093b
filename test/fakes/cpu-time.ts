/**
 * Starts to count the CPU time of this process, in ms: what else a busy machine does is no part of it. For work that
 * takes minutes if its cost grows with the square of its input.
 */
export function cpuTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}
