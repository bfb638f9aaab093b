/**
 * What a change brings: the findings of a state that the state before did not have.
 * Findings that a maintainer already lives with must not hold up somebody else.
 */
import type { Finding } from '../finding.ts';

/** Findings of `after` that have no counterpart in `before`; versions and lines may differ. */
export function introduced(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const known = new Map<string, number>();
  for (const finding of before) known.set(keyOf(finding), (known.get(keyOf(finding)) ?? 0) + 1);
  return after.filter((finding) => {
    const key = keyOf(finding);
    const left = known.get(key) ?? 0;
    known.set(key, left - 1);
    return left <= 0;
  });
}

function keyOf({ rule, package: ofPackage = '', channel = '', message }: Finding): string {
  return JSON.stringify([rule, ofPackage, channel, message.replaceAll(VERSION, 'X')]);
}

/** Versions, alone or at the end of a bundle's name, and counts. */
const VERSION = /v?[0-9][0-9A-Za-z.+-]*/g;
