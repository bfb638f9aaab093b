/** Commands that change catalogs: the effect on clusters comes first, and harm is written only where it was accepted. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../../pipeline/cli/commands.ts';
import { folder } from '../../fakes/folder.ts';
import { bundle, catalogOf, documents } from '../../fakes/gate.ts';
import { type Files, makeRepository } from '../../fakes/repository.ts';
import { portolan, type Ran } from '../../fakes/terminal.ts';

const [V19, V20] = ['catalogs/v4.19/etcd/catalog.yaml', 'catalogs/v4.20/etcd/catalog.yaml'];

/** A clone with a commit for each set of files, the last one checked out. */
function cloneOf(...commits: readonly Files[]): string {
  const made = makeRepository();
  onTestFinished(made.remove);
  const last = made.chain(...commits).at(-1) ?? '';
  made.git('update-ref', 'refs/heads/main', last);
  made.git('reset', '--quiet', '--hard', last);
  return made.directory;
}

function writeAll(directory: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

/** A bundle directory for the next version of etcd. */
function bundleFiles(folderName: string, minKubeVersion = '1.22.0'): Record<string, string> {
  return {
    [`${folderName}/manifests/csv.yaml`]: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcd.v1.2.0}
spec: {version: 1.2.0, minKubeVersion: ${minKubeVersion}, install: {strategy: deployment, spec: {deployments: []}}}
`,
    [`${folderName}/metadata/annotations.yaml`]:
      'annotations:\n  operators.operatorframework.io.bundle.package.v1: etcd\n',
  };
}

const ADD = [
  'catalogs/v4.20',
  '--channel',
  'stable',
  '--image',
  'quay.io/org/etcd:1.2.0',
  '--replaces',
  'etcd.v1.1.0',
];
const BOTH = { [V19]: catalogOf('etcd', ['1.0.0', '1.1.0']), [V20]: catalogOf('etcd', ['1.0.0', '1.1.0']) };
const read = (directory: string, path = V20): string => readFileSync(join(directory, path), 'utf8');

interface Story {
  /** Makes the place where both command lines run. */
  readonly place: () => string;
  readonly harmful: readonly string[];
  /** What the effect has about it. */
  readonly rule: string;
  readonly harmless: readonly string[];
}

/** Of each command that changes catalogs: an edit that harms clusters, and a similar one that does not. */
const STORIES: Readonly<Record<string, Story>> = {
  add: {
    place: () => writeAll(cloneOf(BOTH), { ...bundleFiles('new'), ...bundleFiles('odd', '"1.22"') }),
    // OLM v0 refuses a version without three numbers.
    harmful: ['add', 'odd', ...ADD],
    rule: 'graph/min-kube-version',
    harmless: ['add', 'new', ...ADD],
  },
  promote: {
    place: () =>
      writeAll(cloneOf(BOTH), {
        'old/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
        'more/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']),
      }),
    harmful: ['promote', 'etcd', '--from', 'old', '--to', 'catalogs/v4.20'],
    rule: 'graph/head-regression',
    harmless: ['promote', 'etcd', '--from', 'more', '--to', 'catalogs/v4.20'],
  },
};

async function run(story: Story, words: readonly string[]): Promise<Ran & { readonly changed: boolean }> {
  const directory = story.place();
  const before = textsIn(directory);
  const ran = await portolan(directory, ...words);
  return { ...ran, changed: textsIn(directory) !== before };
}

function textsIn(directory: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const paths = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((one) => !one.includes('.git/'));
  return JSON.stringify(paths.sort().map((path) => [path, readFileSync(path, 'utf8')]));
}

describe.each(Object.entries(STORIES))('%s', (_, story) => {
  test('harm is shown and not written, unless it was accepted', async () => {
    const refused = await run(story, story.harmful);
    expect(refused).toMatchObject({ exit: 1, out: '', changed: false });
    expect(refused.err).toMatch(new RegExp(`error: .*\\(${story.rule}`));
    expect(refused.err).toContain('FAIL: nothing was written: ');
    const accepted = await run(story, [...story.harmful, '--accept-stranding']);
    expect(accepted, accepted.err).toMatchObject({ exit: 0, changed: true });
    expect(accepted.err).toContain(story.rule);
  });

  test('the effect of a harmless edit is shown, and the edit is written', async () => {
    const fine = await run(story, story.harmless);
    expect(fine, fine.err).toMatchObject({ exit: 0, changed: true });
    expect(fine.err).toMatch(/ in v4\.20\n/);
  });
});

test('prune: the loss of a package is shown, and is what was asked for', async () => {
  const directory = cloneOf({ ...BOTH, 'catalogs/v4.20/other/catalog.yaml': catalogOf('other', ['1.0.0']) });
  const pruned = await portolan(directory, 'prune', 'catalogs/v4.20', '--keep', 'other');
  expect(pruned).toMatchObject({ exit: 0, out: 'etcd/catalog.yaml\n' });
  expect(pruned.err).toContain('(graph/package-removed)');
});

test('advisory apply and rollback take the whole repository into account as well', async () => {
  // 1.1.0 is gone from the catalog, and 1.0.0 with it: who has 1.0.0 cannot upgrade any more.
  const directory = cloneOf({ [V20]: catalogOf('etcd', ['1.0.0']) }, BOTH);
  const back = await portolan(directory, 'rollback', 'v4.20', '--to', 'HEAD~1');
  expect(back).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('1.1.0') });
  const made = ['advisory', 'new', 'ETCD-1', '--package', 'etcd', '--version', '1.0.0', '-m', 'Loses data'];
  await portolan(directory, ...made, '--reason', 'data-loss');
  const applied = await portolan(directory, 'advisory', 'apply', 'ETCD-1');
  expect(applied, applied.err).toMatchObject({ exit: 0 });
  expect(applied.err).toMatch(/etcd \(changed\) in v4\.19, v4\.20\n/);
});

test('index add, index rm, index prune and compose compare with the index that they replace', async () => {
  const directory = writeAll(folder(), {
    'index/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']) + catalogOf('other', ['1.0.0']),
    'old/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    'new/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']),
    'old.yaml': 'name: a\nrepo: quay.io/a/b\ntag: v1\nreferences: [{name: etcd, image: old}]\n',
    'new.yaml': 'name: a\nrepo: quay.io/a/b\ntag: v1\nreferences: [{name: etcd, image: new}]\n',
  });
  const compose = ['--from-index', 'index', '--to', 'made'];
  const refused = await portolan(directory, 'compose', 'old.yaml', ...compose);
  expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('(graph/head-regression)') });
  expect(readdirSync(directory)).not.toContain('made');
  const fine = await portolan(directory, 'compose', 'new.yaml', ...compose);
  expect(fine, fine.err).toMatchObject({ exit: 0, err: expect.stringContaining('bundle etcd.v1.2.0 added') });
  const without = ['index', 'rm', '--operators', 'other', '--from-index', 'index', '--to', 'less'];
  const removed = await portolan(directory, ...without);
  expect(removed).toMatchObject({ exit: 0, err: expect.stringContaining('(graph/package-removed)') });
});

describe('the world of a work tree', () => {
  test('a catalog that is not edited counts, committed or not; without a repository this is said', async () => {
    const all = ['add', 'new', 'catalogs/v4.19', ...ADD.slice(1)];
    const alone = await portolan(writeAll(cloneOf(BOTH), bundleFiles('new')), ...all);
    expect(alone.err).toContain('(graph/strands-on-platform-upgrade)');
    // The next catalog has the version already, in a file that nobody has committed.
    const both = writeAll(cloneOf(BOTH), {
      ...bundleFiles('new'),
      [V20]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']),
    });
    expect((await portolan(both, ...all)).err).not.toContain('strands-on-platform-upgrade');
    const nowhere = await portolan(writeAll(folder(), { ...BOTH, ...bundleFiles('new') }), ...all);
    expect(nowhere.err).toMatch(
      /not checked: other catalogs, and versions that were published before: .* is not in a git repository\n/,
    );
  });

  test('versions that were pruned long ago count', async () => {
    const range = (version: string, skipRange: string): string =>
      documents(
        { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
        {
          schema: 'olm.channel',
          package: 'etcd',
          name: 'stable',
          entries: [{ name: `etcd.v${version}`, skipRange }],
        },
        bundle('etcd', version),
      );
    const old = { [V20]: catalogOf('etcd', ['0.9.0']) };
    const words = ['promote', 'etcd', '--from', 'next', '--to', 'catalogs/v4.20'];
    const place = (skipRange: string): string =>
      writeAll(cloneOf(old, { [V20]: range('1.1.0', '<1.1.0') }), {
        'next/etcd/catalog.yaml': range('1.2.0', skipRange),
      });
    const harmful = await portolan(place('>=1.1.0 <1.2.0'), ...words);
    expect(harmful).toMatchObject({ exit: 1, err: expect.stringContaining('0.9.0') });
    expect(await portolan(place('<1.2.0'), ...words)).toMatchObject({ exit: 0 });
  });

  test('files that are ignored, linked or gone do no harm', async () => {
    const directory = cloneOf({ ...BOTH, '.gitignore': 'new/\n', 'gone.txt': 'x' });
    writeAll(directory, bundleFiles('new'));
    writeFileSync(join(directory, 'a\nb'), 'x');
    const ran = await portolan(directory, 'add', 'new', ...ADD);
    expect(ran, ran.err).toMatchObject({ exit: 0 });
    expect(read(directory)).toContain('etcd.v1.2.0');
  });
});

/** Commands that change what clusters get. Other commands that write files are in {@link WRITE_OTHER_FILES}. */
const CHANGE_CATALOGS: readonly string[] = [
  ...['add', 'deprecate', 'promote', 'prune', 'compose', 'resolve'],
  ...['advisory apply', 'release', 'rollback', 'index add', 'index rm', 'index prune'],
];

test('the commands that change catalogs, and no others, have --accept-stranding', async () => {
  const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
  const asking = commands.filter(({ options }) => 'accept-stranding' in options).map(({ words }) => words);
  expect(asking.sort(), 'list a command that changes catalogs in CHANGE_CATALOGS').toEqual(
    [...CHANGE_CATALOGS].sort(),
  );
});

/** Sources of commands that write files, but change no catalog. */
const WRITE_OTHER_FILES: readonly string[] = [
  ...[
    'catalog/graph.ts',
    'monitor/monitor.ts',
    'renovate/renovate.ts',
    'catalog/convert.ts',
    'catalog/convert-package-manifests.ts',
    'rendering.ts',
    'opm/dockerfile.ts',
  ],
  ...['opm/migrate.ts', 'repository/setup.ts', 'repository/advisory-new.ts', 'repository/rehearse.ts'],
  ...['repository/ledger.ts', 'bundle/generate.ts', 'publish/rings.ts', 'publish/build-selection.ts'],
];

test('a command that writes files shows the effect first, or is known to write no catalog', () => {
  const root = 'pipeline/cli';
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.ts'),
  );
  const WRITES =
    /\b(?:writeFiles|stageFiles|writeNewFolder|writePackages|writeFileSync|writeReleased|writeEdit|makeBranch|buildImage)\(/;
  const SHOWS = /\b(?:showEffect|madeWithEffect)\(/;
  const writing = sources.filter((one) => WRITES.test(readFileSync(join(root, one), 'utf8')));
  const silent = writing.filter((one) => !SHOWS.test(readFileSync(join(root, one), 'utf8')));
  // The callers of printOrWriteCatalog and deliverIndex make the catalogs that these write.
  const delivering = sources.filter((one) =>
    /\breturn (?:printOrWriteCatalog|deliverIndex)\(/.test(readFileSync(join(root, one), 'utf8')),
  );
  const mute = delivering.filter((one) => !SHOWS.test(readFileSync(join(root, one), 'utf8')));
  expect(mute.sort()).toEqual(['catalog/render.ts', 'index/index-image.ts']);
  const others = silent.filter((one) => !one.startsWith('mirror/') && one !== 'index/index-image.ts');
  expect(
    others.sort(),
    'call showEffect before the command writes a catalog; list a source that writes other files in WRITE_OTHER_FILES',
  ).toEqual([...WRITE_OTHER_FILES].sort());
});
