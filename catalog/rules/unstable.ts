/** Channels with names that mark them as unstable. */
const UNSTABLE =
  /(?:^|[^a-z])(?:alpha|beta|candidate|nightly|preview|dev|edge|experimental|next|rc|unstable|test)(?:[^a-z]|$)/i;

export function isUnstable(channel: string): boolean {
  return UNSTABLE.test(channel);
}
