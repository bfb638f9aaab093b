/** Channels that say by their names that they are no place to stay. */
const UNSTABLE =
  /(?:^|[^a-z])(?:alpha|beta|candidate|nightly|preview|dev|edge|experimental|next|rc|unstable|test)(?:[^a-z]|$)/i;

export function isUnstable(channel: string): boolean {
  return UNSTABLE.test(channel);
}
