import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { testClient } from '../../../fakes/host.ts';
import { labelledImage } from '../../../fakes/labelled-image.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

/** Nobody listens there. */
const SILENT = '127.0.0.1:9';
const CONFIGS = 'operators.operatorframework.io.index.configs.v1';
const POLICY = '.github/portolan.yaml';
const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

interface Shape {
  /** Images other than those that the versions have by themselves. */
  readonly images?: Readonly<Record<string, string>>;
  /** Versions that replace another one than the version before. */
  readonly replaces?: Readonly<Record<string, string>>;
}

function catalog(versions: readonly string[], { images = {}, replaces = {} }: Shape = {}): string {
  const entries = versions.map((version, i) => {
    const before = replaces[version] ?? versions[i - 1];
    return { name: `etcd.v${version}`, ...(before === undefined ? {} : { replaces: `etcd.v${before}` }) };
  });
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...versions.map((version) =>
      bundle('etcd', version, { image: images[version] ?? `quay.io/org/etcd:v${version}` }),
    ),
  );
}

const RELEASED = ['1.0.0'];
const BRANCH = ['1.0.0', '1.1.0'];

async function pushCatalog(
  host: string,
  reference: string,
  versions: readonly string[],
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  const image = await labelledImage(
    { [CONFIGS]: '/configs' },
    { 'configs/etcd/catalog.json': catalog(versions), ...others },
  );
  await pushImage(testClient([host]), parseReference(`${host}/${reference}`), { image });
}

interface Setting {
  readonly repository: TestRepository;
  readonly base: string;
  readonly served: TestRegistry;
  readonly check: (head: string, ...more: readonly string[]) => Promise<Report>;
}

