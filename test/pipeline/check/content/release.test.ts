/** What the merge of a bundle will do is shown, and judged, in the pull request that brings it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientUnder } from '../../../../pipeline/catalogs/references/client.ts';
import { builtBundle, pushMade } from '../../../../pipeline/catalogs/release/bundle-image.ts';
import { releasedTexts } from '../../../../pipeline/catalogs/release/release.ts';
import { treeRepository } from '../../../../pipeline/catalogs/release/release-repository.ts';
import type { People } from '../../../../pipeline/check/authority/people.ts';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import type { CheckReport } from '../../../../pipeline/check/report.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { openRepository, type Repository } from '../../../../pipeline/git/repository.ts';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import { markdownReport } from '../../../../pipeline/report/markdown.ts';
import { textReport } from '../../../../pipeline/report/text-report.ts';
import { catalogOf, PEOPLE, POLICY } from '../../../fakes/gate.ts';
import { testClient } from '../../../fakes/host.ts';
import {
  basicTemplate,
  bundleFiles,
  CI,
  releaseConfig,
  withoutInstallModes,
} from '../../../fakes/operators.ts';
import { registry } from '../../../fakes/registry.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { spelledTexts } from '../../../fakes/spelling.ts';

const FIRST = `quay.io/org/etcd@sha256:${'0'.repeat(63)}1`;
const TEMPLATE = 'operators/etcd/catalog-templates/basic.yaml';
const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';

let source: TestRepository;
let repository: Repository;
let host: string;
let base: string;
beforeEach(async () => {
  ({ host } = await registry());
  source = makeRepository();
  const registries = `registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`;
  const release = `release: {bundles: '${host}/org/{package}-bundle:v{version}', mode: propose}\n`;
  base = source.commit({
    [POLICY_PATH]: `${POLICY}${registries}${release}`,
    ...bundleFiles('etcd', '1.0.0'),
    'operators/etcd/ci.yaml': CI,
    [TEMPLATE]: basicTemplate('etcd', '1.0.0', FIRST),
    [CATALOG]: catalogOf('etcd', ['1.0.0']),
    'catalogs/v4.12/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  });
  repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
});
afterEach(async () => {
  await repository.close();
  source.remove();
});

function judged(files: Files, people?: People): Promise<CheckReport> {
  return judgedAt(source.commit(files, { parents: [base], branch: 'change' }), people);
}

function judgedAt(head: string, people?: People): Promise<CheckReport> {
  const registryFor = (policy: Parameters<typeof clientUnder>[0]) =>
    clientUnder(policy, { plainHttp: [host] });
  const request = { base, head, today: '2026-01-01', registryFor };
  return checkPullRequest(repository, people ? { ...request, people } : request);
}

/** bob, who owns etcd, on his own. */
const BOB: People = { author: PEOPLE.bob, pusher: PEOPLE.bob, reviews: [], commits: undefined, holds: [] };

const bundle = bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0'));
const errors = ({ findings }: CheckReport) => findings.filter(({ severity }) => severity === 'error');

/** The texts that the release of 1.1.0 makes, on top of the base. */
async function texts(of = bundle): Promise<ReadonlyMap<string, string>> {
  const commit = source.commit(of, { parents: [base], branch: 'made' });
  const place = treeRepository(repository.objects, commit);
  const folder = await place.folder('operators/etcd/1.1.0');
  if (!folder) throw new Error('no bundle');
  const name = { package: 'etcd', version: '1.1.0' };
  const { reference: image } = await builtBundle(`${host}/org/{package}-bundle:v{version}`, name, folder);
  const rendering = { directory: '/', registry: () => Promise.reject(new Error('nothing is asked')) };
  return (await releasedTexts(place, { ...name, image, rendering })).texts;
}

test('a bundle alone: its image and its catalogs as they will be', async () => {
  const report = await judged(bundle);
  expect([report.verdict, errors(report)]).toEqual(['pass', []]);
  const files = ['catalogs/v4.12/etcd/catalog.yaml', CATALOG, TEMPLATE];
  expect(report.released).toEqual([
    {
      package: 'etcd',
      version: '1.1.0',
      image: expect.stringContaining(`${host}/org/etcd-bundle@sha256:`),
      by: 'propose',
      files: expect.arrayContaining(files),
    },
  ]);
  expect(report.diffs.flatMap(({ catalogs }) => catalogs)).toEqual(['v4.12', 'v4.20']);
  expect(report.packages.map(({ classes }) => classes)).toEqual([['add-entry']]);
  expect(textReport(report)).toContain(
    'changes these files in a pull request:\n    operators/etcd/catalog-templates/basic.yaml',
  );
  expect(markdownReport(report)).toContain('merging releases etcd 1.1.0');
});

