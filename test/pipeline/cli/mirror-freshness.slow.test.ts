/** A mirror that says how fresh it is, from the command line: signed, carried across a gap, attacked. */
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FRESHNESS_PREDICATE, freshnessText } from '../../../catalog/mirror/freshness/freshness.ts';
import { formatReference, parseReference, type Reference } from '../../../catalog/reference.ts';
import { sourceOf } from '../../../catalog/source.ts';
import {
  putStatement,
  statementBeside,
  statementTag,
  trustedStatement,
} from '../../../pipeline/mirror/freshness.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../../pipeline/oci/image/build.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { signedStatement } from '../../../pipeline/publish/attest/sign.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { sampleImage } from '../../fakes/image.ts';
import { withoutWaiting } from '../../fakes/no-waiting.ts';
import { registry } from '../../fakes/registry.ts';
import { runCommand } from '../../fakes/terminal.ts';

function keyPair(directory: string, name: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(directory, `${name}.key`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(directory, `${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }));
}

/** The text of a catalog with a bundle for each version. */
function catalogOf(host: string, versions: readonly string[]): string {
  const entries = versions.map((version, i) =>
    i === 0 ? `{name: a.v${version}}` : `{name: a.v${version}, replaces: a.v${versions[i - 1]}}`,
  );
  return [
    '---\nschema: olm.package\nname: a\ndefaultChannel: stable\n',
    `---\nschema: olm.channel\nname: stable\npackage: a\nentries: [${entries.join(', ')}]\n`,
    ...versions.map(
      (version) =>
        `---\nschema: olm.bundle\nname: a.v${version}\npackage: a\nimage: ${host}/org/a-bundle:v${version}\nproperties: [{type: olm.package, value: {packageName: a, version: ${version}}}]\n`,
    ),
  ].join('');
}

const DAY = 86_400_000;
const START = Date.parse('2026-03-01T00:00:00Z');

/** A source whose catalog grows by a version with each publish, a mirror, a key, and a clock that a test sets. */
async function scene() {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry()];
  const client = testClient([source.host, mirror.host]);
  keyPair(directory, 'admin');
  const versions: string[] = [];
  const publish = async (): Promise<void> => {
    versions.push(`1.0.${versions.length}`);
    const version = versions.at(-1) ?? '';
    const at = (name: string) => parseReference(`${source.host}/org/${name}`);
    await pushImage(client, at(`a-bundle:v${version}`), { image: sampleImage({ layers: [version] }) });
    const catalog = sourceOf({ 'catalog.yaml': catalogOf(source.host, versions) });
    const { built } = await buildCatalogImage(catalog, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
    if (!built) throw new Error('nothing was built');
    const { manifestList: root, manifests, blobs } = built.image;
    await pushImage(client, at('index:v1'), { image: { root, manifests, blobs } });
  };
  await publish();
  writeFileSync(
    join(directory, 'isc.yaml'),
    `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n  - catalog: ${source.host}/org/index:v1\n    full: true\n`,
  );
  const clock = { day: 0 };
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const run = (...words: string[]) =>
    runCommand([...words, ...hosts], {
      directory,
      now: () => new Date(START + clock.day * DAY),
      environment: { ...process.env, HOME: directory, XDG_STATE_HOME: undefined },
    });
  const sync = (...words: string[]) =>
    run('mirror', 'sync', 'isc.yaml', '--to', `${mirror.host}/m`, '--sign-key', 'admin.key', ...words);
  const verify = (...words: string[]) =>
    run(
      ...['mirror', 'verify', `${source.host}/org/index:v1`, '--documents', 'mirror', '--online'],
      ...['--key', 'admin.pub', ...words],
    );
  const index = (): Reference => {
    const report = JSON.parse(readFileSync(join(directory, 'mirror', 'report.json'), 'utf8'));
    return parseReference(report.catalogs[0].destination);
  };
  return { directory, source, mirror, client, publish, clock, run, sync, verify, index };
}

/** What the mirror has under a name, to be put back later. */
async function saved({ client }: Awaited<ReturnType<typeof scene>>, at: Reference) {
  const manifest = await client.getManifest(at);
  if (!manifest) throw new Error('nothing is there');
  return () => client.putManifest(at, manifest);
}

test('sync signs what the mirror has, verify accepts it, and each sync follows the one before', async () => {
  const at = await scene();
  const first = await at.sync('--json');
  expect(first.exit).toBe(0);
  const { version } = JSON.parse(first.out).signed;
  expect(JSON.parse(first.out).signed).toEqual({ version: START / 1000, freshUntil: '2026-03-31T00:00:00Z' });
  const verified = await at.verify();
  expect(verified).toMatchObject({
    exit: 0,
    out: expect.stringContaining(
      `Fresh: statement ${version} of 2026-03-01T00:00:00Z, valid until 2026-03-31T00:00:00Z, signed by key 1\n`,
    ),
    err: expect.stringContaining('rollbacks are found from now on'),
  });
  const again = await at.verify();
  expect(again).toMatchObject({ exit: 0, err: '' });
  await at.publish();
  const second = await at.sync();
  expect(second.out).toContain(
    `signed: freshness statement ${version + 1}, valid until 2026-03-31T00:00:00Z\n`,
  );
  expect(await at.verify('--json')).toMatchObject({ exit: 0 });
  const statement = JSON.parse(readFileSync(join(at.directory, 'mirror/freshness.json'), 'utf8'));
  const payload = JSON.parse(Buffer.from(statement.dsseEnvelope.payload, 'base64').toString());
  expect(payload).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    predicate: { version: version + 1, predecessor: { version } },
  });
  // The index image and two bundles.
  expect(Object.keys(payload.predicate.images)).toHaveLength(3);
});

test('a line of the mapping that names no image fails the check', async () => {
  const at = await scene();
  await at.sync();
  const words = ['mirror', 'verify', `${at.source.host}/org/index:v1`, '--documents', 'mirror', '--online'];
  expect(await at.run(...words)).toMatchObject({ exit: 0 });
  const file = join(at.directory, 'mirror/mapping.txt');
  writeFileSync(file, `${readFileSync(file, 'utf8')}file://local/x:v1=${at.mirror.host}/m/x:v1\n`);
  expect(await at.run(...words)).toMatchObject({
    exit: 1,
    err: expect.stringContaining("file://local/x:v1 uses oc's file:// format"),
  });
});

test('without --key nothing is checked, and verify says so', async () => {
  const at = await scene();
  await at.sync();
  const words = ['mirror', 'verify', `${at.source.host}/org/index:v1`, '--documents', 'mirror'];
  const ran = await at.run(...words);
  expect(ran).toMatchObject({ exit: 0, err: expect.stringContaining('is not checked: pass the public key') });
  expect(ran.out).not.toContain('Fresh');
  // Offline, the statement beside the documents counts.
  expect(await at.run(...words, '--key', 'admin.pub')).toMatchObject({ exit: 0 });
  at.clock.day = 31;
  expect(await at.run(...words, '--key', 'admin.pub')).toMatchObject({
    exit: 1,
    err: expect.stringContaining('the mirror is stale'),
  });
});

test('rollback: the whole mirror as it was, with its genuine statement', async () => {
  const at = await scene();
  await at.sync();
  const back = await Promise.all([saved(at, at.index()), saved(at, statementTag(at.index()))]);
  cpSync(join(at.directory, 'mirror'), join(at.directory, 'before'), { recursive: true });
  await at.publish();
  await at.sync();
  expect(await at.verify()).toMatchObject({ exit: 0 });
  for (const put of back) await put();
  rmSync(join(at.directory, 'mirror'), { recursive: true });
  cpSync(join(at.directory, 'before'), join(at.directory, 'mirror'), { recursive: true });
  const ran = await at.verify();
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain(`: error: rollback of ${at.mirror.host}/m/`);
  expect(ran.err.match(/: error: /g)).toHaveLength(1);
  // Somebody who never accepted the newer one cannot know: the end of its freshness is what is left.
  expect((await at.verify('--remember', 'other.json')).out).toContain('Fresh: statement');
  at.clock.day = 31;
  expect((await at.verify('--remember', 'other.json')).err).toContain('(mirror/stale)');
});

test('freeze: nothing new arrives; a sync that finds nothing new makes the mirror fresh again', async () => {
  const at = await scene();
  await at.sync('--fresh-for', '7d');
  await at.verify();
  at.clock.day = 8;
  const ran = await at.verify();
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain(': error: the mirror is stale: statement');
  expect(await at.sync('--fresh-for', '7d')).toMatchObject({ exit: 0 });
  expect(await at.verify()).toMatchObject({ exit: 0, err: '' });
  // A clock that is set back shows.
  at.clock.day = 1;
  expect((await at.verify()).err).toContain(': error: the clock of this machine says 2026-03-02');
});

test('mix: one image of another state, and an index image that was moved back alone', async () => {
  const at = await scene();
  await at.sync();
  const back = await saved(at, at.index());
  const bundle = readFileSync(join(at.directory, 'mirror/mapping.txt'), 'utf8')
    .split('\n')
    .flatMap((line) => (line.includes('a-bundle') ? parseReference(line.split('=')[1] ?? '') : []));
  const first = bundle[0] as Reference;
  await at.publish();
  await at.sync();
  await back();
  const ran = await at.verify();
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain(': error: the mirror mixes two states: ');
  await at.sync();
  expect(await at.verify()).toMatchObject({ exit: 0 });
  await pushImage(at.client, first, { image: sampleImage({ layers: ['other'] }) });
  expect((await at.verify()).err).toContain('(mirror/mixed)');
});

test('a statement that is deleted, junk, changed, or signed by somebody else does not count', async () => {
  const at = await scene();
  await at.sync();
  const genuine = await statementBeside(at.index(), at.client);
  if (!genuine) throw new Error('no statement');
  const errors = async (bytes: Uint8Array): Promise<string> => {
    await putStatement(at.index(), bytes, at.client);
    const ran = await at.verify();
    expect(ran.exit).toBe(1);
    return ran.err;
  };
  expect(await errors(Buffer.from('junk'))).toContain('(mirror/foreign-signature)');
  const bundle = JSON.parse(genuine.bytes.toString());
  const payload = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString());
  const later = { ...payload, predicate: { ...payload.predicate, freshUntil: '2036-01-01T00:00:00.000Z' } };
  const laterText = Buffer.from(JSON.stringify(later)).toString('base64');
  const changed = { ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, payload: laterText } };
  expect(await errors(Buffer.from(JSON.stringify(changed)))).toContain('not made with a trusted key');
  // A signature of something else with the same key, beside the forged statement.
  const both = {
    ...changed,
    messageSignature: { messageDigest: {}, signature: bundle.dsseEnvelope.signatures[0].sig },
  };
  expect(await errors(Buffer.from(JSON.stringify(both)))).toContain('(mirror/foreign-signature)');
  keyPair(at.directory, 'stranger');
  const stranger = { kind: 'key', key: readFileSync(join(at.directory, 'stranger.key'), 'utf8') } as const;
  const foreign = await signedStatement(Buffer.from(JSON.stringify(later)), '', stranger);
  expect(await errors(foreign.bytes)).toContain('not made with a trusted key');
  await at.client.deleteManifest(statementTag(at.index()));
  const gone = await at.verify();
  expect(gone.exit).toBe(1);
  expect(gone.err).toContain(`: error: there is no freshness statement at ${at.mirror.host}/m/`);
  await putStatement(at.index(), genuine.bytes, at.client);
  expect(await at.verify()).toMatchObject({ exit: 0 });
});

