/** Layouts of real repositories: what the gate says once `portolan setup` has written its policy. */

import { load } from 'js-yaml';
import { describe, expect, onTestFinished, test } from 'vitest';
import { formatMinor } from '../../../../catalog/fbc/openshift.ts';
import { knownPlatforms } from '../../../../catalog/fbc/platform.ts';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import { type CheckReport, stateOf } from '../../../../pipeline/check/report.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { ownersReader } from '../../../../pipeline/policy/owners/owners.ts';
import { POLICY_PATH, readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { type SetupRequest, setUpRepository } from '../../../../pipeline/policy/setup/setup.ts';
import { bundle, catalogOf, documents } from '../../../fakes/gate.ts';
import { bundleFiles } from '../../../fakes/operators.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';

interface Fixture {
  /** Files of the catalogs with so many versions of each package; the catalog to change may have others. */
  readonly files: (changed: readonly string[]) => Files;
  /** Beside the catalogs. */
  readonly beside?: Files;
  /** Name of the catalog that changes, and what the paths of its files begin with. */
  readonly catalog: string;
  readonly at: string;
  readonly author?: string;
  /** Who is asked when a stranger changes the package. */
  readonly asked?: string;
}

const BEFORE = ['1.0.0', '1.1.0'];

const dockerfile = 'FROM quay.io/operator-framework/opm:latest\n';

/** The same file in several catalogs, of which the last one changes. */
function inEach(paths: readonly string[], more: (changed: readonly string[]) => Files = () => ({})) {
  return (changed: readonly string[]): Files => ({
    ...Object.fromEntries(paths.map((path) => [path, catalogOf('etcd', BEFORE)])),
    [paths.at(-1) ?? '']: catalogOf('etcd', changed),
    ...more(changed),
  });
}

/** One file for each blob. */
function inParts(folder: string, versions: readonly string[]): Files {
  const entries = versions.map((version, i) => ({
    name: `etcd.v${version}`,
    ...(i === 0 ? {} : { replaces: `etcd.v${versions[i - 1]}` }),
  }));
  const bundles = BEFORE.concat('1.2.0').map((version) => [
    `${folder}/bundles/bundle-v${version}.yaml`,
    versions.includes(version) ? documents(bundle('etcd', version)) : null,
  ]);
  return {
    [`${folder}/package.yaml`]: documents({ schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' }),
    [`${folder}/channels/channel-stable.yaml`]: documents({
      schema: 'olm.channel',
      package: 'etcd',
      name: 'stable',
      entries,
    }),
    ...Object.fromEntries(bundles),
  };
}

const FIXTURES: Readonly<Record<string, Fixture>> = {
  'as the community repositories have it': {
    files: inEach(['catalogs/v4.18/etcd/catalog.yaml', 'catalogs/v4.19/etcd/catalog.yaml']),
    beside: { 'operators/etcd/ci.yaml': 'reviewers: [bob]\n' },
    catalog: 'v4.19',
    at: 'catalogs/v4.19/',
    asked: 'bob',
  },
  'a file for each version at the top': {
    files: inEach(['v4.18/catalog.yaml', 'v4.19/catalog.yaml']),
    catalog: 'v4.19',
    at: 'v4.19/',
  },
  'the same beside what builds it': {
    files: inEach(['v4.18/catalog.yaml', 'v4.19/catalog.yaml']),
    beside: {
      'v4.18/Containerfile': dockerfile,
      'v4.19/Containerfile': dockerfile,
      'hack/values.yaml': 'a: b\n',
      '.tekton/push.yaml': 'kind: PipelineRun\n',
      'package.json': '{}\n',
    },
    catalog: 'v4.19',
    at: 'v4.19/',
  },
  'packages below versions': {
    files: inEach(['v4.18/etcd/catalog.yaml', 'v4.19/etcd/catalog.yaml'], () => ({
      'v4.19/quay/catalog.yaml': catalogOf('quay', BEFORE),
    })),
    catalog: 'v4.19',
    at: 'v4.19/',
  },
  'as Konflux has it': {
    files: inEach(['v4.18/catalog/etcd/catalog.json', 'v4.19/catalog/etcd/catalog.json']),
    beside: {
      'v4.18/catalog-template.yaml':
        'schema: olm.semver\nstable: {bundles: [{image: quay.io/org/etcd:v1}]}\n',
      'v4.18/Containerfile.catalog': dockerfile,
    },
    catalog: 'v4.19',
    at: 'v4.19/',
  },
  'a folder that is called otherwise than its package': {
    files: inEach(['v4.18/catalog/etcd-fbc/catalog.json', 'v4.19/catalog/etcd-fbc/catalog.json']),
    catalog: 'v4.19',
    at: 'v4.19/',
  },
  'folders that are called otherwise than their packages': {
    files: inEach(['catalogs/v4.18/one/index.yaml', 'catalogs/v4.19/one/index.yaml'], () => ({
      'catalogs/v4.19/two/index.yaml': catalogOf('quay', BEFORE),
    })),
    catalog: 'v4.19',
    at: 'catalogs/v4.19/',
  },
  'two stages': {
    files: inEach(
      ['stage/v4.18/etcd/catalog.yaml', 'prod/v4.19/etcd/catalog.yaml', 'stage/v4.19/etcd/catalog.yaml'],
      () => ({ 'prod/v4.18/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']) }),
    ),
    catalog: 'stage-v4.19',
    at: 'stage/v4.19/',
  },
  'a JSON file for each catalog at the top': {
    files: inEach(['v4.18.json', 'v4.19.json']),
    beside: { 'package.json': '{}\n', 'renovate.json': '{}\n' },
    catalog: 'v4.19',
    at: 'v4.19.json',
  },
  'a JSON file for each catalog in a folder': {
    files: inEach(['catalogs/v4.18.json', 'catalogs/v4.19.json']),
    catalog: 'v4.19',
    at: 'catalogs/v4.19.json',
  },
  'one file for each blob': {
    files: (changed) => ({ ...inParts('catalog-4-18', BEFORE), ...inParts('catalog-4-19', changed) }),
    beside: { 'catalog.Dockerfile': dockerfile, 'build/images.yaml': 'a: b\n' },
    catalog: '4-19',
    at: 'catalog-4-19/',
  },
  'configs beside a Dockerfile': {
    files: inEach(['configs/etcd/catalog.yaml']),
    beside: { 'configs.Dockerfile': dockerfile, Makefile: 'all:\n' },
    catalog: 'configs',
    at: 'configs/',
  },
  'one catalog': {
    files: inEach(['catalog/etcd/index.yaml'], () => ({
      'catalog/quay/index.yaml': catalogOf('quay', BEFORE),
    })),
    catalog: 'catalog',
    at: 'catalog/',
  },
  'one catalog in one file': {
    files: inEach(['catalog/catalog.yaml']),
    beside: { 'catalog.Dockerfile': dockerfile },
    catalog: 'catalog',
    at: 'catalog/',
  },
  'catalogs beside the operator that they are of': {
    files: inEach(['etcd-catalog-4.18/index.yaml', 'etcd-catalog-4.19/index.yaml']),
    beside: {
      'hack/operator.yaml': documents({ schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' }),
      'hack/bundle.Dockerfile': dockerfile,
      'main.go': 'package main\n',
      'config/manager.yaml': 'kind: Deployment\n',
    },
    catalog: '4.19',
    at: 'etcd-catalog-4.19/',
  },
  'channels in a file from which the catalog is rendered': {
    files: inEach(['v4.18/catalog/etcd/catalog.json', 'v4.19/catalog/etcd/catalog.json']),
    beside: {
      'v4.19/graph.yaml': documents({
        schema: 'olm.channel',
        package: 'etcd',
        name: 'stable',
        entries: [{ name: 'etcd.v1.0.0' }],
      }),
    },
    catalog: 'v4.19',
    at: 'v4.19/',
  },
  'version 5.0 beside 4.22': {
    files: inEach(['v4.22/catalog/etcd/catalog.json', 'v5.0/catalog/etcd/catalog.json']),
    catalog: 'v5.0',
    at: 'v5.0/',
  },
  'reviewers beside the catalog of their package': {
    files: inEach(['catalogs/v4.18/etcd/catalog.yaml', 'catalogs/v4.19/etcd/catalog.yaml']),
    beside: {
      'catalogs/v4.18/etcd/ci.yaml': 'reviewers: [bob]\n',
      'catalogs/v4.19/etcd/ci.yaml': 'reviewers: [bob]\n',
    },
    catalog: 'v4.19',
    at: 'catalogs/v4.19/',
    asked: 'bob',
  },
  'reviewers beside the newest catalog, 4.10 after 4.9': {
    files: inEach(['catalogs/v4.9/etcd/catalog.yaml', 'catalogs/v4.10/etcd/catalog.yaml']),
    beside: {
      'catalogs/v4.9/etcd/ci.yaml': 'reviewers: [alice]\n',
      'catalogs/v4.10/etcd/ci.yaml': 'reviewers: [bob]\n',
    },
    catalog: 'v4.10',
    at: 'catalogs/v4.10/',
    asked: 'bob',
  },
  'a flavour for one version beside the catalog of all others': {
    files: inEach(['catalog/etcd/catalog.yaml', 'catalog/etcd-4.17/catalog.yaml']),
    beside: { 'catalog/catalog-template.yaml': 'schema: olm.semver\nstable: {bundles: []}\n' },
    catalog: '4.17',
    at: 'catalog/etcd-4.17/',
  },
  'teams with a package of the same name': {
    files: inEach(['teams/b/v4.19/etcd/catalog.yaml', 'teams/a/v4.19/etcd/catalog.yaml']),
    catalog: 'a-v4.19',
    at: 'teams/a/v4.19/',
  },
  'names with a space and letters of other languages, lines that end as in Windows': {
    files: (changed) =>
      Object.fromEntries(
        Object.entries(inEach(['katalóg 1/v4.18/catalog.yaml', 'katalóg 1/v4.19/catalog.yaml'])(changed)).map(
          ([path, text]) => [path, String(text).replaceAll('\n', '\r\n')],
        ),
      ),
    catalog: 'v4.19',
    at: 'katalóg 1/v4.19/',
  },
  'versions before the name of the catalog': {
    files: inEach(['4.18-catalog/etcd/catalog.yaml', '4.19-catalog/etcd/catalog.yaml']),
    catalog: '4.19',
    at: '4.19-catalog/',
  },
  "below Konflux's hidden folder": {
    files: inEach(['.konflux/catalog/v4.18/catalog.yaml', '.konflux/catalog/v4.19/catalog.yaml']),
    catalog: 'v4.19',
    at: '.konflux/catalog/v4.19/',
  },
  'catalogs that are called otherwise than versions': {
    files: inEach(['catalogs/dev/etcd/catalog.yaml', 'catalogs/live/etcd/catalog.yaml']),
    catalog: 'live',
    at: 'catalogs/live/',
  },
};

describe.each(Object.entries(FIXTURES))('%s', (_, fixture) => {
  test('other files pass, a good version has no error, a lost head is named where it is, and a stranger asks the right person', async () => {
    const { files, beside = {}, at, catalog, asked = 'alice' } = fixture;
    const source = makeRepository();
    onTestFinished(source.remove);
    const base = source.commit({ ...files(BEFORE), ...beside, 'README.md': '# catalogs\n' });
    const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
    onTestFinished(repository.close);
    const written = await setUpRepository(repository, { commit: base, admins: ['alice'] });
    const policy = { path: POLICY_PATH, bytes: Buffer.from(written.files.get(POLICY_PATH) ?? '') };
    expect(written.found.catalogs).toContain(catalog);
    const judge = async (changes: Files, login: string): Promise<CheckReport> => {
      const head = source.commit(changes, { parents: [base] });
      const author = { login, id: undefined };
      const people = { author, pusher: author, reviews: [], commits: undefined, holds: [] };
      return checkPullRequest(repository, { base, head, policy, people, today: '2026-01-01' });
    };
    const errorsOf = ({ findings }: CheckReport) => findings.filter(({ severity }) => severity === 'error');

    const others = Object.keys(beside).filter((path) => !path.startsWith('operators/'));
    for (const other of ['docs/index.md', 'README.md', '.tekton/push.yaml', ...others]) {
      const report = await judge({ [other]: `${String(beside[other] ?? '')}\n` }, 'alice');
      expect([report.verdict, report.authority.decision, report.headline], other).toEqual([
        'pass',
        'allow',
        expect.any(String),
      ]);
    }

    // The status does not wait for anybody: a person merges it.
    const docs = await judge({ 'docs/index.md': 'x' }, 'mallory');
    expect([stateOf(docs), docs.byHand]).toEqual(['success', [expect.stringContaining('merge it by hand')]]);

    const added = await judge(files([...BEFORE, '1.2.0']), asked);
    expect(errorsOf(added)).toEqual([]);
    expect(added.packages.map(({ name }) => name)).toHaveLength(1);
    expect(added.authority.decision).toBe('allow');

    const lost = await judge(files(['1.0.0']), asked);
    expect(errorsOf(lost).map(({ rule }) => rule)).toContain('graph/head-regression');
    // Clusters of the platform before, too, have nowhere to go: reported where their version is.
    const inTouched = errorsOf(lost).filter(({ rule }) => rule !== 'graph/strands-on-platform-upgrade');
    for (const { location, catalogs } of inTouched) {
      expect(location.file.startsWith(at), location.file).toBe(true);
      expect(catalogs ?? [catalog]).toEqual([catalog]);
    }

    const stranger = await judge(files([...BEFORE, '1.2.0']), 'mallory');
    expect(stranger.authority.needs).toEqual([expect.stringContaining(`approval from @${asked} (`)]);
  });
});

describe('what a repository says already', () => {
  const written = async (files: Files, request: Partial<SetupRequest> = {}) => {
    const source = makeRepository();
    onTestFinished(source.remove);
    const commit = source.commit(files);
    const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
    onTestFinished(repository.close);
    const made = await setUpRepository(repository, { commit, admins: ['alice'], ...request });
    const textOf = (name: string): string => made.files.get(name) ?? '';
    const { policy } = readPolicy(Buffer.from(textOf(POLICY_PATH)));
    return { ...made, policy, workflow: (name: string) => textOf(`.github/workflows/${name}`) };
  };
  const community: Files = {
    'catalogs/v4.19/etcd/catalog.yaml': catalogOf('etcd', BEFORE),
    'operators/etcd/ci.yaml': 'reviewers: [bob]\n',
    'operators/quay/ci.yaml': 'cert_project_id: 64f\n',
    'operators/kafka/1.0.0/manifests/a.yaml': 'a: b\n',
  };

  test('the maintainers of operator-pipelines become admins, its registries are allowed', async () => {
    const config =
      'maintainers: [carol, "no login", 7]\nallowed_bundle_registries: [quay.io/org/, "bad host/x", quay.io]\n';
    const { policy, admins } = await written({ ...community, 'config.yaml': config });
    expect(admins).toEqual(['alice', 'carol']);
    expect(policy?.owners.admins).toMatchObject([{ login: 'alice' }, { login: 'carol' }]);
    expect(policy?.registries.allow).toEqual(['quay.io/org', 'quay.io']);
    // Those registries are for bundle images: images that bundles use come from anywhere.
    expect(policy?.rules.get('image/registry')?.severity).toBe('info');
  });

  test.each(['[', 'maintainers: carol\n', 'a'.repeat(2 * 1024 * 1024)])(
    'a config that says nothing',
    async (text) => {
      expect(await written({ ...community, 'config.yaml': text })).toMatchObject({ admins: ['alice'] });
    },
  );

  test('packages with owners are counted, and those whose owner only the certification service knows', async () => {
    expect((await written(community)).owners).toEqual({
      packages: 3,
      owned: 1,
      certified: new Map([['quay', '64f']]),
      unowned: ['kafka', 'quay'],
    });
    const all = await written({ ...community, OWNERS: 'approvers: [dan]\n' });
    expect(all.owners).toEqual({ packages: 3, owned: 3, certified: new Map(), unowned: [] });
  });

  test('CODEOWNERS becomes a source where it names owners whom no other file names', async () => {
    const lines = '* @root\n/catalogs/*/etcd/ @carol\n/operators/kafka/ @dan\n';
    const made = await written({ ...community, '.github/CODEOWNERS': '/operators/kafka/ @dan\n' });
    expect(made).toMatchObject({
      owners: { packages: 3, owned: 2 },
      codeOwners: { path: '.github/CODEOWNERS', packages: 1 },
    });
    expect(made.policy?.owners.sources.slice(-2)).toEqual([
      { path: '.github/CODEOWNERS', format: 'codeowners' },
      { path: '.github/portolan-owners.yaml', format: 'packages' },
    ]);
    const owned = await written({ ...community, OWNERS: 'approvers: [root]\n', CODEOWNERS: lines });
    expect(owned.codeOwners).toBeUndefined();
    expect(owned.policy?.owners.sources.map(({ format }) => format)).toEqual(['ci.yaml', 'prow']);
  });

  test('a file names the packages of which only the certification project is known, to be filled in', async () => {
    const { files, policy } = await written(community);
    const text = files.get('.github/portolan-owners.yaml') ?? '';
    expect(text).toContain('\n# quay: [LOGIN] # cert_project_id 64f\n');
    expect(text).not.toContain('kafka');
    expect(policy?.owners.sources.at(-1)).toEqual({
      path: '.github/portolan-owners.yaml',
      format: 'packages',
    });
    const filled = { ...community, '.github/portolan-owners.yaml': text.replace('# quay', 'quay') };
    const source = makeRepository();
    onTestFinished(source.remove);
    const tree = source.commit({ ...filled, [POLICY_PATH]: files.get(POLICY_PATH) ?? '' });
    const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
    onTestFinished(repository.close);
    if (!policy) throw new Error('no policy');
    const reader = ownersReader(repository.objects, tree, policy);
    expect(await reader.ownersOf('quay', ['operators/quay/ci.yaml'])).toMatchObject({
      identities: [{ login: 'LOGIN' }],
      source: '.github/portolan-owners.yaml',
      findings: [],
    });
    expect((await reader.ownersOf('kafka', ['operators/kafka/x'])).identities).toEqual([]);
    expect(
      (await written({ ...community, 'operators/quay/ci.yaml': 'a: b\n' })).files.has(
        '.github/portolan-owners.yaml',
      ),
    ).toBe(false);
  });

  test('an organization that no gate knows is none, whatever it is called', async () => {
    const found = await written({ ...community, 'config.yaml': 'organization: constructor\n' });
    expect(found.presets).toEqual([]);
  });

  test('templates without a catalog are named', async () => {
    const template = { 'v4.19/catalog-template.json': '{"schema": "olm.template.basic", "entries": []}' };
    expect(await written(template)).toMatchObject({ templates: ['v4.19/catalog-template.json'] });
    expect(await written({ ...template, ...community })).toMatchObject({ templates: [] });
  });

  test('workflows have the branch, the paths of the catalogs and the trigger that were asked for', async () => {
    const files = { 'v4.19/catalog/etcd/catalog.json': catalogOf('etcd', BEFORE) };
    const { workflow } = await written(files, { branch: 'release', trigger: 'workflow_run' });
    expect(workflow('portolan-publish.yml')).toContain("branches: ['release']");
    expect(workflow('install-test.yml')).toContain("paths: ['v*.*/catalog/*/catalog.json']");
    // GitHub reads `+`, `?` and brackets in filters as parts of a pattern.
    const odd = await written(
      { 'c++[1]/v4.19/etcd/catalog.json': catalogOf('etcd', BEFORE) },
      { branch: 'release+1' },
    );
    expect(odd.workflow('portolan-publish.yml')).toContain("branches: ['release\\+1']");
    expect(odd.workflow('install-test.yml')).toContain("paths: ['c\\+\\+\\[1\\]/*/*/catalog.json']");
    const on = (name: string): string[] =>
      Object.keys((load(workflow(name)) as { on: Record<string, unknown> }).on).sort();
    expect(on('portolan.yml')).toEqual([
      'issue_comment',
      'merge_group',
      'push',
      'repository_dispatch',
      'schedule',
      'workflow_run',
    ]);
    expect(on('portolan-review.yml')).toEqual(['pull_request', 'pull_request_review']);
    const privileged = await written(community);
    expect(privileged.workflow('portolan.yml')).toContain('pull_request_target:');
    expect(privileged.workflow('install-test.yml')).toContain("'operators/**'");
  });

  test('where merges replace the images of bundles that another pipeline releases, the policy allows it for heads', async () => {
    const at = 'v4.19/catalog/etcd/catalog.json';
    const catalogs = [BEFORE, [...BEFORE, '1.2.0']].map((versions) => catalogOf('etcd', versions));
    const rebuilt = (text = ''): string => text.replace('/etcd@sha256:', '/etcd-rebuilt@sha256:');
    const history = async (pipeline: string, texts: readonly string[], task = '') => {
      const source = makeRepository();
      onTestFinished(source.remove);
      let commit = source.commit({ [pipeline]: `kind: PipelineRun\n${task}` });
      for (const text of texts) commit = source.commit({ [at]: text }, { parents: [commit] });
      const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
      onTestFinished(repository.close);
      const { rebuilt, files } = await setUpRepository(repository, { commit, admins: ['alice'] });
      const { policy } = readPolicy(Buffer.from(files.get(POLICY_PATH) ?? ''));
      return { ...rebuilt, rebuilds: policy?.graph.rebuilds };
    };
    const [before = '', after = ''] = catalogs;
    expect(rebuilt(after)).not.toBe(after);
    const merges = [before, after, rebuilt(after)];
    expect(await history('.tekton/push.yaml', merges)).toEqual({ merges: 1, of: 3, rebuilds: 'heads' });
    expect(await history('.tekton/push.yaml', [before, after])).toEqual({
      merges: 0,
      of: 2,
      rebuilds: 'none',
    });
    expect(await history('.tekton/push.yaml', [before, after], 'task: validate-fbc\n')).toEqual({
      merges: 0,
      of: 2,
      rebuilds: 'heads',
    });
    // Without such a pipeline, a merge publishes.
    expect(await history('build/push.yaml', merges)).toEqual({ merges: 0, of: 0, rebuilds: 'none' });
  });

  test('the catalogs that are generated from bundles alone get names, and the gate checks them', async () => {
    const annotations = (versions: string): string =>
      `annotations:\n  com.redhat.openshift.versions: ${versions}\n`;
    const at = (version: string): string => `operators/etcd/${version}/metadata/annotations.yaml`;
    const named = async (files: Files) => (await written(files)).bundleCatalogs;
    const bundles = { [at('1.0.0')]: annotations('"v4.18"'), [at('1.1.0')]: annotations('v4.19-v4.20') };
    const all = knownPlatforms().filter(({ major, minor }) => major === 4 && minor >= 18);
    expect(await named(bundles)).toEqual(all.map((one) => `v${formatMinor(one)}`));
    // Without a bundle that is for all later versions, the highest one that is named is the last.
    expect(await named({ [at('1.0.0')]: annotations('v4.18-v4.20') })).toEqual(['v4.18', 'v4.19', 'v4.20']);
    expect(await named({ [at('1.0.0')]: annotations('=v4.19') })).toEqual(['v4.19']);
    expect(await named({ [at('1.0.0')]: 'annotations: {}\n', [at('1.1.0')]: '[' })).toEqual(['catalog']);
    expect(await named({ ...bundles, ...community })).toEqual([]);

    const replacing = (version: string, old: string): Files =>
      Object.fromEntries(
        Object.entries(bundleFiles('etcd', version)).map(([path, text]) => [
          path,
          text.replace('spec:\n', `spec:\n  replaces: etcd.v${old}\n`),
        ]),
      );
    const first = { ...bundleFiles('etcd', '1.0.0'), ...replacing('1.1.0', '1.0.0') };
    const source = makeRepository();
    onTestFinished(source.remove);
    const base = source.commit(first);
    const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
    onTestFinished(repository.close);
    const { files } = await setUpRepository(repository, { commit: base, admins: ['alice'] });
    const policy = { path: POLICY_PATH, bytes: Buffer.from(files.get(POLICY_PATH) ?? '') };
    const rulesOf = async (changes: Files): Promise<string[]> => {
      const head = source.commit(changes, { parents: [base] });
      const { findings } = await checkPullRequest(repository, { base, head, policy, today: '2026-01-01' });
      return findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
    };
    expect(await rulesOf(replacing('1.2.0', '1.1.0'))).toEqual([]);
    const without = Object.fromEntries(Object.keys(bundleFiles('etcd', '1.1.0')).map((path) => [path, null]));
    expect(await rulesOf(without)).toContain('graph/head-regression');
  });
});
