/** Fleets that attack whoever reads the report: hostile names and numbers in files, in every format. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { written } from '../catalog/olm/universe.ts';
import { folder } from '../fakes/folder.ts';
import { bundle, documents } from '../fakes/gate.ts';
import { makeRepository } from '../fakes/repository.ts';
import { portolan, runCommand } from '../fakes/terminal.ts';

/** Texts that do something where they are not escaped; each has the mark by which it is found. */
const HOSTILE = [
  'MARK</script><script>alert(1)</script>',
  'MARK<img src=x onerror=alert(1)>',
  'MARK](https://evil.example) @admins `x` | cell |',
  'MARK\u001b[31m\u202e::error::x',
  'MARK\n::error file=a::b',
  '=MARK+HYPERLINK("https://evil.example")',
  '__proto__MARK',
  ['MARK$', '{{ secrets.TOKEN }}'].join(''),
];

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const IMAGE = `quay.io/o/p@sha256:${'1'.repeat(64)}`;

function catalog(...versions: string[]): string {
  return documents(
    { schema: 'olm.package', name: 'p', defaultChannel: 'a' },
    {
      schema: 'olm.channel',
      package: 'p',
      name: 'a',
      // The head covers every version, so that names which only the fleet has are simulated, too.
      entries: versions.map((version, i) => ({
        name: `p.v${version}`,
        ...(i === 0 ? {} : { replaces: `p.v${versions[i - 1]}`, skipRange: '<9.0.0' }),
      })),
    },
    ...versions.map((version) => bundle('p', version, { image: IMAGE })),
  );
}

/** A hostile text as each field of a row. */
function table(): string {
  const columns = [
    'cluster',
    'platform',
    'package',
    'csv',
    'version',
    'channel',
    'approval',
    'olm',
    'catalog',
    'range',
  ];
  const good = ['c', '4.18', 'p', '', '1.0.0', 'a', '', '', '', ''];
  const rows = HOSTILE.flatMap((text) =>
    columns.map((_, i) => good.map((cell, j) => quoted(i === j ? text : cell)).join(',')),
  );
  const prerelease = ['x', '4.18', 'p', 'p.v1.0.0-MARK', '1.0.0-MARK', 'a', '', '', '', ''].join(',');
  return [columns.join(','), ...rows, prerelease, ''].join('\n');
}

describe('hostile texts of a fleet', () => {
  test.each(['text', 'json', 'markdown', 'sarif'])('are in no report of a check: %s', async (format) => {
    const made = makeRepository();
    onTestFinished(made.remove);
    const file = 'catalogs/v4.18/p/catalog.yaml';
    const policy = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nfleet: {files: [fleet.csv]}\n';
    const base = made.commit({
      [file]: catalog('1.0.0', '1.1.0'),
      '.github/portolan.yaml': policy,
      'fleet.csv': table(),
    });
    const head = made.commit({ [file]: catalog('1.0.0', '1.1.0', '1.2.0') }, { parents: [base] });
    const { out, err } = await portolan(
      made.directory,
      'check',
      '--base',
      base,
      '--head',
      head,
      '--format',
      format,
    );
    expect(out).not.toContain('MARK');
    expect(err).not.toContain('MARK');
    if (format !== 'sarif') expect(out).toMatch(/fleet/);
    if (format === 'json') {
      const { fleet } = JSON.parse(out);
      const sum = fleet.outcomes.reduce(
        (all: number, { clusters }: { clusters: number }) => all + clusters,
        0,
      );
      expect(sum).toBe(fleet.clusters);
      expect(fleet.unread).toBeGreaterThan(0);
    }
  });

  test.each(['text', 'json', 'html'])(
    'do nothing in an audit, where a terminal of its own sees bad rows: %s',
    async (format) => {
      const directory = folder();
      mkdirSync(join(directory, 'v4.18'));
      const versions = ['1.0.0', '1.1.0'];
      const entries = [{ name: 'p.v1.1.0', replaces: 'p.v1.0.0', skipRange: '<9.0.0' }, { name: 'p.v1.0.0' }];
      writeFileSync(
        join(directory, 'v4.18/catalog.json'),
        written({ p: { versions, channels: { a: entries } } }),
      );
      writeFileSync(join(directory, 'fleet.csv'), table());
      const { out, err } = await runCommand(['audit', 'v4.18', '--fleet', 'fleet.csv', '--format', format], {
        directory,
      });
      expect(out).not.toContain('MARK');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(err).not.toMatch(/[\x1b\u202e]|^::/m);
      expect(err).toContain('fleet.csv:');
    },
  );
});

test.each([
  ['a count beyond all clusters', 'group,count,package,version\ng,99999999999999999999,p,1.0.0\n'],
  ['a negative count', 'group,count,package,version\ng,-5,p,1.0.0\n'],
  ['an exponent', 'group,count,package,version\ng,1e9,p,1.0.0\n'],
])('%s is a row that cannot be read', async (_, text) => {
  const directory = folder();
  mkdirSync(join(directory, 'v4.18'));
  const channels = { a: [{ name: 'p.v1.0.0' }] };
  writeFileSync(join(directory, 'v4.18/catalog.json'), written({ p: { versions: ['1.0.0'], channels } }));
  writeFileSync(join(directory, 'fleet.csv'), text);
  const words = ['next', '--package', 'p', '--fleet', 'fleet.csv', 'v4.18'];
  expect(await runCommand(words, { directory })).toMatchObject({
    exit: 2,
    err: expect.stringContaining('expected a whole number of clusters'),
  });
});

test('quotes that never end and lines without end cost linear time', async () => {
  const directory = folder();
  mkdirSync(join(directory, 'v4.18'));
  const channels = { a: [{ name: 'p.v1.0.0' }] };
  writeFileSync(join(directory, 'v4.18/catalog.json'), written({ p: { versions: ['1.0.0'], channels } }));
  const header = 'cluster,package,version\n';
  for (const body of [
    `${'a,p,1.0.0\n'.repeat(50_000)}"`,
    `"${'"",'.repeat(200_000)}`,
    ','.repeat(1_000_000),
  ]) {
    writeFileSync(join(directory, 'fleet.csv'), header + body);
    const { exit } = await runCommand(['next', '--package', 'p', '--fleet', 'fleet.csv', 'v4.18'], {
      directory,
    });
    expect(exit).toBe(2);
  }
});