test('swapped: a genuine statement about another catalog of the same mirror', async () => {
  const at = await scene();
  await at.sync();
  const other = await scene();
  for (const half of ['key', 'pub'])
    cpSync(join(at.directory, `admin.${half}`), join(other.directory, `admin.${half}`));
  await other.sync();
  const theirs = await statementBeside(other.index(), other.client);
  await putStatement(at.index(), theirs?.bytes ?? Buffer.alloc(0), at.client);
  const ran = await at.verify();
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain('(mirror/other-statement)');
});

test('beside an index image, a genuine statement that counts it among what is missing does not pass', async () => {
  const at = await scene();
  await at.sync();
  const { statement } = await trustedStatement(
    (await statementBeside(at.index(), at.client)) ?? { where: '', bytes: Buffer.alloc(0) },
    { kind: 'keys', keys: [readFileSync(join(at.directory, 'admin.pub'), 'utf8')] },
  );
  const [index = '', image = ''] = [formatReference(at.index()), ...statement.images.keys()].filter(
    (name, i) => i === 0 || !statement.indexes.has(name),
  );
  const images = new Map([[image, statement.images.get(image) ?? '']]);
  const text = freshnessText({ ...statement, indexes: images, images, missing: [index] });
  const { bytes } = await signedStatement(new TextEncoder().encode(text), FRESHNESS_PREDICATE, {
    kind: 'key',
    key: readFileSync(join(at.directory, 'admin.key'), 'utf8'),
  });
  await putStatement(at.index(), bytes, at.client);
  const ran = await at.verify();
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain(`and not about ${index}`);
});