interface Report {
  readonly verdict: string;
  readonly exit: number;
  /** `severity rule message` of graph rules about what is installed. */
  readonly findings: readonly string[];
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

const WATCHED =
  /graph\/(?:bundle-mutated|head-regression|entry-removed|channel-removed|package-removed|strand|startingcsv|upgrade-lost)/;

interface Written {
  readonly severity: string;
  readonly rule: string;
  readonly message: string;
}

/** A branch with 1.0.0 and 1.1.0, and a registry whose index image has the first of them. */
async function setting(
  released: (host: string) => string,
  branch: string = catalog(BRANCH),
): Promise<Setting> {
  const served = await registry();
  const { host } = served;
  await pushCatalog(host, 'org/index:v4.20', RELEASED);
  served.seen.length = 0;
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = [
    'apiVersion: portolan/v1alpha1',
    'kind: Portolan',
    `registries: {allow: ['${host}', '${SILENT}'], internal: ['${SILENT}']}`,
    'rules: {image/*: off}',
    `graph: {released: ${released(host)}}`,
  ].join('\n');
  const base = repository.commit({ [POLICY]: policy, [FILE]: branch });
  const check = async (head: string, ...more: readonly string[]): Promise<Report> => {
    const words = ['check', '--base', base, '--head', head, '--format', 'json', '--insecure', host, ...more];
    const { out, exit } = await portolan(repository.directory, ...words);
    const { verdict, findings, unchecked } = JSON.parse(out);
    const told = findings
      .filter(({ rule }: Written) => WATCHED.test(rule))
      .map(({ severity, rule, message }: Written) => `${severity} ${rule} ${message}`);
    return { verdict, exit, findings: told, unchecked };
  };
  return { repository, base, served, check };
}

const BY_IMAGE = (host: string): string => `{'v4.*': {image: '${host}/org/index:v{minor}'}}`;

/** Requests for blobs among what was asked. */
function blobs({ seen }: TestRegistry): number {
  return seen.filter(({ url }) => url.includes('/blobs/')).length;
}

describe('with a released index image', () => {
  test('a bundle that it lacks may change, as a note; one that it has may not', async () => {
    const { repository, base, check } = await setting(BY_IMAGE);
    const changes = (version: string): string =>
      repository.commit(
        { [FILE]: catalog(BRANCH, { images: { [version]: 'quay.io/org/etcd:again' } }) },
        { parents: [base] },
      );
    expect(await check(changes('1.1.0'))).toEqual({
      verdict: 'pass',
      exit: 0,
      findings: [
        'info graph/bundle-mutated bundle "etcd.v1.1.0" changes before it is published: image quay.io/org/etcd:again instead of quay.io/org/etcd:v1.1.0',
      ],
      unchecked: [],
    });
    expect(await check(changes('1.0.0'))).toMatchObject({
      verdict: 'fail',
      findings: [
        'error graph/bundle-mutated bundle "etcd.v1.0.0" is published and now differs: image quay.io/org/etcd:again instead of quay.io/org/etcd:v1.0.0',
      ],
    });
  });

  test('a head that it lacks may be taken back; one that it has may not', async () => {
    const { repository, base, check } = await setting(BY_IMAGE);
    const back = repository.commit({ [FILE]: catalog(['1.0.0']) }, { parents: [base] });
    const drafts = await check(back);
    expect(drafts.verdict).toBe('pass');
    expect(drafts.findings).toEqual([
      'info graph/entry-removed 1.1.0 is removed from channel "stable" of package "etcd"; no cluster has it, because it was never published',
      'info graph/head-regression the head of channel "stable" of package "etcd" moves back from 1.1.0 to 1.0.0; no cluster has 1.1.0, because it was never published',
    ]);
    const further = repository.commit({ [FILE]: catalog(['0.9.0']) }, { parents: [base] });
    const { verdict, findings } = await check(further);
    expect(verdict).toBe('fail');
    expect(findings.join('\n')).toContain(
      'error graph/head-regression the head of channel "stable" of package "etcd" moves back from 1.0.0 to 0.9.0',
    );
  });

  test('what it lacks is not stranded when it goes; what it has is', async () => {
    const branch = catalog(['1.0.0', '1.1.0', '1.2.0']);
    const { repository, base, check } = await setting(BY_IMAGE, branch);
    const without = (version: string, replaces: Record<string, string>): string =>
      repository.commit(
        {
          [FILE]: catalog(
            ['1.0.0', '1.1.0', '1.2.0'].filter((one) => one !== version),
            { replaces },
          ),
        },
        { parents: [base] },
      );
    const draft = await check(without('1.1.0', { '1.2.0': '1.0.0' }));
    expect(draft.verdict).toBe('pass');
    expect(draft.findings).toEqual([
      'info graph/entry-removed 1.1.0 is removed from channel "stable" of package "etcd"; no cluster has it, because it was never published',
    ]);
    // 1.1.0 replaces what no longer is there: nobody follows it, so that 1.0.0 is stranded.
    const { verdict, findings } = await check(without('1.0.0', { '1.1.0': '0.9.0' }));
    expect(verdict).toBe('fail');
    expect(findings.join('\n')).toMatch(/error graph\/strands-installed-v0 under OLM v0 1\.0\.0/);
  });

  test('what it has and the branch never had is on clusters', async () => {
    const { repository, base, served, check } = await setting(
      BY_IMAGE,
      catalog(['1.0.0', '1.1.0'], { replaces: { '1.0.0': '0.9.0' } }),
    );
    await pushCatalog(served.host, 'org/index:v4.20', ['0.9.0', '1.0.0']);
    const head = repository.commit({ [FILE]: catalog(['1.1.0']) }, { parents: [base] });
    const { findings } = await check(head);
    expect(findings.join('\n')).toMatch(
      /error graph\/stranded-published under OLM v0 0\.9\.0|error graph\/strands-installed-v0 under OLM v0 (?:0\.9\.0 and )?1\.0\.0/,
    );
  });

  test('is read once: the next check asks for its digest alone', async () => {
    const { repository, base, served, check } = await setting(BY_IMAGE);
    const head = repository.commit(
      { [FILE]: catalog(BRANCH, { images: { '1.1.0': 'quay.io/org/etcd:again' } }) },
      { parents: [base] },
    );
    const cache = ['--cache', folder()];
    const first = await check(head, ...cache);
    expect(blobs(served)).toBe(2);
    served.seen.length = 0;
    expect(await check(head, ...cache)).toEqual(first);
    expect(blobs(served)).toBe(0);
    expect(served.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v2/',
      'HEAD /v2/org/index/manifests/v4.20',
    ]);
    // Another image under the tag is read anew.
    await pushCatalog(served.host, 'org/index:v4.20', BRANCH);
    served.seen.length = 0;
    expect(await check(head, ...cache)).toMatchObject({ verdict: 'fail' });
    expect(blobs(served)).toBe(2);
  });

  test('is parsed as far as it names the packages in question, and whole where that is kept', async () => {
    const { repository, base, served, check } = await setting(BY_IMAGE);
    await pushCatalog(served.host, 'org/index:v4.20', RELEASED, {
      'configs/quay/catalog.json': '{"schema":',
    });
    const images = { '1.1.0': 'quay.io/org/etcd:again' };
    const head = repository.commit({ [FILE]: catalog(BRANCH, { images }) }, { parents: [base] });
    expect(await check(head)).toMatchObject({ verdict: 'pass', unchecked: [] });
    expect(await check(head, '--cache', folder())).toMatchObject({
      verdict: 'fail',
      unchecked: [{ why: expect.stringContaining('quay/catalog.json') }],
    });
  });

  test.each([
    [
      'is not there',
      (host: string) => `{'v4.*': {image: '${host}/org/index:v{minor}-gone'}}`,
      /image .* not found/,
    ],
    ['does not respond', () => `{'v4.*': {image: '${SILENT}/org/index:v{minor}'}}`, /127\.0\.0\.1:9/],
    [
      'needs a version that the name lacks',
      (host: string) => `{'*': {image: '${host}/org/index:v{minor}'}}`,
      /has no version for \{minor\}/,
      'catalogs/stable/etcd/catalog.yaml',
    ],
  ])(
    'one that %s: everything on the branch counts, and the report says so',
    async (_, released, why, file = FILE) => {
      withoutWaiting();
      const { repository, base, check } = await setting(released);
      const before = repository.commit({ [file]: catalog(BRANCH) }, { parents: [base] });
      const head = repository.commit(
        { [file]: catalog(BRANCH, { images: { '1.1.0': 'quay.io/org/etcd:again' } }) },
        { parents: [before] },
      );
      const { verdict, findings, unchecked } = await check(head, '--base', before);
      expect(verdict).toBe('fail');
      expect(findings[0]).toContain('error graph/bundle-mutated bundle "etcd.v1.1.0" is published');
      expect(unchecked).toEqual([
        expect.objectContaining({
          what: expect.stringMatching(
            /^the published content of \S+ \(Portolan treats everything on the branch as published\)$/,
          ),
          why: expect.stringMatching(why),
        }),
      ]);
    },
  );
});

