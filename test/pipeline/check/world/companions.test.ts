import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { isPath } from '../../../../pipeline/check/world/companions.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../fakes/folder.ts';
import { operator } from '../../../fakes/gate.ts';
import { testClient } from '../../../fakes/host.ts';
import { labelledImage } from '../../../fakes/labelled-image.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const CONFIGS = 'operators.operatorframework.io.index.configs.v1';
const KIND = { group: 'etcd.io', version: 'v1', kind: 'EtcdCluster' };
const PROVIDES = { type: 'olm.gvk', value: KIND };
const REQUIRES = { type: 'olm.gvk.required', value: KIND };
/** Nobody listens there. */
const SILENT = '127.0.0.1:9';

interface Report {
  readonly verdict: string;
  readonly headline: string;
  readonly findings: readonly {
    readonly rule: string;
    readonly severity: string;
    readonly message: string;
  }[];
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

const QUAY = 'catalogs/v4.20/quay/catalog.yaml';

/** A pull request that brings an operator that requires another, under a policy with companions. */
async function checked(
  companions: string,
  base: Files,
  more: readonly string[] = [],
  policyLines = '',
): Promise<Report> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [, host = SILENT] = more;
  const policy = `apiVersion: portolan/v1alpha1
kind: Portolan
registries: {allow: ['${host}'], internal: ['${SILENT}']}
rules: {image/*: off}
graph: {companions: [${companions}]}
${policyLines}`;
  const head = { [QUAY]: operator('quay', ['3.0.0'], REQUIRES) };
  const [before = '', after = ''] = repository.chain({ '.github/portolan.yaml': policy, ...base }, head);
  const words = ['check', '--base', before, '--head', after, '--format', 'json', ...more];
  return JSON.parse((await portolan(repository.directory, ...words)).out);
}

const unmet = ({ findings }: Report): string[] =>
  findings.filter(({ rule }) => rule === 'graph/unsatisfied-dependency').map(({ severity }) => severity);

const BASE: Files = { 'catalogs/v4.20/vault/catalog.yaml': operator('vault', ['5.0.0']) };

describe('a companion in the repository', () => {
  test('provides what operators require', async () => {
    const beside = { ...BASE, 'beside/v4.20/etcd.yaml': operator('etcd', ['1.0.0'], PROVIDES) };
    expect(unmet(await checked("'beside/{catalog}'", beside))).toEqual([]);
    expect(unmet(await checked("'./beside/v4.20/etcd.yaml'", beside))).toEqual([]);
  });

  test('that does not provide it makes the lack certain', async () => {
    const beside = { ...BASE, 'beside/v4.20/etcd.yaml': operator('etcd', ['1.0.0']) };
    const report = await checked("'beside/{catalog}'", beside);
    expect(unmet(report)).toEqual(['error']);
    expect(report.verdict).toBe('fail');
    // Without companions nobody knows what clusters have beside.
    expect(unmet(await checked('', beside))).toEqual(['warning']);
  });

  test('that is not there leaves the check undecided', async () => {
    expect(await checked("'beside/{catalog}'", BASE)).toMatchObject({
      verdict: 'inconclusive',
      headline: expect.stringContaining('beside/v4.20 is not in the repository'),
      unchecked: [{ what: expect.stringContaining('the companion catalog beside/{catalog} of v4.20') }],
    });
  });

  test('that cannot be read leaves the check undecided', async () => {
    const broken = { ...BASE, 'beside/v4.20/etcd.yaml': 'schema: [\n' };
    expect((await checked("'beside/{catalog}'", broken)).verdict).toBe('inconclusive');
  });

  test('that is larger than the bound is not read', async () => {
    const large = operator('etcd', ['1.0.0', '1.1.0', '1.2.0', '1.3.0'], PROVIDES);
    const beside = { ...BASE, 'beside/v4.20/etcd.yaml': large };
    const report = await checked("'beside/{catalog}'", beside, [], 'limits: {contextBytes: 700}\n');
    expect(report).toMatchObject({
      verdict: 'inconclusive',
      unchecked: expect.arrayContaining([
        expect.objectContaining({ why: expect.stringContaining('limits.contextBytes') }),
      ]),
    });
  });
});

/** A registry with an index image in which etcd provides something, or not. */
async function index(...more: readonly object[]): Promise<TestRegistry> {
  const served = await registry();
  const files = { 'configs/etcd/catalog.json': operator('etcd', ['1.0.0'], ...more) };
  const image = await labelledImage({ [CONFIGS]: '/configs' }, files);
  await pushImage(testClient([served.host]), parseReference(`${served.host}/org/index:v4.20`), { image });
  served.seen.length = 0;
  return served;
}

describe('a companion in a registry', () => {
  test('provides what operators require, and is read once for its digest', async () => {
    const served = await index(PROVIDES);
    const cache = folder();
    const read = async (): Promise<string[]> => {
      const more = ['--insecure', served.host, '--cache', cache];
      return unmet(await checked(`'${served.host}/org/index:v{minor}'`, BASE, more));
    };
    const blobs = (): number => served.seen.filter(({ url }) => url.includes('/blobs/')).length;
    expect(await read()).toEqual([]);
    const first = blobs();
    expect(first).toBeGreaterThan(0);
    expect(await read()).toEqual([]);
    expect(blobs()).toBe(first);
    // What is kept, and cannot be read, is read from the registry again.
    const broken = Buffer.from('{"schema":');
    const digest = createHash('sha256').update(broken).digest();
    for (const name of readdirSync(cache)) writeFileSync(join(cache, name), Buffer.concat([digest, broken]));
    expect(await read()).toEqual([]);
    expect(blobs()).toBe(2 * first);
  });

  test('that does not provide it makes the lack certain', async () => {
    const served = await index();
    const more = ['--insecure', served.host];
    expect(unmet(await checked(`'${served.host}/org/index:{catalog}'`, BASE, more))).toEqual(['error']);
  });

  test('that does not respond leaves the check undecided', async () => {
    withoutWaiting();
    const report = await checked(`'${SILENT}/org/index:v4.20'`, BASE, ['--insecure', SILENT]);
    expect(report).toMatchObject({
      verdict: 'inconclusive',
      unchecked: [
        { what: expect.stringContaining(`the companion catalog ${SILENT}/org/index:v4.20 of v4.20`) },
      ],
    });
    expect(unmet(report)).toEqual(['warning']);
  });
});

test.each([
  ['quay.io/org/index:v4.20', false],
  ['localhost/org/index', false],
  ['127.0.0.1:5000/org/index', false],
  ['catalogs/redhat', true],
  ['./catalogs.d/redhat', true],
  ['redhat', true],
])('%s is a path in the repository: %s', (text, expected) => {
  expect(isPath(text)).toBe(expected);
});