test('keys change: while both are named both count, then only the new one', async () => {
  const at = await scene();
  await at.sync();
  await at.verify();
  keyPair(at.directory, 'next');
  at.clock.day = 1;
  const rotated = await at.sync('--sign-key', 'next.key');
  expect(rotated.exit).toBe(0);
  expect(rotated.err).toContain('is not signed with this key: the new statement does not follow it');
  expect((await at.verify()).err).toContain('(mirror/foreign-signature)');
  expect(await at.verify('--key', 'next.pub')).toMatchObject({ exit: 0 });
  const only = await at.run(
    ...['mirror', 'verify', `${at.source.host}/org/index:v1`, '--documents', 'mirror', '--online'],
    ...['--key', 'next.pub'],
  );
  expect(only).toMatchObject({ exit: 0, err: '' });
});

test('a forged predecessor is not followed; a lost one does not stop the next statement', async () => {
  const at = await scene();
  await at.sync();
  await at.verify();
  keyPair(at.directory, 'stranger');
  const genuine = JSON.parse(readFileSync(join(at.directory, 'mirror/freshness.json'), 'utf8'));
  const payload = JSON.parse(Buffer.from(genuine.dsseEnvelope.payload, 'base64').toString());
  payload.predicate.version = Number.MAX_SAFE_INTEGER;
  const stranger = { kind: 'key', key: readFileSync(join(at.directory, 'stranger.key'), 'utf8') } as const;
  const forged = await signedStatement(Buffer.from(JSON.stringify(payload)), '', stranger);
  writeFileSync(join(at.directory, 'mirror/freshness.json'), forged.bytes);
  at.clock.day = 1;
  const ran = await at.sync('--json');
  expect(ran.err).toContain('mirror/freshness.json is not signed with this key');
  expect(JSON.parse(ran.out).signed.version).toBe(START / 1000 + 86_400);
  expect(await at.verify()).toMatchObject({ exit: 0 });
  rmSync(join(at.directory, 'mirror/freshness.json'));
  await at.client.deleteManifest(statementTag(at.index()));
  at.clock.day = 2;
  await at.sync();
  expect(await at.verify()).toMatchObject({ exit: 0 });
  // The signer's clock is behind its own last statement.
  at.clock.day = 1;
  const behind = await at.sync();
  expect(behind).toMatchObject({ exit: 2, err: expect.stringContaining('not signed: the clock') });
});

