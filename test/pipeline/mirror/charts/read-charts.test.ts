/** What stays of the charts of a repository while its images are planned. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { TAR_END, tarHeader, tarPadding } from '../../../../catalog/fbc/cache/tar.ts';
import { readCharts } from '../../../../pipeline/mirror/charts/read-charts.ts';
import { testClient } from '../../../fakes/host.ts';

/** Of the noise in each chart: more than one needs to see what stays in memory. */
const CHARTS = Number(process.env['CHARTS'] ?? 3);
const BYTES = Number(process.env['CHART_BYTES'] ?? 1000);

function packed(version: string): Uint8Array {
  const files = { 'Chart.yaml': `apiVersion: v2\nname: a\nversion: ${version}\n`, noise: randomBytes(BYTES) };
  const parts = Object.entries(files).flatMap(([path, content]) => {
    const bytes = Buffer.from(content);
    const header = tarHeader({ name: `a/${path}`, kind: 'file', mode: 0o644, size: bytes.length });
    return [header, bytes, new Uint8Array(tarPadding(bytes.length))];
  });
  return gzipSync(Buffer.concat([...parts, TAR_END]), { level: 1 });
}

test('the charts of a repository taken whole are on the disk until the outcome is closed, not in memory', async () => {
  const versions = Array.from({ length: CHARTS }, (_, i) => `1.0.${i}`);
  const index = `entries:\n  a:\n${versions.map((v) => `  - {version: ${v}, urls: [${v}.tgz]}\n`).join('')}`;
  const sizes = new Map<string, number>();
  const location = { file: 'isc.yaml', line: 1, column: 1 };
  let peak = 0;
  const outcome = await readCharts(
    [
      {
        name: '',
        repository: { name: 'r', url: 'https://charts.example.com/', location },
        location,
      } as never,
    ],
    {
      download: async (url) => {
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
        if (url.pathname === '/index.yaml') return new TextEncoder().encode(index);
        const bytes = packed(url.pathname.slice(1, -'.tgz'.length));
        sizes.set(url.pathname.slice(1), bytes.length);
        return bytes;
      },
      registry: testClient([]),
      directory: '.',
      environment: {},
      unseen: 'warning',
    },
  );
  if (process.env['CHARTS']) console.log(`peak of buffers: ${Math.round(peak / 2 ** 20)} MiB`);
  const { fetched, findings, close } = outcome;
  expect(findings).toEqual([]);
  expect(fetched.map(({ file }) => file).sort()).toEqual(versions.map((v) => `a-${v}.tgz`).sort());
  for (const { file, path } of fetched)
    expect(readFileSync(path).length).toBe(sizes.get(file.slice('a-'.length)));
  // What was unpacked to be rendered is gone.
  const [{ path = '' } = {}] = fetched;
  expect(readdirSync(dirname(path))).toHaveLength(versions.length);
  close();
  expect(existsSync(dirname(path))).toBe(false);
});

test.each(['entries: {}\n', 'entries:\n  a: []\n', 'entries:\n  a: [{version: 1.0.0}]\n'])(
  'a repository that is taken whole and has no chart is reported: %j',
  async (index) => {
    const location = { file: 'isc.yaml', line: 1, column: 1 };
    const repository = { name: 'r', url: 'https://charts.example.com/', location };
    const { groups, findings, close } = await readCharts([{ name: '', repository, location } as never], {
      download: async () => new TextEncoder().encode(index),
      registry: testClient([]),
      directory: '.',
      environment: {},
      unseen: 'warning',
    });
    close();
    expect(groups).toMatchObject([{ isPartial: true }]);
    expect(findings.map(({ message }) => message)).toEqual([
      'the repository: https://charts.example.com/ has no charts',
    ]);
  },
);

test('a chart whose file would have the name of another one, or no plain name, is reported', async () => {
  const location = { file: 'isc.yaml', line: 1, column: 1 };
  const chart = packed('1.0.0');
  const selected = (host: string, version = '1.0.0') =>
    ({
      name: 'a',
      version,
      repository: { name: host, url: `https://${host}.example.com/`, location },
      location,
    }) as never;
  const outcome = await readCharts(
    [selected('one'), selected('one'), selected('two'), selected('three', '../1')],
    {
      download: async (url) => {
        const version = url.host.startsWith('three') ? '../1' : '1.0.0';
        if (url.pathname === '/index.yaml')
          return new TextEncoder().encode(`entries:\n  a:\n  - {version: ${version}, urls: [a.tgz]}\n`);
        return url.host.startsWith('one') ? chart : packed('1.0.0');
      },
      registry: testClient([]),
      directory: '.',
      environment: {},
      unseen: 'warning',
    },
  );
  expect(outcome.groups).toHaveLength(4);
  expect(outcome.fetched.map(({ file, path }) => [file, readFileSync(path).equals(chart)])).toEqual([
    ['a-1.0.0.tgz', true],
  ]);
  expect(outcome.findings.map(({ message }) => message)).toEqual([
    'the chart itself cannot be kept as "charts/a-1.0.0.tgz": https://one.example.com/ a 1.0.0 has it, too',
    'the chart itself cannot be kept as "charts/a-../1.tgz": that is not a file name',
  ]);
  outcome.close();
});
