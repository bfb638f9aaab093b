/** The scene of a forge's contract over a fake repository of `hub.ts`, whose people act at once. */
import type { GateForge } from '../../pipeline/forge/forge.ts';
import type { ForgeScene } from './forge-contract.ts';
import { TOKEN } from './github/forge.ts';
import type { Hub } from './hub.ts';

const STATES = { approve: 'APPROVED', reject: 'CHANGES_REQUESTED', dismissed: 'DISMISSED' } as const;

export function hubScene(
  hub: Hub,
  forge: GateForge,
  written: Pick<ForgeScene, 'statuses' | 'comments' | 'comment'>,
): ForgeScene {
  const pullOf = (number: number) => {
    const pull = hub.forge.pulls.get(number);
    if (!pull) throw new Error(`no pull request ${number}`);
    return pull;
  };
  return {
    ...written,
    forge,
    git: `${hub.forge.url}/example/catalogs.git`,
    token: TOKEN,
    moveBase: (files) => void hub.moveBase(files),
    open: (files, author, pushed = true) => {
      const { number, head } = hub.open(files, { author, pusher: pushed ? author : undefined });
      return { number, head };
    },
    push: (number, files, author) => {
      const pull = pullOf(number);
      pull.head = hub.repository.commit(files, { parents: [pull.head], branch: `pull-${number}`, author });
      pull.pusher = author;
      return pull.head;
    },
    review: (number, by, state, commit) =>
      void pullOf(number).reviews.push({ by, state: STATES[state], commit }),
  };
}
