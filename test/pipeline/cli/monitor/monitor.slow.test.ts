/** The monitor over repositories of its own, with real merges. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { MonitoredRepository } from '../../../../pipeline/check/monitor/monitor.ts';
import { readMonitorList, updateClone } from '../../../../pipeline/cli/monitor/monitor.ts';
import { folder } from '../../../fakes/folder.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { sampleFiles, sampleRepository } from '../../../fakes/sample.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

const LIGHTHOUSE = 'catalogs/v4.20/lighthouse-operator/catalog.yaml';

/** The sample in which somebody was stranded, as one of the repositories of a monitor. */
function stranded() {
  const sample = sampleRepository();
  onTestFinished(() => sample.remove());
  const stranding = sample.git('show', `${sample.stranding}:${LIGHTHOUSE}`);
  const bad = sample.commit(
    { [LIGHTHOUSE]: `${stranding}\n` },
    { parents: [sample.base], message: 'Add <b>2.2.0</b> (#7)', branch: 'main' },
  );
  return { ...sample, bad };
}

interface Monitor {
  readonly ran: Ran;
  readonly site: string;
  readonly json: {
    readonly repositories: readonly MonitoredRepository[];
    readonly failed: readonly unknown[];
  };
}

async function monitored(directory: string, list: string): Promise<Monitor> {
  const at = folder({ 'list.txt': list });
  mkdirSync(join(at, 'clones/sea'), { recursive: true });
  symlinkSync(directory, join(at, 'clones/sea/catalogs'));
  const ran = await portolan(
    at,
    'monitor',
    'list.txt',
    '--offline',
    '--out',
    'site',
    '--url',
    'https://anna:secret@sea.example/m/',
  );
  expect(existsSync(join(at, 'site')), ran.err).toBe(true);
  const site = join(at, 'site');
  return { ran, site, json: JSON.parse(readFileSync(join(site, 'monitor.json'), 'utf8')) };
}