test('a file of accepted statements that cannot be read is an error, not a new beginning', async () => {
  const at = await scene();
  await at.sync();
  writeFileSync(join(at.directory, 'accepted.json'), '{}');
  expect(await at.verify('--remember', 'accepted.json')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('without it, a rollback is not found'),
  });
});

test('across the gap: the archive carries the statement, and what was attacked on the way is not loaded', async () => {
  const at = await scene();
  const archive = (name: string, ...words: string[]) => at.sync('--to-archive', name, ...words);
  expect(await archive('one')).toMatchObject({ exit: 0 });
  await at.publish();
  at.clock.day = 1;
  expect(await archive('two', '--since', 'one')).toMatchObject({ exit: 0 });
  const load = (...words: string[]) => at.run('mirror', 'copy', '--key', 'admin.pub', ...words);
  const [one, two] = [
    ['--from-archive', 'one'],
    ['--from-archive', 'one', '--from-archive', 'two'],
  ];
  expect(await load(...one)).toMatchObject({ exit: 0 });
  expect(await load(...two)).toMatchObject({ exit: 0 });
  expect(await at.verify()).toMatchObject({ exit: 0 });
  const requests = at.mirror.seen.length;
  // An older archive; archives whose statements were swapped, deleted, or came late.
  expect((await load(...one)).err).toContain('(mirror/rollback)');
  cpSync(join(at.directory, 'one'), join(at.directory, 'three'), { recursive: true });
  cpSync(join(at.directory, 'two/freshness.json'), join(at.directory, 'three/freshness.json'));
  const mixed = await load('--from-archive', 'three');
  expect(mixed).toMatchObject({ exit: 1, err: expect.stringContaining('(mirror/mixed)') });
  rmSync(join(at.directory, 'three/freshness.json'));
  expect((await load('--from-archive', 'three')).err).toContain('(mirror/unsigned)');
  at.clock.day = 60;
  expect((await load(...two)).err).toContain('(mirror/stale)');
  expect(
    at.mirror.seen.slice(requests).filter(({ method }) => method !== 'GET' && method !== 'HEAD'),
  ).toEqual([]);
  // Without a key it is loaded unchecked if somebody asks for an older state, and verify finds what it is.
  const unchecked = await at.run('mirror', 'copy', ...one, '--allow-older', '--out', 'loaded');
  expect(unchecked).toMatchObject({
    exit: 0,
    err: expect.stringContaining('one/freshness.json is not checked'),
  });
  at.clock.day = 2;
  rmSync(join(at.directory, '.local'), { recursive: true });
  expect((await at.verify()).err).toContain('(mirror/mixed)');
});

/** The air-gapped side: a directory with nothing but archives and the public key, from which no source is contacted. */
async function gap() {
  const at = await scene();
  const inside = folder();
  const carry = async (name: string, ...words: string[]) => {
    expect(await at.sync('--to-archive', name, ...words)).toMatchObject({ exit: 0 });
    cpSync(join(at.directory, name), join(inside, name), { recursive: true });
  };
  cpSync(join(at.directory, 'admin.pub'), join(inside, 'admin.pub'));
  const run = (...words: string[]) =>
    runCommand(words[1] === 'diff' ? words : [...words, '--insecure', at.mirror.host], {
      directory: inside,
      now: () => new Date(START + at.clock.day * DAY),
      environment: { ...process.env, HOME: inside, XDG_STATE_HOME: undefined },
    });
  const load = (...archives: string[]) =>
    run('mirror', 'copy', '--key', 'admin.pub', ...archives.flatMap((name) => ['--from-archive', name]));
  const verify = (...words: string[]) =>
    run('mirror', 'verify', ...words, '--documents', 'mirror', '--online', '--key', 'admin.pub');
  return { at, inside, carry, run, load, verify };
}

test('an archive brings all that the air-gapped side needs: manifests, verify and diff, without a source', async () => {
  const { at, inside, carry, run, load, verify } = await gap();
  await carry('one');
  const before = at.source.seen.length;
  expect(await load('one')).toMatchObject({
    exit: 0,
    out: expect.stringContaining('to configure the clusters: oc apply -k mirror\n'),
  });
  for (const name of [
    'kustomization.yaml',
    'catalogSource.yaml',
    'report.json',
    'freshness.json',
    'mapping.txt',
  ])
    expect(readFileSync(join(inside, 'mirror', name))).toEqual(
      readFileSync(join(at.directory, 'mirror', name)),
    );
  // All catalogs of the plan, or one by the name that it has outside.
  for (const words of [[], [`${at.source.host}/org/index:v1`]])
    expect(await verify(...words)).toMatchObject({
      exit: 0,
      out: expect.stringMatching(
        /^Ready for disconnected clusters: .* of 1 bundle(?:.|\n)*\nFresh: statement /,
      ),
    });
  expect(at.source.seen.length).toBe(before);
  await at.publish();
  at.clock.day = 1;
  await carry('two', '--since', 'one');
  const diff = await run('mirror', 'diff', 'mirror', 'two');
  expect(diff.out).toContain('a-bundle:v1.0.1');
  const outside = at.source.seen.length;
  expect(await load('one', 'two')).toMatchObject({ exit: 0 });
  expect(await verify()).toMatchObject({ exit: 0, out: expect.stringContaining('of 2 bundles') });
  expect(at.source.seen.length).toBe(outside);
  // Asked for, the source is looked at.
  const { source } = at;
  expect((await verify(`${source.host}/org/index:v1`, '--sources', '--insecure', source.host)).exit).toBe(0);
  expect(at.source.seen.length).toBeGreaterThan(outside);
});

