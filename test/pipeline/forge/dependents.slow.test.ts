/** Which pull requests a push to their base branch concerns. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { concernedHeads } from '../../../pipeline/forge/dependents.ts';
import { authorizationHeader } from '../../../pipeline/git/process.ts';
import { BASE, catalogOf, POLICY } from '../../fakes/gate.ts';
import { TOKEN } from '../../fakes/github/forge.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';

const NAMING = `${POLICY}graph:
  installSets: [sets/prod.install]
  companions: ['others/{catalog}']
`;

let hub: Hub;
beforeEach(async () => {
  hub = await openHub({ ...BASE, '.github/portolan.yaml': NAMING });
});
afterEach(() => hub.close());

test.each([
  ['a text that no check reads', 'docs/guide.md', false],
  ['a program that no check reads', 'tools/build.py', false],
  ['the settings of operator-pipelines', 'config.yaml', true],
  ['a catalog outside the layout', 'more/catalog.json', true],
  ['a Dockerfile', 'images/catalog.Dockerfile', true],
  ['a set of operators that the policy names', 'sets/prod.install', true],
  ['a companion that the policy names', 'others/v4.20/notes.txt', true],
])('a push of %s', async (_, path, isConcerned) => {
  const pull = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']) });
  const own = hub.open({ [path]: 'mine' });
  const before = hub.base();
  const after = hub.moveBase({ [path]: 'theirs' });
  const heads = [pull, own].map(({ head: commit, number }) => ({
    commit,
    pulls: [number],
    branches: ['main'],
  }));
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  const ports = { remote, git: { searchPath: process.env['PATH'] } };
  const concerned = await concernedHeads(ports, heads, { branch: 'main', before, after });
  expect(concerned).toEqual(isConcerned ? heads : heads.slice(1));
});