describe('the monitor', () => {
  test('says who is stuck since which merge, with a patch that repairs it', async () => {
    const { git, commit, bad, directory, base } = stranded();
    const { ran, site, json } = await monitored(directory, 'sea/catalogs main # the sample\n');
    expect(ran).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 merge took an upgrade path, 1 left'),
    });
    const [repository] = json.repositories;
    expect(repository).toMatchObject({
      name: 'sea/catalogs',
      tip: bad,
      merges: 1,
      unconfirmed: 0,
      removed: 0,
    });
    expect(repository?.entries).toMatchObject([
      {
        package: 'lighthouse-operator',
        merge: { commit: bad, pullRequest: 7 },
        state: 'stuck',
        lost: [{ olm: 'v0', channel: 'stable', versions: ['2.0.0'], catalogs: ['v4.20'] }],
      },
    ]);
    const page = readFileSync(join(site, 'sea+catalogs.html'), 'utf8');
    expect(page).toContain('Add &lt;b&gt;2.2.0&lt;/b&gt; (#7)');
    expect(page).toContain('href="https://github.com/sea/catalogs/pull/7"');
    expect(page).not.toMatch(/<script|<b>2\.2/);
    const index = readFileSync(join(site, 'index.html'), 'utf8');
    expect(index).toContain('sea+catalogs.html#e1');
    expect(index.match(/(?<=<th [^>]*>)[^<]+/g)).toEqual([
      'Since',
      'Package',
      'Versions',
      'Repository',
      'Days',
      'Repository',
      'Stuck',
      'Repaired',
      'Merges',
      'Checked',
    ]);
    expect(readFileSync(join(site, 'badges/sea+catalogs.svg'), 'utf8')).toContain('1 stuck');
    expect(readFileSync(join(site, 'badges/sea+catalogs/lighthouse-operator.svg'), 'utf8')).toContain(
      '1 stuck',
    );
    const feed = readFileSync(join(site, 'feed.xml'), 'utf8');
    expect(feed).toContain('<link href="https://sea.example/m/sea+catalogs.html#e1"/>');
    expect(feed).not.toContain('<b>');
    expect(feed).not.toContain('secret');

    // The patch applies, and then nobody is stuck.
    git('checkout', '--quiet', '-f', bad);
    git('apply', join(site, 'patches/sea+catalogs/1.patch'));
    const repaired = readFileSync(join(directory, LIGHTHOUSE), 'utf8');
    const fixed = commit({ [LIGHTHOUSE]: repaired }, { parents: [bad], message: 'Repair', branch: 'main' });
    const after = await monitored(directory, 'sea/catalogs main\n');
    expect(after.json.repositories[0]?.entries).toMatchObject([
      {
        merge: { commit: bad },
        state: 'repaired',
        lost: [{ versions: ['2.0.0'], repaired: { commit: fixed } }],
      },
    ]);
    expect(readFileSync(join(after.site, 'badges/sea+catalogs.svg'), 'utf8')).toContain('nobody stuck');

    // A harmless branch has no entry.
    git('branch', 'harmless', base);
    expect((await monitored(directory, 'sea/catalogs addition')).json.repositories[0]?.entries).toEqual([]);
  });

  test('counts the repair of one version apart from the loss of another one', async () => {
    const { commit, bad, directory } = stranded();
    const back = commit(
      { [LIGHTHOUSE]: sampleFiles()[LIGHTHOUSE] ?? null },
      { parents: [bad], message: 'Revert', branch: 'main' },
    );
    const { json } = await monitored(directory, 'sea/catalogs main');
    const entries = json.repositories[0]?.entries ?? [];
    expect(entries.map(({ merge, state }) => [merge.commit, state]).sort()).toEqual(
      [
        [bad, 'repaired'],
        [back, 'stuck'],
      ].sort(),
    );
    const stuck = entries.find(({ state }) => state === 'stuck');
    expect(stuck?.lost.every(({ versions }) => versions.join() === '2.2.0')).toBe(true);
  });

  test('one line removes an entry, and one broken repository stops no other', async () => {
    const { bad, directory } = stranded();
    const list = `sea/missing\nsea/catalogs main\n! sea/catalogs ${bad.slice(0, 9)} lighthouse-operator\n`;
    const { ran, site, json } = await monitored(directory, list);
    expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining('sea/missing: there is no clone') });
    expect(json.repositories).toMatchObject([{ entries: [], removed: 1 }]);
    expect(json.failed).toMatchObject([{ name: 'sea/missing' }]);
    expect(existsSync(join(site, 'patches'))).toBe(false);
    const other = await monitored(directory, `sea/catalogs main\n! sea/catalogs ${bad} ferry-operator`);
    expect(other.json.repositories).toMatchObject([{ entries: [{ state: 'stuck' }], removed: 0 }]);
  });
});

test.each([
  'sea',
  'sea/catalogs main more',
  '../../etc/passwd',
  'sea/catalogs --upload-pack=x',
  '! sea/catalogs main',
  '! sea/catalogs 0123456 p more',
])('the list may not have %j', (line) => {
  expect(() => readMonitorList(`# first\n${line}\n`, 'list.txt')).toThrow(
    /list\.txt:2: expected OWNER\/NAME/,
  );
});

test('clones are made and brought up to date, whatever their branches are called', async () => {
  const origin = makeRepository();
  onTestFinished(origin.remove);
  const first = origin.commit({ a: '1' }, { branch: 'trunk' });
  origin.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
  const clone = join(folder(), 'sea/catalogs');
  const settings = { searchPath: process.env['PATH'] };
  const update = (branch?: string): Promise<void> =>
    updateClone(clone, { url: origin.directory, branch, settings, reach: {} });
  const tip = (name: string): string => readFileSync(join(clone, 'refs/heads', name), 'utf8').trim();
  await update();
  expect(tip('portolan-monitor')).toBe(first);
  const second = origin.commit({ a: '2' }, { parents: [first], branch: 'trunk' });
  await update();
  await update('trunk');
  expect([tip('portolan-monitor'), tip('trunk')]).toEqual([second, second]);
  await expect(update('gone')).rejects.toThrow(/git fetch/);
  expect(readdirSync(dirname(clone))).toEqual(['catalogs']);
});