test('an index image that somebody replaced in the mirror is mixed, be it a catalog or not', async () => {
  const { at, carry, load, verify } = await gap();
  await carry('one');
  await load('one');
  await pushImage(at.client, at.index(), { image: sampleImage({ layers: ['not a catalog'] }) });
  expect(await verify()).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/\(mirror\/catalog\)(?:.|\n)*\(mirror\/mixed\)/),
  });
  const other = sourceOf({ 'catalog.yaml': catalogOf('evil.example.com', ['9.0.0']) });
  const { built } = await buildCatalogImage(other, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
  if (!built) throw new Error('nothing was built');
  const { manifestList: root, manifests, blobs } = built.image;
  await pushImage(at.client, at.index(), { image: { root, manifests, blobs } });
  expect(await verify()).toMatchObject({ exit: 1, err: expect.stringContaining('(mirror/mixed)') });
});

test('a mirror that does not answer is one line, not one for each image', async () => {
  withoutWaiting();
  const { at, carry, inside, load, run } = await gap();
  await carry('one');
  await load('one');
  const mapping = readFileSync(join(inside, 'mirror/mapping.txt'), 'utf8');
  const lines = Array.from({ length: 30 }, (_, i) => mapping.replaceAll(/:v\S*$/gm, (tag) => `${tag}-${i}`));
  const nobody = '127.0.0.1:9';
  writeFileSync(join(inside, 'mirror/mapping.txt'), lines.join('').replaceAll(at.mirror.host, nobody));
  writeFileSync(join(inside, 'catalog.yaml'), catalogOf(at.source.host, ['1.0.0']));
  const ran = await run('mirror', 'verify', '.', '--documents', 'mirror', '--online', '--insecure', nobody);
  expect(ran.exit).toBe(1);
  expect(ran.out.match(/connection refused/g)).toHaveLength(1);
  expect(ran.out).toContain(`  60 images not checked: GET to ${nobody}: `);
});

test('files of an archive that are damaged, or lead elsewhere, stop it before anything is loaded', async () => {
  const { at, inside, carry, load } = await gap();
  await carry('one');
  const before = at.mirror.seen.length;
  const manifest = join(inside, 'one/catalogSource.yaml');
  const good = readFileSync(manifest);
  writeFileSync(manifest, 'damaged');
  expect(await load('one')).toMatchObject({ exit: 2, err: expect.stringContaining('digest mismatch of') });
  writeFileSync(manifest, good);
  const receipt = join(inside, 'one/receipt.json');
  writeFileSync(receipt, readFileSync(receipt, 'utf8').replace('"catalogSource.yaml"', '"../../a"'));
  expect(await load('one')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('is not a file of a plan'),
  });
  expect(at.mirror.seen.length).toBe(before);
});

test.each([
  ['changed', (text: string) => `${text}# changed\n`],
  ['left out', () => undefined],
])(
  '68: a manifest of an archive that is %s, in the receipt too, stops the load with --key',
  async (_, change) => {
    const { at, inside, carry, run, load } = await gap();
    await carry('one');
    const [manifest, receipt] = ['one/catalogSource.yaml', 'one/receipt.json'].map((name) =>
      join(inside, name),
    );
    const before = readFileSync(manifest ?? '', 'utf8');
    const changed = change(before);
    const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const named = readFileSync(receipt ?? '', 'utf8');
    if (changed === undefined) {
      rmSync(manifest ?? '');
      writeFileSync(receipt ?? '', named.replace(/\n.*"catalogSource\.yaml".*/, ''));
    } else {
      writeFileSync(manifest ?? '', changed);
      writeFileSync(receipt ?? '', named.replace(digestOf(before), digestOf(changed)));
    }
    const requests = at.mirror.seen.length;
    expect(await load('one')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(
        /: catalogSource\.yaml is (?:missing|sha256:\w+), not sha256:\w+ \(mirror\/mixed\)/,
      ),
    });
    expect(existsSync(join(inside, 'mirror'))).toBe(false);
    const sent = at.mirror.seen.slice(requests).filter(({ method }) => method !== 'GET' && method !== 'HEAD');
    expect(sent).toEqual([]);
    // Without a key, nothing tells.
    expect(await run('mirror', 'copy', '--from-archive', 'one')).toMatchObject({ exit: 0 });
  },
);

