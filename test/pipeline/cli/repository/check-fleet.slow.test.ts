import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { bytesBlob, digestOf } from '../../../../pipeline/oci/digest.ts';
import { createRegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { registry } from '../../../fakes/registry.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

const FILE = 'catalogs/v4.18/etcd/catalog.yaml';
const image = `quay.io/org/etcd@sha256:${'1'.repeat(64)}`;

/** A catalog with these versions, each of which replaces the one before. */
function catalog(versions: readonly string[]): string {
  const entries = versions.map((version, i) => ({
    name: `etcd.v${version}`,
    ...(i === 0 ? {} : { replaces: `etcd.v${versions[i - 1]}` }),
  }));
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...versions.map((version) => bundle('etcd', version, { image })),
  );
}

const policy = (fleet: object | undefined, more = ''): string =>
  `apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: [zoe, yan], packages: {etcd: [anna]}}\n${more}${fleet ? `fleet: ${JSON.stringify(fleet)}\n` : ''}`;

const FLEET = [
  'group,count,platform,package,version,channel',
  'customer-1,272,4.18,etcd,1.0.0,stable',
  'customer-2,40,4.18,etcd,1.0.0,stable',
  'customer-2,1100,4.18,etcd,1.1.0,stable',
  'customer-3,68,4.17,etcd,1.0.0,stable',
  'customer-3,20,4.17,other,1.0.0,stable',
].join('\n');

function repository(): TestRepository {
  const made = makeRepository();
  onTestFinished(made.remove);
  return made;
}

const NEW_HEAD = { before: catalog(['1.0.0', '1.1.0']), after: catalog(['1.1.0', '1.9.0']) };

interface Pull {
  readonly base?: Readonly<Record<string, string>>;
  readonly head?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  readonly format?: string;
}

async function checked({ base = {}, head = {}, words = [], format = 'json' }: Pull): Promise<Ran> {
  const made = repository();
  const from = made.commit({
    '.github/portolan.yaml': policy(undefined),
    [FILE]: NEW_HEAD.before,
    'fleet.csv': FLEET,
    ...base,
  });
  const to = made.commit({ [FILE]: NEW_HEAD.after, ...head }, { parents: [from] });
  return portolan(made.directory, 'check', '--base', from, '--head', to, '--format', format, ...words);
}

const inPolicy = (fleet: object): Readonly<Record<string, string>> => ({
  '.github/portolan.yaml': policy(fleet),
});

