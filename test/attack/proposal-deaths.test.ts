/** A proposal that dies at any of its requests, and is made again: one pull request, with the same tree. */
import { expect, test } from 'vitest';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import type { Content } from '../../pipeline/github/git-data.ts';
import { type Proposed, proposeChange } from '../../pipeline/github/proposals/proposal.ts';
import { unpaced } from '../fakes/github/client.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { type Hub, openHub } from '../fakes/hub.ts';

const BRANCH = 'portolan/drift/v4.20';

async function proposed(hub: Hub, text: string | undefined): Promise<Proposed> {
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  const repository = openRemote(remote, { searchPath: process.env['PATH'] });
  const make = async (tip: string) => {
    await repository.bring([tip]);
    const files = new Map<string, Content>(text === undefined ? [] : [['a/b', Buffer.from(text)]]);
    return { title: `a/b is ${text}`, body: `${text}\n`, files };
  };
  const ports = { github: unpaced(hub.forge), name: { owner: 'example', repo: 'catalogs' } };
  try {
    return await proposeChange({ ...ports, repository }, { subject: 'drift/v4.20', base: 'main', make });
  } finally {
    await repository.close();
  }
}

interface Scenario {
  readonly before: readonly string[];
  readonly last: string | undefined;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'it is opened': { before: [], last: '1' },
  'it is changed': { before: ['1'], last: '2' },
  'it is taken back': { before: ['1'], last: undefined },
};

/** What is left, whatever happened on the way. */
function left({ forge, repository }: Hub): unknown {
  const open = [...forge.pulls.values()].filter(({ state }) => state === 'open');
  const branch = repository.git('branch', '--list', BRANCH) !== '';
  return {
    open: open.map(({ title, body, branch: name }) => [title, body, name]),
    tree: branch ? repository.git('rev-parse', `${BRANCH}^{tree}`) : undefined,
    sees: branch ? repository.git('diff', '--name-only', `main...${BRANCH}`) : undefined,
  };
}

/** @returns how many requests the last proposal takes, and what is left */
async function run({ before, last }: Scenario, dies: number, answered: boolean): Promise<[number, unknown]> {
  const hub = await openHub();
  try {
    for (const text of before) await proposed(hub, text);
    hub.moveBase({ 'README.md': 'moved' });
    const already = hub.forge.asked.length;
    const dead = (): boolean => hub.forge.asked.length === already + dies;
    // The server did what it was asked, and nobody heard of it; or it never did.
    hub.forge.faults.push(() => (dead() && !answered ? 'cut' : undefined));
    if (answered) hub.forge.deaf = dead;
    await proposed(hub, last).catch(() => undefined);
    const requests = hub.forge.asked.length - already;
    hub.forge.faults.length = 0;
    hub.forge.deaf = undefined;
    await proposed(hub, last);
    expect(hub.forge.defects).toEqual([]);
    return [requests, left(hub)];
  } finally {
    await hub.close();
  }
}

test.each(Object.entries(SCENARIOS))(
  '%s',
  async (_, scenario) => {
    const [requests, undisturbed] = await run(scenario, 0, false);
    expect(requests).toBeGreaterThan(4);
    for (const answered of [false, true]) {
      for (let dies = 1; dies <= requests; dies++) {
        const [, end] = await run(scenario, dies, answered);
        expect(end, `request ${dies}, answered: ${answered}`).toEqual(undisturbed);
      }
    }
  },
  300_000,
);
