/** An advisory as one pull request: the advisory and the edit of every catalog, with the proof in its text. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import { type ProposedAdvisory, proposeAdvisory } from '../../pipeline/github/proposals/advisory.ts';
import { unpaced } from '../fakes/github/client.ts';
import { type FakeForge, startForge, TOKEN } from '../fakes/github/forge.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';

let sample: SampleRepository;
let forge: FakeForge;
beforeEach(async () => {
  sample = sampleRepository();
  forge = await startForge(sample, []);
  sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'main' });
});
afterEach(async () => {
  await forge.close();
  sample.remove();
  expect(forge.defects).toEqual([]);
});

function advisory(version: string, more = ''): Uint8Array {
  return Buffer.from(`apiVersion: portolan/v1alpha1
kind: Advisory
package: harbour-operator
versions: ['${version}']
reason: {kind: data-loss}
action: yank
message: 'Loses data'
catalogs: [v4.20]
${more}`);
}

async function proposed(file: Uint8Array | undefined): Promise<ProposedAdvisory> {
  const url = `${forge.url}/example/catalogs.git`;
  const repository = openRemote(
    { url, header: authorizationHeader(TOKEN) },
    { searchPath: process.env['PATH'] },
  );
  const ports = { github: unpaced(forge), name: { owner: 'example', repo: 'catalogs' }, repository };
  try {
    return await proposeAdvisory(ports, { id: 'HARBOUR-1', file, base: 'main', today: '2026-01-01' });
  } finally {
    await repository.close();
  }
}

const BRANCH = 'portolan/advisory/HARBOUR-1';

test('one pull request with the advisory, the edit and the proof; proposed again it is the same', async () => {
  const file = advisory('1.3.0', 'withoutUpgradePath: [harbour-operator.v1.3.0]\n');
  expect((await proposed(file)).proposed).toMatchObject({ kind: 'opened', branch: BRANCH });
  const [pull] = forge.pulls.values();
  expect(pull?.title).toBe('Advisory HARBOUR-1: yank harbour-operator 1.3.0');
  expect(pull?.body).toContain(
    '| catalog | OLM | installations | end at a head before | after | without an upgrade path |',
  );
  expect(pull?.body).toContain('**no upgrade path**: stays: ');
  expect(sample.git('diff', '--name-only', `main...${BRANCH}`).split('\n')).toEqual([
    'advisories/HARBOUR-1.yaml',
    'catalogs/v4.20/harbour-operator/catalog.yaml',
  ]);
  expect(sample.git('show', `${BRANCH}:catalogs/v4.20/harbour-operator/catalog.yaml`)).not.toContain(
    'name: harbour-operator.v1.3.0\n',
  );
  expect((await proposed(file)).proposed.kind).toBe('standing');
  // Merged, nothing is left to change.
  sample.git('update-ref', 'refs/heads/main', sample.git('rev-parse', BRANCH));
  expect((await proposed(undefined)).proposed.kind).toBe('closed');
});

test('an edit that leaves somebody without an upgrade path is not proposed until the advisory names them', async () => {
  const { plans, proposed: left } = await proposed(advisory('1.3.0'));
  expect(left.kind).toBe('left');
  expect(plans.catalogs.map(({ unaccepted }) => unaccepted)).toEqual([['harbour-operator.v1.3.0']]);
  expect(forge.pulls.size).toBe(0);
});

test('the text of the pull request names a template that is to be changed by hand', async () => {
  const catalog = sample.git('show', 'main:catalogs/v4.20/harbour-operator/catalog.yaml');
  const [, image = ''] = /^ *image: (.*harbour.*)$/m.exec(catalog) ?? [];
  expect(image).not.toBe('');
  const text = `schema: olm.semver\ngenerateMinorChannels: true\nstable:\n  bundles:\n  - image: ${image}\n`;
  sample.commit({ 'template.yaml': text }, { parents: ['main'], branch: 'main' });
  const { templates } = await proposed(advisory('1.3.0', 'withoutUpgradePath: [harbour-operator.v1.3.0]\n'));
  expect(templates.map(({ path }) => path)).toEqual(['template.yaml']);
  const [pull] = forge.pulls.values();
  expect(pull?.body).toContain('**Templates to change before you merge:**\n\n- `template.yaml`: ');
  expect(pull?.body).toContain('portolan opm alpha convert-template basic');
});