describe('portolan check with a fleet', () => {
  const files = { files: ['fleet.csv'] };

  test.each(['text', 'markdown', 'json', 'sarif'])(
    '%s has the numbers, and no name of a group',
    async (format) => {
      const { out } = await checked({ base: inPolicy(files), format });
      expect(out).not.toContain('customer');
      if (format === 'sarif') return;
      if (format === 'json') {
        const schema = JSON.parse(readFileSync('docs/check-report.schema.json', 'utf8'));
        const valid = new Ajv({ strict: true, allErrors: true }).compile(schema);
        expect(valid(JSON.parse(out)), JSON.stringify(valid.errors)).toBe(true);
        expect(JSON.parse(out).fleet).toMatchObject({ clusters: 1480, total: 1480 });
        return;
      }
      const line =
        'strands 312 of 1,480 clusters (21 %), all on 4.18; 1,100 move to 1.9.0 on the day of the merge; 68 use catalogs that do not change';
      expect(out.replaceAll('\\', '')).toContain(`fleet: ${line}`);
      expect(out.replaceAll('\\', '')).toContain('[312 clusters]');
      if (format === 'markdown')
        expect(out.replaceAll('\\', '')).toContain('| etcd | 4.18 | 1.1.0 | 1.9.0 | 1.9.0 | 1,100 |');
    },
  );

  test('what no catalog knows is not said to have no upgrade', async () => {
    const { out } = await checked({
      base: { ...inPolicy(files), 'fleet.csv': `${FLEET}\ncustomer-4,5,4.18,etcd,0.1.0,stable` },
      format: 'markdown',
    });
    expect(out.replaceAll('\\', '')).toContain('| unknown version |  | 5 |');
  });

  test('the command line names another fleet', async () => {
    const { out, err } = await checked({ words: ['--fleet', 'missing.csv'] });
    expect(out).toBe('');
    expect(err).toContain('missing.csv');
    expect(JSON.parse((await checked({})).out).fleet).toBeUndefined();
  });

  test('the fleet is that of the base branch, whatever the pull request makes of it', async () => {
    const own = await checked({
      base: inPolicy(files),
      head: { 'fleet.csv': 'group,count,platform,package,version\n' },
    });
    expect(JSON.parse(own.out).fleet.clusters).toBe(1480);
  });

  test('a fleet comes from an artifact by its digest, and only from there', async () => {
    const far = await registry();
    const client = createRegistryClient({ plainHttp: [far.host], internal: [far.host] });
    onTestFinished(() => client.close());
    const to = parseReference(`${far.host}/org/fleet:v1`);
    const blob = bytesBlob(new TextEncoder().encode(FLEET));
    await client.putBlob(to, blob);
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const { digest: layer, size } = blob;
    const config = { mediaType: 'application/vnd.oci.empty.v1+json', digest: layer, size };
    const layers = [{ mediaType: 'text/csv', digest: layer, size }];
    const bytes = new TextEncoder().encode(JSON.stringify({ schemaVersion: 2, mediaType, config, layers }));
    const digest = digestOf(bytes);
    await client.putManifest(to, { mediaType, digest, bytes });
    const named = { files: [`oci://${far.host}/org/fleet@${digest}`] };
    const allowed = policy(named, `registries: {allow: ['${far.host}'], internal: ['${far.host}']}\n`);
    const read = await checked({
      base: { '.github/portolan.yaml': allowed },
      words: ['--insecure', far.host],
    });
    expect(JSON.parse(read.out).fleet).toMatchObject({ clusters: 1480 });
    const denied = await checked({ base: inPolicy(named) });
    expect(JSON.parse(denied.out).unchecked).toContainEqual({
      what: 'how many clusters the merge reaches',
      why: expect.stringContaining(far.host),
    });
  });
});

