/** The payload of GitHub's event for a pull request, as far as anybody reads it. */
export interface EventFacts {
  /** Ids of commits. */
  readonly base: string;
  readonly head: string;
  readonly author: string;
  readonly draft?: boolean;
  /** What was done; a push when left out. */
  readonly action?: string;
}

const IDS: Readonly<Record<string, number>> = { anna: 101, grace: 102, mallory: 666 };

export function eventOf({ base, head, author, draft = false, action = 'synchronize' }: EventFacts): unknown {
  const person = { login: author, id: IDS[author] ?? 1, type: 'User' };
  return {
    action,
    number: 7,
    pull_request: {
      number: 7,
      draft,
      user: person,
      base: { ref: 'main', sha: base },
      head: { ref: 'change', sha: head },
    },
    repository: { full_name: 'example/catalogs', default_branch: 'main' },
    sender: person,
  };
}