test('however release-config.yaml is spelled, the check shows what the merge writes, or refuses it as the merge does', async () => {
  const wanted = {
    catalog_templates: [{ template_name: 'basic.yaml', channels: ['stable'], replaces: 'etcd.v1.0.0' }],
  };
  let released = 0;
  for (const text of spelledTexts(wanted, { seed: 3, count: 24 })) {
    const files = bundleFiles('etcd', '1.1.0', text);
    const written = await texts(files).catch((error: unknown) => {
      if (error instanceof PipelineError) return undefined;
      throw error;
    });
    const report = await judged(files);
    expect(report.released?.flatMap((one) => one.files) ?? [], text).toEqual([...(written?.keys() ?? [])]);
    if (written) released++;
    else expect(report.verdict, text).toBe('fail');
  }
  expect(released).toBeGreaterThan(2);
});

test('a template that is named twice gets both releases', async () => {
  const twice = [
    ['stable', ', replaces: etcd.v1.0.0'],
    ['candidate', ''],
  ]
    .map(([channel, edge]) => `- {template_name: basic.yaml, channels: [${channel}]${edge}}\n`)
    .join('');
  const made = await texts(bundleFiles('etcd', '1.1.0', `catalog_templates:\n${twice}`));
  for (const path of [TEMPLATE, CATALOG]) {
    expect(made.get(path)?.match(/name: candidate$/gm), path).toHaveLength(1);
    expect(made.get(path)?.match(/replaces: etcd.v1.0.0/g), path).toHaveLength(1);
  }
});

test('what its catalogs would do to clusters is a finding before it is merged', async () => {
  const other =
    'catalog_templates:\n- {template_name: basic.yaml, channels: [other], default_channel: other}\n';
  const report = await judged(bundleFiles('etcd', '1.1.0', other));
  expect(report.findings.map(({ rule }) => rule)).toContain('graph/default-channel-changed');
});

test('bundle and catalog together: the image need not be there, and must be the bundle’s', async () => {
  const all = await texts();
  const together = await judged({ ...bundle, ...Object.fromEntries(all) });
  expect([together.verdict, errors(together)]).toEqual(['pass', []]);
  expect(together.released).toMatchObject([{ files: [] }]);
  const catalog = all.get(CATALOG) ?? '';
  const wrong = catalog.replaceAll(/bundle@sha256:[0-9a-f]{64}/g, `bundle@sha256:${'a'.repeat(64)}`);
  const template = (all.get(TEMPLATE) ?? '').replaceAll(
    /bundle@sha256:[0-9a-f]{64}/g,
    `bundle@sha256:${'a'.repeat(64)}`,
  );
  const { 'operators/etcd/1.1.0/release-config.yaml': _, ...plain } = bundle;
  const other = await judged({ ...plain, [CATALOG]: wrong, [TEMPLATE]: template });
  expect(errors(other).map(({ rule }) => rule)).toContain('release/image');
});

test.each([
  [
    'names a template that is not mapped',
    'catalog_templates: [{template_name: x.yaml, channels: [a]}]\n',
    '"x.yaml"',
  ],
  ['lists nothing', '{}\n', 'lists no catalog_templates'],
])('a release-config.yaml that %s', async (_, text, message) => {
  const report = await judged(bundleFiles('etcd', '1.1.0', text));
  expect(errors(report)).toMatchObject([
    {
      rule: 'release/refused',
      message: expect.stringContaining(message),
      location: { file: 'operators/etcd/1.1.0/release-config.yaml' },
    },
  ]);
});

test('a template that names images nobody rendered, or files of the machine, has nothing fetched', async () => {
  const template = (image: string): string => basicTemplate('etcd', '1.0.0', image);
  const far = await judged({ ...bundle, [TEMPLATE]: template(`quay.io/org/other@sha256:${'b'.repeat(64)}`) });
  expect(far.unchecked).toContainEqual({
    what: 'the catalogs for etcd 1.1.0',
    why: 'it has a bundle from quay.io that is not in any catalog yet',
  });
  const near = await judged({ ...bundle, [TEMPLATE]: template('docker-archive:etc/passwd') });
  expect(errors(near).map(({ message }) => message)).toEqual([
    '"docker-archive:etc/passwd" is not in a registry: it is read from the machine that renders this file',
  ]);
});

test('a release that would be unsafe fails, and what the pull request itself brings is judged all the same', async () => {
  const v419 = 'catalogs/v4.19/etcd/catalog.yaml';
  const catalog = catalogOf('etcd', ['1.0.0', '1.1.0']);
  base = source.commit({ [v419]: catalog }, { parents: [base], branch: 'main' });
  const broken = { [v419]: catalog.replace('"defaultChannel":"stable"', '"defaultChannel":"nope"') };
  const rulesOf = (report: CheckReport) => new Set(errors(report).map(({ rule }) => rule));
  const alone = await judged(broken);
  expect(alone.verdict).toBe('fail');
  const colliding = { 'operators/etcd/ci.yaml': CI.replace('v4.20]', 'v4.20, V4.20]') };
  const report = await judged({ ...bundle, ...broken, ...colliding });
  expect(report.verdict).toBe('fail');
  expect(rulesOf(report)).toEqual(new Set([...rulesOf(alone), 'path/collision']));
});