/** A signed archive and mirror of a catalog, one of whose bundles is not in the source. */
async function lacking() {
  const all = await gap();
  const { at, inside } = all;
  await at.publish();
  await at.client.deleteManifest(parseReference(`${at.source.host}/org/a-bundle:v1.0.0`));
  expect(await at.sync('--to-archive', 'one')).toMatchObject({ exit: 1 });
  cpSync(join(at.directory, 'one'), join(inside, 'one'), { recursive: true });
  const mapping = readFileSync(join(inside, 'one/mapping.txt'), 'utf8').split('\n');
  const [lost = '', other = ''] = ['v1.0.0', 'v1.0.1'].map(
    (version) => mapping.find((line) => line.includes(`a-bundle:${version}=`))?.split('=')[1],
  );
  return { ...all, lost: parseReference(lost), other: parseReference(other) };
}

test('68: an image in an archive that its statement calls missing stops the load with --key', async () => {
  const { at, inside, load, verify, lost, other } = await lacking();
  const path = join(inside, 'one/receipt.json');
  const receipt = JSON.parse(readFileSync(path, 'utf8'));
  const named = receipt.names.find(({ name }: { name: string }) => name === formatReference(other));
  writeFileSync(
    path,
    JSON.stringify({ ...receipt, names: [...receipt.names, { ...named, name: formatReference(lost) }] }),
  );
  const before = at.mirror.seen.length;
  const why = `${formatReference(lost)} is there, but the statement says that it is missing`;
  expect(await load('one')).toMatchObject({ exit: 1, err: expect.stringContaining(why) });
  expect(at.mirror.seen.slice(before).filter(({ method }) => method === 'PUT')).toEqual([]);
  // As it was signed, it is loaded, and the one image fails.
  writeFileSync(path, JSON.stringify(receipt));
  expect((await load('one')).err).not.toContain('mirror/mixed');
  expect(await at.client.resolve(lost)).toBeUndefined();
  await putStatement(at.index(), readFileSync(join(inside, 'one/freshness.json')), at.client);
  expect((await verify()).err).not.toContain('mirror/mixed');
  await pushImage(at.client, lost, { image: sampleImage({ layers: ['later'] }) });
  expect((await verify()).err).toContain(why);
});

test('offline, what the plan has says nothing of an image that the statement calls missing', async () => {
  const { at } = await lacking();
  const path = join(at.directory, 'mirror/mapping.txt');
  const mapping = readFileSync(path, 'utf8');
  const byDigest = mapping.replace('a-bundle:v1.0.0=', `a-bundle@sha256:${'a'.repeat(64)}=`);
  expect(byDigest).not.toBe(mapping);
  writeFileSync(path, byDigest);
  const index = `${at.source.host}/org/index:v1`;
  const ran = await at.run('mirror', 'verify', index, '--documents', 'mirror', '--key', 'admin.pub');
  expect(ran.out).toContain('Fresh: statement');
  expect(ran.err).not.toContain('mirror/mixed');
});

/** An archive of a mapping alone, as `mirror copy` makes it of a mapping without a plan, beside one with the plan. */
async function plainArchive() {
  const own = await gap();
  const { at, inside, carry, run } = own;
  await carry('one');
  mkdirSync(join(at.directory, 'alone'));
  cpSync(join(at.directory, 'mirror/mapping.txt'), join(at.directory, 'alone/mapping.txt'));
  const written = await at.run('mirror', 'copy', 'alone/mapping.txt', '--to-archive', 'plain');
  expect(written).toMatchObject({ exit: 0 });
  cpSync(join(at.directory, 'plain'), join(inside, 'plain'), { recursive: true });
  const load = (...words: string[]) => run('mirror', 'copy', ...words);
  const file = (name: string) => join(inside, name);
  const requests = () => at.mirror.seen.length;
  return { ...own, load, file, requests };
}

const digest = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

test('68: a mapping of an archive that is emptied or changed loads nothing, be there a plan or not', async () => {
  const { load, file, requests } = await plainArchive();
  const before = requests();
  for (const archive of ['plain', 'one']) {
    const path = file(`${archive}/mapping.txt`);
    const good = readFileSync(path);
    for (const text of ['', `${good}# a line\n`, good.toString().replaceAll('a-bundle:', 'b-bundle:')]) {
      writeFileSync(path, text);
      const ran = await load('--from-archive', archive);
      expect(ran).toMatchObject({ exit: 2 });
      expect(ran.err).toContain(path);
      expect(ran.err).toContain(digest(good));
      expect(ran.err).toContain(digest(Buffer.from(text)));
      // Named, it is the same file; and so it is as that of an archive which is not the last one.
      expect(await load(path, '--from-archive', archive)).toMatchObject({ exit: 2 });
      const last = archive === 'plain' ? 'one' : 'plain';
      const named = await load(path, '--from-archive', archive, '--from-archive', last);
      expect(named).toMatchObject({ exit: 2, err: expect.stringContaining(digest(good)) });
    }
    rmSync(path);
    expect(await load('--from-archive', archive)).toMatchObject({ exit: 2 });
    writeFileSync(path, good);
  }
  expect(requests()).toBe(before);
  for (const archive of ['plain', 'one'])
    expect(await load('--from-archive', archive)).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^2 images: /m),
    });
});

