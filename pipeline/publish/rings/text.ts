/** Describes the state of rings for people. */
import { linesText, plain } from '../../text.ts';
import type { RingState } from './state.ts';

/** Each ring with its image and what waits for it, then the holds. */
export function ringsListText(states: readonly RingState[]): string {
  // What is left of a catalog whose rings were taken out of the policy is its history.
  const shown = states.filter(({ rings, holds }) => rings.length + holds.length > 0);
  if (shown.length === 0) return 'no rings have been looked at yet\n';
  return linesText(shown.flatMap((state) => [plain(state.catalog), ...ringLines(state)]));
}

function ringLines({ rings, waits, holds }: RingState): string[] {
  const lines = rings.flatMap(({ ring, tag, image }) => [
    `  ${plain(tag)}  ${image ? `${image.commit.slice(0, 12)} ${image.digest}` : 'nothing yet'}`,
    ...waits
      .filter((wait) => wait.ring === ring)
      .flatMap(({ commit, opens, why, packages }) => [
        `    waits  ${commit.slice(0, 12)} (opens ${opens.slice(0, 16)}Z at the earliest): ${plain(why.join('; '))}`,
        ...(packages.length === 0 ? [] : [`           ${plain(packages.join(', '))}`]),
      ]),
  ]);
  const held = holds.map(({ by, at, why, commit, bundle }) => {
    const what = [commit?.slice(0, 12), bundle].flatMap((one) => one ?? []).join(' ') || 'the whole catalog';
    return `  held  ${plain(what)} by ${plain(by)} since ${at.slice(0, 10)}: ${plain(why)}`;
  });
  return [...lines, ...held];
}
