/** Limits of the program that renders charts. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readChartFiles } from '../../../../pipeline/mirror/charts/chart-files.ts';
import { RENDER_LIMITS, renderChart } from '../../../../pipeline/mirror/charts/render.ts';
import { folder } from '../../../fakes/folder.ts';

/** Runs a script in the place of helm. */
async function rendered(script: string, limits: Partial<typeof RENDER_LIMITS>, more = {}) {
  const bin = folder();
  writeFileSync(join(bin, 'helm'), `#!${process.execPath}\n${script}\n`);
  chmodSync(join(bin, 'helm'), 0o755);
  const environment = { PATH: bin, ...more };
  return renderChart('/charts/demo', {
    environment,
    scratch: folder(),
    kubernetes: '1.33',
    limits: { ...RENDER_LIMITS, ...limits },
  });
}

test('a template that does not end is stopped', async () => {
  await expect(rendered('setInterval(() => {}, 1000)', { seconds: 0.3 })).rejects.toMatchObject({
    code: 'too-large',
    message: 'the chart cannot be rendered: it took more than 0.3 s',
  });
});

test('manifests without end are stopped', async () => {
  const endless = "const more = () => process.stdout.write('a'.repeat(65536), more); more();";
  await expect(rendered(endless, { output: 2 ** 20 })).rejects.toMatchObject({
    message: 'the chart cannot be rendered: it gave more than 1 MiB of manifests',
  });
});

test.runIf(process.platform === 'linux')('memory without end is stopped', async () => {
  const hungry = 'const kept = []; setInterval(() => kept.push(Buffer.alloc(2 ** 25, 1)), 5);';
  await expect(rendered(hungry, { memory: 256 })).rejects.toMatchObject({
    message: 'the chart cannot be rendered: it needed more than 256 MiB of memory',
  });
});

test('within the limits, the output is the result, and secrets of the environment are not passed on', async () => {
  const script = "console.log(process.argv.slice(2).join(' '), Object.keys(process.env).join(' '))";
  const text = await rendered(
    script,
    {},
    { AWS_SECRET_ACCESS_KEY: 'x', KUBECONFIG: '/home/me/.kube/config' },
  );
  expect(text).toMatch(/^template release \/charts\/demo --include-crds --kube-version 1.33 /);
  expect(text).not.toContain('AWS_SECRET_ACCESS_KEY');
});

test('schemas of values, which may name any address, are not read; an older helm has no way out', async () => {
  const words = 'const words = process.argv.slice(2);';
  const said = await rendered(`${words} console.log(words.at(-1), process.env.HTTP_PROXY)`, {});
  expect(said).toBe('--skip-schema-validation http://127.0.0.1:9\n');
  const old = `${words}
    if (words.at(-1) !== '1.33') { console.error('Error: unknown flag: ' + words.at(-1)); process.exit(1); }
    console.log('rendered', process.env.HTTPS_PROXY)`;
  expect(await rendered(old, {})).toBe('rendered http://127.0.0.1:9\n');
  const failing = `${words}
    console.error('Error: execution error at (demo/templates/a.yaml:1:4): unknown flag: ' + words.at(-1) + '.');
    process.exit(1)`;
  await expect(rendered(failing, {})).rejects.toMatchObject({ code: 'usage' });
});

test('what is not a chart is refused', async () => {
  const directory = folder();
  await expect(readChartFiles(directory, directory)).rejects.toMatchObject({ code: 'usage' });
  await expect(readChartFiles(join(directory, 'none.tgz'), directory)).rejects.toMatchObject({
    code: 'not-found',
  });
  writeFileSync(join(directory, 'bad.tgz'), gzipSync('not a tar file'.repeat(100)));
  await expect(readChartFiles(join(directory, 'bad.tgz'), directory)).rejects.toMatchObject({
    code: 'corrupt',
  });
  mkdirSync(join(directory, 'chart'));
  writeFileSync(join(directory, 'chart/Chart.yaml'), 'name: [\n');
  await expect(readChartFiles(join(directory, 'chart'), directory)).rejects.toMatchObject({
    message: expect.stringContaining('is not valid YAML'),
  });
});

test.each(['templates', 'crds', 'charts', 'charts/sub', 'templates/sub'])(
  'a chart whose folder %s is a link is refused: its images would be missed',
  async (name) => {
    const [chart, elsewhere] = [folder(), folder()];
    writeFileSync(join(chart, 'Chart.yaml'), 'name: shop\nversion: 1.0.0\n');
    if (name.includes('/')) mkdirSync(dirname(join(chart, name)));
    symlinkSync(elsewhere, join(chart, name));
    await expect(readChartFiles(chart, folder())).rejects.toMatchObject({
      message: expect.stringContaining(`${name}: a link to a directory`),
    });
  },
);