describe('with a ledger', () => {
  const line = (version: string, of = 'v4.20'): string =>
    `{"catalog":"${of}","package":"etcd","channel":"stable","bundle":"etcd.v${version}","version":"${version}","last":"2026-01-01"}\n`;

  test.each([
    ['1.0.0 alone', line('1.0.0'), 'pass'],
    ['both versions', line('1.0.0') + line('1.1.0'), 'fail'],
    ['lines of another catalog only', line('1.0.0', '4.20'), 'fail'],
    ['no line', '', 'fail'],
  ])('that has %s', async (_, ledger, verdict) => {
    const { repository, base, check } = await setting(() => "{'*': {ledger: released.jsonl}}");
    const before = repository.commit({ 'released.jsonl': ledger }, { parents: [base] });
    const images = { '1.1.0': 'quay.io/org/etcd:again' };
    const head = repository.commit({ [FILE]: catalog(BRANCH, { images }) }, { parents: [before] });
    expect((await check(head, '--base', before)).verdict).toBe(verdict);
    // The pull request's own ledger says nothing.
    const own = repository.commit(
      { [FILE]: catalog(BRANCH, { images }), 'released.jsonl': line('1.0.0') },
      { parents: [before] },
    );
    expect((await check(own, '--base', before)).verdict).toBe(verdict);
  });

  test('beside an image: what either of them has is published', async () => {
    const { repository, base, check } = await setting(
      (host) => `{'v*': {image: '${host}/org/index:{catalog}', ledger: released.jsonl}}`,
    );
    const before = repository.commit({ 'released.jsonl': line('1.1.0') }, { parents: [base] });
    for (const version of BRANCH) {
      const images = { [version]: 'quay.io/org/etcd:again' };
      const head = repository.commit({ [FILE]: catalog(BRANCH, { images }) }, { parents: [before] });
      expect((await check(head, '--base', before)).verdict).toBe('fail');
    }
  });
});

test.each([
  ['nothing', "{'v4.2?': branch, 'v4.20': nothing}", 'pass'],
  ['branch', "{'v4.*': branch, '*': nothing}", 'fail'],
  ['no pattern of the catalog', "{'v4.1*': nothing}", 'fail'],
])('%s', async (_, released, verdict) => {
  const { repository, base, check } = await setting(() => released);
  const images = { '1.0.0': 'quay.io/org/etcd:again' };
  const head = repository.commit({ [FILE]: catalog(BRANCH, { images }) }, { parents: [base] });
  expect((await check(head)).verdict).toBe(verdict);
});
