/** How people mark a pull request that must not be merged yet. */
import type { OpenPull } from './forge.ts';

/** Labels that mark a pull request as waiting. */
const HOLD = /^(?:hold|wip|do-not-merge(?:[/-].*)?)$/is;

/** Whether a label keeps a pull request from being merged. */
export function isHold(label: string): boolean {
  return HOLD.test(label);
}

/** Why a pull request waits, in words, whatever the order of its labels. */
export function holdsOf({ draft, labels }: Pick<OpenPull, 'draft' | 'labels'>): string[] {
  return [
    ...(draft ? ['the pull request is a draft'] : []),
    ...labels.filter(isHold).map((label) => `it has the label ${JSON.stringify(label)}`),
  ];
}
