/** A catalog repository on the fake GitHub, with its people, and pull requests to it. */
import { BASE, PEOPLE } from './gate.ts';
import { type FakeForge, type FakePull, startForge } from './github/forge.ts';
import { type Files, makeRepository, type TestRepository } from './repository.ts';

export interface Hub {
  readonly forge: FakeForge;
  readonly repository: TestRepository;
  readonly log: string[];
  /** Id of the branch's tip. */
  base(): string;
  /** Id of a branch's tip. */
  tip(branch: string): string;
  /** @param merged id of a commit that comes in with a merge */
  moveBase(files: Files, merged?: string): string;
  open(head: Files, more?: Partial<FakePull>): FakePull;
  /** Another commit on top of the pull request's head. */
  push(pull: FakePull, files: Files): void;
  /** Puts pull requests into the merge queue; gives the commits of its groups. */
  queue(pulls: readonly FakePull[]): string[];
  close(): Promise<void>;
}

export async function openHub(files: Files = BASE): Promise<Hub> {
  const repository = makeRepository();
  let base = repository.commit(files);
  const accounts = Object.values(PEOPLE).flatMap(({ login, id }) =>
    id === undefined ? [] : [{ login, id }],
  );
  const forge = await startForge(repository, accounts);
  return {
    forge,
    repository,
    log: [],
    base: () => base,
    tip: (branch) => (branch === 'main' ? base : repository.git('rev-parse', `refs/heads/${branch}`).trim()),
    moveBase: (changed, merged) => {
      base = repository.commit(changed, { parents: merged === undefined ? [base] : [base, merged] });
      return base;
    },
    open: (head, more = {}) => {
      const number = forge.pulls.size + 7;
      const author = more.author ?? 'bob';
      const branch = more.branch ?? `pull-${number}`;
      const commit = repository.commit(head, { parents: [base], branch: `pull-${number}`, author });
      const pull: FakePull = {
        number,
        author,
        base,
        head: commit,
        branch,
        pusher: author,
        draft: false,
        state: 'open',
        labels: [],
        reviews: [],
        ...more,
      };
      forge.pulls.set(number, pull);
      return pull;
    },
    push: (pull, changed) => {
      pull.head = repository.commit(changed, { parents: [pull.head], branch: `pull-${pull.number}` });
    },
    queue: (pulls) => {
      let at = base;
      return pulls.map((pull) => {
        const tree = repository.git('merge-tree', '--write-tree', at, pull.head);
        const head = repository.git('commit-tree', tree, '-p', at, '-m', 'queued');
        forge.queue.push({ number: pull.number, head, base: at, pullHead: pull.head });
        at = head;
        return head;
      });
    },
    close: async () => {
      await forge.close();
      repository.remove();
    },
  };
}
