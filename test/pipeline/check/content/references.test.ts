import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { clientUnder } from '../../../../pipeline/catalogs/references/client.ts';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import type { CheckReport } from '../../../../pipeline/check/report.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { testClient } from '../../../fakes/host.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { freePort } from '../../../fakes/tools.ts';

let git: TestRepository;
beforeEach(() => {
  git = makeRepository();
});
afterEach(() => git.remove());

const PATH = 'catalogs/v1/tug/catalog.yaml';

function policy(allow: string, more: string): string {
  return `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {allow: [${allow}], ${more}}\n`;
}

const INTERNAL = "internal: ['127.0.0.1']";

/** A package with one bundle for each of the images, each replacing the one before. */
function tug(...images: readonly string[]): string {
  const entries = images.map(
    (_, i) => `- name: tug.v1.${i}.0${i === 0 ? '' : `\n  replaces: tug.v1.${i - 1}.0`}`,
  );
  const bundles = images.map(
    (image, i) => `---
schema: olm.bundle
package: tug
name: tug.v1.${i}.0
image: ${image}
properties: [{type: olm.package, value: {packageName: tug, version: 1.${i}.0}}]
`,
  );
  const channel = `---\nschema: olm.channel\npackage: tug\nname: stable\nentries:\n${entries.join('\n')}\n`;
  return `schema: olm.package\nname: tug\ndefaultChannel: stable\n${channel}${bundles.join('')}`;
}

/** Images of `registry.invalid/org` are on the registry of a test. */
const mirrored = ({ host }: TestRegistry): string =>
  `mirrors: [{source: registry.invalid/org, mirrors: ['${host}/org'], mirrorSourcePolicy: NeverContactSource}]`;

async function reportOf(
  allow: string,
  plainHttp: readonly string[],
  images: readonly string[],
  more = INTERNAL,
): Promise<CheckReport> {
  const [first = ''] = images;
  const base = git.commit({ '.github/portolan.yaml': policy(allow, more), [PATH]: tug(first) });
  const head = git.commit({ [PATH]: tug(...images) }, { parents: [base], branch: 'more' });
  const repository = await openRepository(git.directory, { searchPath: process.env['PATH'] });
  try {
    const registryFor = (of: Parameters<typeof clientUnder>[0]) =>
      clientUnder(of, { plainHttp, retry: { attempts: 1 } });
    return await checkPullRequest(repository, { base, head, today: '2026-11-21', registryFor });
  } finally {
    await repository.close();
  }
}

async function push({ host }: TestRegistry, name: string): Promise<string> {
  const reference = `${host}/org/${name}:v1`;
  await pushImage(testClient([host]), parseReference(reference), { image: sampleImage() });
  return reference;
}

const rulesIn = ({ findings }: CheckReport): string[] => findings.map(({ rule }) => rule);

test('a tag that exists is no error; one that does not exist is, on its line', async () => {
  const far = await registry();
  const there = await push(far, 'there');
  const images = ['example.com/old:v1', there, `${far.host}/org/absent:v1`];
  const report = await reportOf(`'${far.host}'`, [far.host], images);
  expect(report.verdict).toBe('fail');
  expect(report.findings.filter(({ severity }) => severity === 'error')).toMatchObject([
    { rule: 'image/tag-missing', package: 'tug', location: { file: PATH, line: 30 } },
  ]);
  expect(report.unchecked).toEqual([]);
});

test('what the base names already is not asked for again', async () => {
  const far = await registry();
  const there = await push(far, 'there');
  const report = await reportOf(`'${far.host}'`, [far.host], [`${far.host}/org/gone:v1`, there]);
  expect(rulesIn(report)).not.toContain('image/tag-missing');
});

test('a host that the policy does not allow is not asked, and is a finding', async () => {
  const far = await registry();
  const report = await reportOf('quay.io', [far.host], ['quay.io/org/old:v1', `${far.host}/org/app:v1`]);
  expect(rulesIn(report)).toContain('image/registry');
  expect(far.seen).toEqual([]);
});

test('a registry that does not respond: nobody can tell', async () => {
  withoutWaiting();
  const host = `127.0.0.1:${await freePort()}`;
  const report = await reportOf(`'${host}'`, [host], ['example.com/old:v1', `${host}/org/app:v1`]);
  expect(report.verdict).toBe('inconclusive');
  expect(report.headline).toContain(host);
  expect(report.unchecked).toHaveLength(1);
});

test('a policy that allows nothing: said, and no verdict', async () => {
  const report = await reportOf('', [], ['example.com/old:v1', 'example.com/new:v1']);
  expect(report.verdict).toBe('pass');
  expect(report.unchecked).toEqual([
    { what: '1 new reference', why: 'the policy does not allow access to any registry (registries.allow)' },
  ]);
});

test('mirrors of the policy are asked in place of the source', async () => {
  const far = await registry();
  await push(far, 'there');
  const names = ['old', 'there', 'absent'].map((name) => `registry.invalid/org/${name}:v1`);
  const report = await reportOf('registry.invalid', [far.host], names, `${mirrored(far)}, ${INTERNAL}`);
  expect(report.findings.filter(({ severity }) => severity === 'error')).toMatchObject([
    { rule: 'image/tag-missing', message: expect.stringContaining('registry.invalid/org/absent:v1') },
  ]);
  expect(report.unchecked).toEqual([]);
});

test('a mirror is not asked for what the policy does not allow, nor on an internal network that it does not name', async () => {
  const far = await registry();
  await push(far, 'there');
  const names = ['old', 'there'].map((name) => `registry.invalid/org/${name}:v1`);
  const asked = far.seen.length;
  const foreign = await reportOf('quay.io', [far.host], names, `${mirrored(far)}, ${INTERNAL}`);
  expect(rulesIn(foreign)).toContain('image/registry');
  const hidden = await reportOf('registry.invalid', [far.host], names, mirrored(far));
  expect(hidden.verdict).toBe('inconclusive');
  expect(far.seen).toHaveLength(asked);
});
