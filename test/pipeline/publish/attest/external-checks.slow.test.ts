/** External checks by name: what signed statements about an image say, and whose statements count. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { lookUp } from '../../../../pipeline/catalogs/references/look-up.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { attestationDemands } from '../../../../pipeline/policy/registries.ts';
import type { Descriptor, Registry } from '../../../../pipeline/ports.ts';
import { type Attachment, attachDocument } from '../../../../pipeline/publish/attest/artifact.ts';
import { BUNDLE_TYPE, signedStatement } from '../../../../pipeline/publish/attest/sign.ts';
import { testClient } from '../../../fakes/host.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const PREFLIGHT = 'https://example.com/preflight/v1';
const SCAN = 'https://example.com/scan/v1';
const TESTED = 'https://in-toto.io/attestation/test-result/v0.1';
const ours = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const theirs = generateKeyPairSync('ec', { namedCurve: 'P-256' });

interface Statement {
  readonly type: string;
  readonly predicate?: object;
  readonly key?: KeyObject;
  /** Of another image. */
  readonly digest?: string;
}

/** What else is beside the image, and how the registry lists it. */
interface Beside {
  /** What a test's statement must say, in the policy. */
  readonly required?: { readonly result?: unknown };
  readonly attachment?: Attachment;
  readonly through?: (client: Registry) => Registry;
}

/** Pushes an image with statements about it. @returns what the checks that the policy demands of it came to */
async function checksOf(statements: readonly Statement[], name = 'acme/bundle') {
  const found = await lookedUp(statements, name);
  expect(found?.kind).toBe('found');
  return found?.kind === 'found' ? found.checks : undefined;
}

async function lookedUp(statements: readonly Statement[], name = 'acme/bundle', beside: Beside = {}) {
  const isTested = statements.some(({ type }) => type === TESTED);
  const { host } = await registry();
  const client = testClient([host]);
  const reference = parseReference(`${host}/${name}:v1`);
  const image = sampleImage({ layers: [name] });
  await pushImage(client, reference, { image });
  for (const { type, predicate = {}, key = ours.privateKey, digest = image.root.digest } of statements) {
    const [algorithm = '', hex = ''] = digest.split(':');
    const statement = {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ digest: { [algorithm]: hex } }],
      predicateType: type,
      predicate,
    };
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    const bytes = Buffer.from(JSON.stringify(statement));
    const signed = await signedStatement(bytes, type, { kind: 'key', key: pem });
    await attachDocument(client, { reference, manifest: image.root }, signed);
  }
  const { attachment, through = (client) => client, required = {} } = beside;
  if (attachment) await attachDocument(client, { reference, manifest: image.root }, attachment);
  const keys = [ours.publicKey.export({ type: 'spki', format: 'pem' }).toString()];
  const demand = (check: string, predicateType: string) => ({
    ...{ name: check, predicateType, keys },
    from: [`${host}/acme`],
  });
  const { policy, findings } = readPolicy(
    Buffer.from(
      JSON.stringify({
        ...{ apiVersion: 'portolan/v1alpha1', kind: 'Portolan' },
        registries: {
          attestations: [
            demand('preflight', PREFLIGHT),
            demand('scan', SCAN),
            ...(isTested ? [{ ...demand('tested', TESTED), ...required }] : []),
          ],
        },
      }),
    ),
  );
  expect(findings).toEqual([]);
  const attested = policy && attestationDemands(policy);
  const [found] = (await lookUp([reference], { registry: through(client), attested })).values();
  return found;
}

test('every check that the policy names needs a statement of its type', async () => {
  expect(await checksOf([{ type: PREFLIGHT, predicate: { result: 'PASSED' } }])).toEqual([
    { name: 'preflight', kind: 'passed', by: 'key 1' },
    { name: 'scan', kind: 'missing', why: 'it has no such statement' },
  ]);
  expect(await checksOf([], 'other/bundle')).toBeUndefined();
});

test.each([
  ['by somebody else', { type: SCAN, key: theirs.privateKey }, 'it was not made with a trusted key'],
  ['about another image', { type: SCAN, digest: `sha256:${'b'.repeat(64)}` }, 'it belongs to another image'],
  ['of a failed test', { type: SCAN, predicate: { result: 'FAILED' } }, 'does not say PASSED'],
  [
    'of a failed verification',
    { type: SCAN, predicate: { verificationResult: 'FAILED' } },
    'does not say PASSED',
  ],
])('a statement %s does not count', async (_, statement, why) => {
  const checks = await checksOf([{ type: PREFLIGHT, predicate: { result: 'PASSED' } }, statement]);
  expect(checks).toEqual([
    { name: 'preflight', kind: 'passed', by: 'key 1' },
    { name: 'scan', kind: 'missing', why: expect.stringContaining(why) },
  ]);
});

test('attack 46: a statement of a type that has results does not count without one', async () => {
  for (const [predicate, kind] of [
    [{}, 'missing'],
    [{ result: 'PASSED' }, 'passed'],
  ] as const) {
    const checks = await checksOf([{ type: TESTED, predicate }]);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'tested', kind }));
  }
});

const VULNERABLE = { scanner: { result: { critical: 2, verdict: 'bad' } }, list: ['ok'] };
const SOUND = { scanner: { result: { critical: 0, verdict: 'good' } }, list: ['ok'] };