test('68: links and pipes in an archive are not read', async () => {
  const { load, file, requests } = await plainArchive();
  const before = requests();
  writeFileSync(file('secret'), 'TOP-SECRET=abc\n');
  for (const name of ['plain/mapping.txt', 'one/report.json', 'one/freshness.json', 'plain/receipt.json']) {
    const good = readFileSync(file(name));
    writeFileSync(file('same'), good);
    const put = [
      () => symlinkSync(file('secret'), file(name)),
      // Not even one with the right content: it is not what the archive brought.
      () => symlinkSync(file('same'), file(name)),
      () => execFileSync('mkfifo', [file(name)]),
      () => mkdirSync(file(name)),
    ];
    for (const one of put) {
      rmSync(file(name));
      one();
      const ran = await load('--from-archive', dirname(name));
      expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining(`${file(name)} is not a regular`) });
      expect(ran.err + ran.out).not.toContain('TOP-SECRET');
      rmSync(file(name), { recursive: true });
      writeFileSync(file(name), good);
    }
  }
  expect(requests()).toBe(before);
  // The directory itself may be a link, as mounts of disks are.
  symlinkSync(file('plain'), file('disk'));
  expect(await load('--from-archive', 'disk')).toMatchObject({ exit: 0 });
});

test('68: an archive from before digests of files is loaded, but no link in it followed', async () => {
  const { load, file } = await plainArchive();
  const receipt = file('plain/receipt.json');
  const { files, ...old } = JSON.parse(readFileSync(receipt, 'utf8'));
  expect(files).toHaveLength(1);
  writeFileSync(receipt, JSON.stringify({ ...old, files: [] }));
  const ran = await load('--from-archive', 'plain');
  expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining('has no digest of it') });
  writeFileSync(receipt, JSON.stringify(old));
  expect(await load('--from-archive', 'plain')).toMatchObject({ exit: 0 });
  cpSync(file('plain/mapping.txt'), file('mapping.txt'));
  rmSync(file('plain/mapping.txt'));
  symlinkSync(file('mapping.txt'), file('plain/mapping.txt'));
  expect(await load('--from-archive', 'plain')).toMatchObject({ exit: 2 });
  // A mapping of somebody's own is theirs, wherever it lies.
  rmSync(file('plain/mapping.txt'));
  symlinkSync(file('mapping.txt'), file('own.txt'));
  expect(await load('own.txt', '--from-archive', 'plain')).toMatchObject({ exit: 0 });
});

test('68: verify and diff compare the documents of an archive, and not those of other folders', async () => {
  const { load, file, run } = await plainArchive();
  await load('--from-archive', 'one');
  const verify = (...words: string[]) => run('mirror', 'verify', ...words, '--online', '--key', 'admin.pub');
  const diff = (...words: string[]) => run('mirror', 'diff', ...words);
  const ways = [
    () => verify('--documents', 'one'),
    () => verify('--documents', 'mirror', '--mapping', 'one/mapping.txt'),
    () => verify('--documents', 'one/imageTagMirrorSet.yaml', '--mapping', 'mirror/mapping.txt'),
    () => diff('mirror', 'one'),
    () => diff('one/mapping.txt', 'mirror'),
    () => diff('mirror', 'one/report.json'),
  ];
  for (const way of ways) expect(await way()).toMatchObject({ exit: 0 });
  for (const name of ['mapping.txt', 'report.json', 'imageTagMirrorSet.yaml']) {
    const good = readFileSync(file(`one/${name}`));
    writeFileSync(file(`one/${name}`), `${good} `);
    for (const way of ways)
      expect(await way()).toMatchObject({ exit: 2, err: expect.stringContaining(digest(good)) });
    writeFileSync(file(`one/${name}`), good);
  }
  // Somebody put a file of a plan beside them.
  writeFileSync(file('one/imageContentSourcePolicy.yaml'), '');
  for (const way of ways)
    expect(await way()).toMatchObject({ exit: 2, err: expect.stringContaining('has no digest of') });
  rmSync(file('one/imageContentSourcePolicy.yaml'));
  for (const way of ways) expect(await way()).toMatchObject({ exit: 0 });
  // The receipt of a publish has no digests of what is beside it, and a plan may be changed by hand.
  writeFileSync(file('mirror/receipt.json'), '{"kind": "PublishReceipt"}');
  writeFileSync(file('mirror/mapping.txt'), `${readFileSync(file('mirror/mapping.txt'))}# mine\n`);
  expect(await verify('--documents', 'mirror')).toMatchObject({ exit: 0 });
  expect(await diff('mirror', 'one')).toMatchObject({ exit: 0 });
});

