/** What findings are recognized by from one report to the next. */
import { createHash } from 'node:crypto';
import type { Finding } from '../../catalog/finding.ts';

/** References to lines, which change with every edit above them. */
const LINES = /:\d+(?::\d+)?\b/g;

/**
 * Makes the fingerprints of one report's findings: of the rule and what it is about, never a line. Findings that have
 * that in common are numbered, so each fingerprint is there once.
 */
export function findingPrints(): (finding: Finding) => string {
  const seen = new Map<string, number>();
  return ({ rule, package: of, channel, subject, installed, message, location }) => {
    const about = subject ?? installed ?? message.replaceAll(LINES, '');
    const identity = JSON.stringify([rule, of, channel, about, location.file]);
    const digest = createHash('sha256').update(identity).digest('hex').slice(0, 32);
    const count = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, count);
    return `${digest}:${count}`;
  };
}