test.each([
  [{}, 'none', 'passed', ''],
  [{ result: 'FAILED' }, 'none', 'missing', 'does not say PASSED'],
  [{ result: 'PASSED' }, undefined, 'passed', ''],
  [{ result: 'passed' }, undefined, 'missing', 'does not say PASSED'],
  [{ result: ['PASSED'] }, undefined, 'missing', 'does not say PASSED'],
  [{ result: null, verificationResult: 'PASSED' }, undefined, 'missing', 'does not say PASSED'],
  [SOUND, undefined, 'missing', 'has no result (policy: result)'],
  [SOUND, { 'scanner.result.critical': 0 }, 'passed', ''],
  [VULNERABLE, { 'scanner.result.critical': 0 }, 'missing', 'says scanner.result.critical: 2, not 0'],
  [VULNERABLE, { 'scanner.result.critical': 2, 'scanner.result.verdict': 'good' }, 'missing', 'verdict: bad'],
  [{ ...SOUND, result: 'FAILED' }, { 'scanner.result.critical': 0 }, 'missing', 'does not say PASSED'],
  [SOUND, { 'scanner.result': 'good' }, 'missing', 'says scanner.result: nothing, not good'],
  [SOUND, { list: 'ok' }, 'missing', 'says list: nothing, not ok'],
  [SOUND, { 'constructor.name': 'Object' }, 'missing', 'says constructor.name: nothing'],
  [{ result: 'OK' }, { result: 'OK' }, 'passed', ''],
  [{ result: 'PASSED' }, { result: 'OK' }, 'missing', 'says result: PASSED, not OK'],
])(
  'attack 46: a statement that says %j, where the policy requires %j: %s',
  async (predicate, result, kind, why) => {
    const required = result === undefined ? {} : { result };
    const found = await lookedUp([{ type: TESTED, predicate }], 'acme/bundle', { required });
    const check = found?.kind === 'found' ? found.checks?.find(({ name }) => name === 'tested') : undefined;
    expect(check).toMatchObject({ kind, ...(why === '' ? {} : { why: expect.stringContaining(why) }) });
  },
);

test('a statement that it failed counts more than one that it passed', async () => {
  const both = ['PASSED', 'FAILED'].map((result) => ({ type: SCAN, predicate: { result } }));
  expect(await checksOf(both)).toContainEqual(expect.objectContaining({ name: 'scan', kind: 'missing' }));
});

test('statements that nobody can read leave the checks open: one of them may have failed', async () => {
  const passed = [PREFLIGHT, SCAN].map((type) => ({ type, predicate: { result: 'PASSED' } }));
  const junk = (text: string): Attachment => ({ artifactType: BUNDLE_TYPE, bytes: Buffer.from(text) });
  // Junk that can be read hides nothing.
  const harmless = await lookedUp(passed, 'acme/bundle', { attachment: junk('junk') });
  expect(harmless).toMatchObject({ kind: 'found', checks: [{ kind: 'passed' }, { kind: 'passed' }] });
  const large = await lookedUp(passed, 'acme/bundle', { attachment: junk(' '.repeat(1024 * 1024 + 1)) });
  expect(large).toMatchObject({ kind: 'unknown', why: expect.stringContaining('1048577 bytes') });
});

test.each([
  [254, 'found', ''],
  [256, 'unknown', '2 more signatures among the referrers: not read, the limit is 256'],
])('two statements behind %i others: %s', async (others, kind, why) => {
  const passed = [PREFLIGHT, SCAN].map((type) => ({ type, predicate: { result: 'PASSED' } }));
  const other = { mediaType: '', digest: `sha256:${'c'.repeat(64)}`, size: 1, artifactType: BUNDLE_TYPE };
  const through = (client: Registry): Registry => ({
    ...client,
    listReferrers: async (...asked) => [
      ...(await client.listReferrers(...asked)),
      ...Array<Descriptor>(others).fill(other),
    ],
    getManifest: async (at) =>
      at.kind === 'digest' && at.digest === other.digest ? undefined : client.getManifest(at),
  });
  const found = await lookedUp(passed, 'acme/bundle', { through });
  expect(found?.kind).toBe(kind);
  expect(found?.kind === 'unknown' ? found.why : '').toContain(why);
});

test('a demand needs a name, a type and a signer', () => {
  const read = (text: string) =>
    readPolicy(
      Buffer.from(`apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {attestations: [${text}]}\n`),
    );
  const signer = 'identity: a, issuer: "https://b"';
  expect(read(`{name: x, from: [quay.io], predicateType: "${SCAN}", ${signer}}`).findings).toEqual([]);
  for (const text of [
    `{from: [quay.io], predicateType: "${SCAN}", ${signer}}`,
    `{name: x, from: [quay.io], ${signer}}`,
    `{name: x, from: [quay.io], predicateType: "${SCAN}"}`,
    `{name: x, from: [quay.io], predicateType: "${SCAN}", ${signer}, result: maybe}`,
    `{name: x, from: [quay.io], predicateType: "${SCAN}", ${signer}, result: {}}`,
    `{name: x, from: [quay.io], predicateType: "${SCAN}", ${signer}, result: {a: [b]}}`,
  ])
    expect(read(text).findings).not.toEqual([]);
});