test('an archive that is older than the mirror is not loaded unless --allow-older says so', async () => {
  const at = await scene();
  await at.sync('--to-archive', 'one');
  await at.publish();
  at.clock.day = 1;
  await at.sync('--to-archive', 'two');
  const load = (archive: string, ...words: string[]) =>
    at.run('mirror', 'copy', '--from-archive', archive, ...words);
  const there = async () => (await statementBeside(at.index(), at.client))?.bytes;
  const inArchive = (name: string) => readFileSync(join(at.directory, name, 'freshness.json'));
  // Into an empty mirror, forward, and the same again.
  for (const name of ['one', 'two', 'two']) {
    expect(await load(name)).toMatchObject({ exit: 0 });
    expect(await there()).toEqual(inArchive(name));
  }
  const writes = () => at.mirror.seen.filter(({ method }) => method !== 'GET' && method !== 'HEAD').length;
  const before = writes();
  for (const words of [[], ['--key', 'admin.pub', '--remember', 'elsewhere.json']]) {
    const older = await load('one', ...words);
    expect(older.exit).toBe(1);
    expect(older.err).toContain(
      `one/freshness.json: error: the archive is older than the mirror: it has statement ${START / 1000} of 2026-03-01T00:00:00Z, but ${formatReference(statementTag(at.index()))} has statement ${START / 1000 + 86_400} of 2026-03-02T00:00:00Z (mirror/rollback)`,
    );
    expect(older.err).toContain('add --allow-older');
  }
  expect(writes()).toBe(before);
  // With a key, one that somebody else signed stops nothing.
  keyPair(at.directory, 'stranger');
  const stranger = { kind: 'key', key: readFileSync(join(at.directory, 'stranger.key'), 'utf8') } as const;
  const { payload } = JSON.parse(inArchive('two').toString()).dsseEnvelope;
  const { bytes } = await signedStatement(Buffer.from(payload, 'base64'), FRESHNESS_PREDICATE, stranger);
  await putStatement(at.index(), bytes, at.client);
  expect((await load('one')).exit).toBe(1);
  expect((await load('one', '--key', 'admin.pub', '--remember', 'new.json')).exit).toBe(0);
  await putStatement(at.index(), inArchive('two'), at.client);
  expect(await load('one', '--allow-older')).toMatchObject({ exit: 0 });
  expect(await there()).toEqual(inArchive('one'));
  // What the mirror has is not a statement.
  await putStatement(at.index(), Buffer.from('junk'), at.client);
  expect(await load('one')).toMatchObject({ exit: 0 });
});

test('a statement in an archive is put nowhere but beside index images of the mapping', async () => {
  const at = await scene();
  await at.sync('--to-archive', 'one');
  const elsewhere = await registry();
  const file = join(at.directory, 'one/freshness.json');
  const bundle = JSON.parse(readFileSync(file, 'utf8'));
  const payload = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString());
  const name = `${elsewhere.host}/victim/index:v1`;
  payload.subject = [{ ...payload.subject[0], name }];
  payload.predicate.images[name] = `sha256:${Object.values(payload.subject[0].digest)[0]}`;
  bundle.dsseEnvelope.payload = Buffer.from(JSON.stringify(payload)).toString('base64');
  writeFileSync(file, JSON.stringify(bundle));
  expect(await at.run('mirror', 'copy', '--from-archive', 'one')).toMatchObject({ exit: 0 });
  expect(elsewhere.seen).toEqual([]);
  expect(await at.client.resolve(statementTag(at.index()))).toBeUndefined();
});

test('mirror copy signs, too: what the plan beside the mapping names as index images', async () => {
  const at = await scene();
  const index = `${at.source.host}/org/index:v1`;
  await at.run('mirror', 'plan', index, '--to', `${at.mirror.host}/m`);
  const copy = ['mirror', 'copy', 'mirror/mapping.txt', '--sign-key', 'admin.key'];
  expect(await at.run(...copy)).toMatchObject({
    exit: 0,
    out: expect.stringContaining('signed: freshness statement'),
  });
  expect(await at.verify()).toMatchObject({ exit: 0 });
  rmSync(join(at.directory, 'mirror/report.json'));
  expect(await at.run(...copy)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('report.json does not'),
  });
});

test('options that do not go together are refused before anything is copied', async () => {
  const at = await scene();
  const refused = async (words: string[], why: string): Promise<void> => {
    expect(await at.run(...words)).toMatchObject({ exit: 2, err: expect.stringContaining(why) });
  };
  const to = ['mirror', 'sync', 'isc.yaml', '--to', `${at.mirror.host}/m`];
  await refused([...to, '--fresh-for', '7d'], '--fresh-for needs --sign-key');
  await refused([...to, '--sign-key', 'admin.key', '--fresh-for', 'soon'], '--fresh-for must be minutes');
  await refused([...to, '--sign-key', 'admin.pub'], 'the signing key is not a private key');
  writeFileSync(join(at.directory, 'mapping.txt'), '');
  await refused(['mirror', 'copy', 'mapping.txt', '--key', 'admin.pub'], '--key needs --from-archive');
  await refused(['mirror', 'copy', 'mapping.txt', '--allow-older'], '--allow-older needs --from-archive');
  expect(at.mirror.seen).toEqual([]);
  expect(existsSync(join(at.directory, '.local'))).toBe(false);
});