test('a tag that is another image already is said before the merge', async () => {
  const pattern = `${host}/org/{package}-bundle:v{version}`;
  const folder = await treeRepository(repository.objects, base).folder('operators/etcd/1.0.0');
  if (!folder) throw new Error('no bundle');
  const other = await builtBundle(pattern, { package: 'etcd', version: '1.1.0' }, folder);
  await pushMade(testClient([host]), other);
  expect(errors(await judged(bundle))).toMatchObject([
    {
      rule: 'release/refused',
      message: expect.stringContaining(`${host}/org/etcd-bundle:v1.1.0 already is ${other.digest}`),
      location: { file: 'operators/etcd/1.1.0/release-config.yaml' },
    },
  ]);
});

test('a bundle that the merge will refuse is there for no catalog; the policy says what is refused', async () => {
  const bad = withoutInstallModes(bundle);
  const together = { ...bad, ...Object.fromEntries(await texts(bad)) };
  const refused = await judged(together);
  expect(refused.released).toBeUndefined();
  expect(errors(refused).map(({ rule }) => rule)).toEqual(
    expect.arrayContaining(['csv/install-modes', 'image/digest-missing']),
  );
  const rules =
    'rules: {csv/install-modes: warning, graph/newly-unsupported-v1: warning, graph/install-modes-narrowed: warning}';
  const policy = `${source.git('show', `main:${POLICY_PATH}`)}\n${rules}\n`;
  base = source.commit({ [POLICY_PATH]: policy }, { parents: [base], branch: 'main' });
  const allowed = await judged(together);
  expect([allowed.verdict, allowed.released?.length]).toEqual(['pass', 1]);
});

describe('what a merge commits without asking again', () => {
  beforeEach(() => {
    const policy = source.git('show', `main:${POLICY_PATH}`).replace('mode: propose', 'mode: commit');
    const victim = { 'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0']) };
    const owned = { 'operators/quay/ci.yaml': 'reviewers: [carol]\n' };
    base = source.commit({ [POLICY_PATH]: policy, ...victim, ...owned }, { parents: [base], branch: 'main' });
  });
  const mapped = { 'operators/etcd/ci.yaml': CI.replace('v4.20]', 'v4.20, v9.99]') };

  test('is its author’s to bring, as it would be in the pull request', async () => {
    const report = await judged(bundle, BOB);
    expect(report.authority).toMatchObject({ decision: 'allow', needs: [] });
    expect(report.headline).toMatch(/^allowed, and all checks passed/);
  });

  test('a catalog that is new by the mapping alone takes an admin, who approves the head', async () => {
    const report = await judged({ ...bundle, ...mapped }, BOB);
    expect(report.authority).toMatchObject({
      decision: 'needs',
      needs: ['needs approval from @alice or @amy (an admin) for catalog v9.99: it adds a new catalog'],
    });
    const head = source.git('rev-parse', 'change');
    const reviews = [{ author: PEOPLE.alice, state: 'approved', commit: head }] as const;
    expect((await judgedAt(head, { ...BOB, reviews })).authority.decision).toBe('allow');
    // Of a later head it says nothing: what the merge writes stands nowhere in either.
    const later = source.commit(bundleFiles('etcd', '1.0.1'), { parents: [head], branch: 'change' });
    expect((await judgedAt(later, { ...BOB, reviews })).authority.decision).toBe('needs');
  });

  test('another package’s blobs that a template held before are refused when they come into a catalog', async () => {
    const foreign = '- {schema: olm.deprecations, package: quay, entries: []}\n';
    const template = `${basicTemplate('etcd', '1.0.0', FIRST)}${foreign}`;
    base = source.commit({ [TEMPLATE]: template }, { parents: [base], branch: 'main' });
    expect((await judged(bundle, BOB)).authority.decision).toBe('deny');
  });
});

test('a package that is in other files than the rendered one is not repeated', async () => {
  base = source.commit(
    { [CATALOG]: null, 'catalogs/v4.20/etcd/etcd.json': catalogOf('etcd', ['1.0.0']) },
    { parents: [base], branch: 'main' },
  );
  await expect(texts()).rejects.toMatchObject({
    code: 'usage',
    message: 'catalogs/v4.20/etcd/etcd.json exists next to catalog.yaml, which would repeat it',
    hint: 'move the package to one file, catalogs/v4.20/etcd/catalog.yaml',
  });
});