describe('approvals by the number of clusters', () => {
  const author = ['--author', 'anna'];
  const needs = async (fleet: object, more: Pull = {}): Promise<readonly string[]> => {
    const after = catalog(['1.0.0', '1.1.0', '1.9.0']);
    const { out } = await checked({
      base: inPolicy(fleet),
      words: author,
      ...more,
      head: { [FILE]: after, ...more.head },
    });
    return JSON.parse(out).authority.needs;
  };
  const asking = (approval: object, files: readonly string[] = ['fleet.csv']): object => ({
    files,
    approvals: [{ ...approval, required: 'admins' }],
  });

  test.each([
    [{ clusters: 1412 }, true],
    [{ clusters: 1413 }, false],
    [{ share: 95 }, true],
    [{ share: 96 }, false],
    [{ clusters: 9999, share: 95 }, true],
  ])('%j asks for an admin: %s', async (approval, isAsked) => {
    const found = await needs(asking(approval));
    expect(found.length > 0).toBe(isAsked);
    if (isAsked) expect(found.join()).toContain('reaches 1412 of 1480 clusters');
  });

  test.each([
    ['is not there', ['gone.csv'], {}],
    ['cannot be read', ['fleet.csv'], { base: { 'fleet.csv': 'nonsense' } }],
    ['is empty', ['fleet.csv'], { base: { 'fleet.csv': 'cluster,platform,package,version\n' } }],
    [
      'has groups of no clusters only',
      ['fleet.csv'],
      { base: { 'fleet.csv': 'group,count,platform,package,version\ng,0,4.18,etcd,1.0.0\n' } },
    ],
    [
      'is a search with errors',
      ['fleet.csv'],
      {
        base: {
          'fleet.csv': '{"data": {"searchResult": [{"items": []}]}, "errors": [{"message": "timeout"}]}',
        },
      },
    ],
    [
      'has a row for nobody knows how many clusters',
      ['fleet.csv'],
      { base: { 'fleet.csv': 'group,count,platform,package,version\ng,"12,000",4.18,etcd,1.0.0\n' } },
    ],
    ['is an artifact that nobody may fetch', [`oci://quay.io/org/fleet@sha256:${'2'.repeat(64)}`], {}],
  ])('a fleet that %s asks for every approval', async (_, files, { base = {} }: Pull) => {
    const fleet = asking({ clusters: 1_000_000 }, files);
    const found = await needs(fleet, { base: { ...inPolicy(fleet), ...base } });
    expect(found.join()).toContain('the fleet cannot be read');
  });

  test('what is found in a fleet that cannot be read is in no report', async () => {
    const base = { ...inPolicy(asking({ clusters: 1 })), 'fleet.csv': 'customer-1,4.18,etcd,1.0.0\n' };
    for (const format of ['text', 'json', 'markdown']) {
      const { out } = await checked({ base, format });
      expect(out).toContain('not a table of a fleet');
      expect(out).not.toContain('customer');
    }
  });

  test('an account that may do it alone needs the approval, too, and only then', async () => {
    const bot = "automation: [{login: robot, id: 7, packages: ['*'], may: [add-entry, edit-graph, prune]}]\n";
    const decision = async (clusters: number): Promise<string> => {
      const base = { '.github/portolan.yaml': policy(asking({ clusters }), bot) };
      const after = catalog(['1.0.0', '1.1.0', '1.9.0']);
      const { out } = await checked({ base, head: { [FILE]: after }, words: ['--author', 'robot#7'] });
      return JSON.parse(out).authority.decision;
    };
    expect(await decision(1412)).toBe('needs');
    expect(await decision(1413)).toBe('allow');
  });

  test('the file of the fleet belongs to the repository: an owner of a package may not change it alone', async () => {
    const made = repository();
    const free = 'approval: {required: {root: none}}\n';
    const base = made.commit({
      '.github/portolan.yaml': policy(asking({ clusters: 9 }), free),
      'fleet.csv': FLEET,
      [FILE]: NEW_HEAD.before,
    });
    const head = made.commit({ 'fleet.csv': 'group,count,platform,package,version\n' }, { parents: [base] });
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const by = async (author: string) =>
      JSON.parse((await portolan(made.directory, ...words, '--author', author)).out).authority.decision;
    expect(await by('anna')).toBe('needs');
    expect(await by('zoe')).toBe('allow');
  });

  test('a check that passes cannot be complete with rows that cannot be read; an empty fleet is a warning', async () => {
    const made = repository();
    const from = made.commit({ '.github/portolan.yaml': policy(undefined), [FILE]: NEW_HEAD.before });
    const to = made.commit({ 'README.md': 'words' }, { parents: [from] });
    const run = (row: string): Promise<Ran> => {
      writeFileSync(join(made.directory, 'f.csv'), `cluster,platform,package,version\n${row}`);
      return portolan(made.directory, 'check', '--base', from, '--head', to, '--fleet', 'f.csv');
    };
    expect(await run('c,4.18,etcd,1.0.0\n')).toMatchObject({ exit: 0, err: '' });
    expect(await run('c,4.18,etcd,bad\n')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('f.csv:2: found'),
    });
    expect(await run('')).toMatchObject({ exit: 0, err: 'warning: the fleet of f.csv is empty\n' });
  });

  test('rows that cannot be read count as clusters that are reached', async () => {
    const fleet = asking({ clusters: 3 });
    const rows = (third: string): Pull => ({
      base: {
        ...inPolicy(fleet),
        'fleet.csv': `cluster,platform,package,version\na,4.18,etcd,1.0.0\nb,4.18,etcd,1.0.0\n${third}\n`,
      },
    });
    expect(await needs(fleet, rows('c,4.18,etcd,bad'))).not.toEqual([]);
    expect(await needs(fleet, rows('c,4.18,other,1.0.0'))).toEqual([]);
  });
});
