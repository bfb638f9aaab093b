/** Index images of real catalogs: what is in them, and that nothing but the catalog decides their digests. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { buildProgram, program } from '../fakes/program.ts';
import { registryApi } from '../fakes/registry-api.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { freePort, isOnPath } from '../fakes/tools.ts';
import { verifyCache } from '../fakes/verify-cache.ts';

const GOLDEN = process.env['PORTOLAN_GOLDEN'] ?? '../shared/golden';
const HISTORY = join(GOLDEN, '../data/pr-history.bundle');

let sample: SampleRepository;
beforeAll(() => {
  buildProgram();
  sample = sampleRepository();
  return sample.remove;
});

interface PublishedImage {
  readonly digest: string;
  /** The layout that holds it. */
  readonly layout: string;
}

/** Publishes into a layout of its own. */
function published(
  repository: string,
  catalog: string,
  { words = [], environment = {} }: { words?: readonly string[]; environment?: NodeJS.ProcessEnv } = {},
): PublishedImage {
  const layout = join(folder(), 'layout');
  const ended = program(
    [
      ...['publish', '--repo', repository, '--catalog', catalog, '--to', `oci:${layout}`, '--fence', 'none'],
      ...['--out', folder(), ...words],
    ],
    environment,
  );
  expect(ended.exit, ended.err).toBe(0);
  return { digest: /digest +(sha256:\w+)/.exec(ended.out)?.[1] ?? '', layout };
}

interface Manifest {
  readonly manifests: readonly { readonly digest: string }[];
  readonly layers: readonly { readonly digest: string }[];
}

/** Files of the layers of the first platform, the lowest first. */
function layersOf({ layout, digest }: PublishedImage): string[] {
  const blob = (name = ''): string => join(layout, 'blobs', name.replace(':', '/'));
  const read = (name = ''): Manifest => JSON.parse(readFileSync(blob(name), 'utf8')) as Manifest;
  return read(read(digest).manifests[0]?.digest).layers.map((layer) => blob(layer.digest));
}

/** The image as files, its layers stacked by tar. */
function unpacked(image: PublishedImage): string {
  const root = folder();
  for (const layer of layersOf(image)) execFileSync('tar', ['-xzpf', layer, '-C', root]);
  return root;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * What the sample becomes on every Node, in every directory, on every day. Who changes what builds write changes
 * these: then every publish of everybody sends a whole image once.
 */
const RECORDED = {
  gzip: 'sha256:817043c6fd5fc587a903b929a76cbb38fee9513be84204da91276c52f5287a8b',
  zstd: 'sha256:5f87b5d7508d1a1592daeac0da0700885ea9fc605e565287e86018a722d0e888',
};

/** A program that is loaded before ours, and says that it is another day. */
const OTHER_DAY = `data:text/javascript,${encodeURIComponent(
  'const Real = Date; globalThis.Date = class extends Real { constructor(...all) { super(...(all.length ? all : [Real.now() + 9e11])); } static now() { return Real.now() + 9e11; } };',
)}`;

describe('the digest of the sample', () => {
  test.each(['gzip', 'zstd'] as const)('is the recorded one on this Node (%s)', (compression) => {
    const { digest } = published(sample.directory, 'v4.20', {
      words: ['--commit', 'main', '--compression', compression],
    });
    expect(digest).toBe(RECORDED[compression]);
  });

  test('is the same from another directory, another commit, another day', () => {
    const other = join(folder(), 'elsewhere');
    cpSync(sample.directory, other, { recursive: true });
    const who = {
      GIT_AUTHOR_NAME: 'o',
      GIT_AUTHOR_EMAIL: 'o@example.com',
      GIT_AUTHOR_DATE: '2031-02-03T04:05:06Z',
    };
    const committer = { GIT_COMMITTER_NAME: 'o', GIT_COMMITTER_EMAIL: 'o@example.com' };
    const commit = execFileSync(
      'git',
      ['-C', other, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'nothing'],
      { encoding: 'utf8', env: { ...process.env, ...who, ...committer } },
    ).trim();
    const environment = {
      NODE_OPTIONS: `--import=${OTHER_DAY}`,
      TZ: 'Pacific/Kiritimati',
      LANG: 'tr_TR.UTF-8',
    };
    expect(published(other, 'v4.20', { words: ['--commit', commit], environment }).digest).toBe(
      RECORDED.gzip,
    );
  });
});

/** The catalog that opm serves. */
const GENUINE = 'v4.20';

interface Recordings {
  readonly catalogs: Readonly<Record<string, { readonly 'render-json': { readonly sha256: string } }>>;
}

describe.skipIf(!existsSync(HISTORY))('catalogs of a community repository', () => {
  const history = (): string => {
    const clone = folder();
    execFileSync('git', ['clone', '--quiet', '--bare', HISTORY, clone]);
    return clone;
  };

  const { catalogs }: Recordings = existsSync(HISTORY)
    ? JSON.parse(readFileSync(join(GOLDEN, 'fbc-real/expect.json'), 'utf8'))
    : { catalogs: {} };

  test.each(Object.entries(catalogs))(
    'what is exported of %s renders as opm renders the source',
    async (name, recorded) => {
      const image = published(history(), name);
      const cache = await verifyCache(
        layersOf(image).map((layer) => createReadStream(layer)),
        folder(),
      );
      expect(cache.recorded).toBe(cache.computed);
      const root = unpacked(image);
      const rendered = program(['opm', 'render', join(root, 'configs')]);
      expect(rendered.exit, rendered.err).toBe(0);
      expect(sha256(rendered.out)).toBe(recorded['render-json'].sha256);
    },
  );

  // Only opm itself can tell; where there is none, the replay from the layers above stands for it.
  const whereOpmIs = isOnPath('opm') ? [GENUINE] : [];
  test.each(whereOpmIs)('opm serves %s without touching the cache, and refuses it changed', async (name) => {
    const root = unpacked(published(history(), name));
    const [configs, cache] = [join(root, 'configs'), join(root, 'tmp/cache')];
    const serve = async (): Promise<{ exit: Promise<number | null>; port: number; stop: () => void }> => {
      const port = await freePort();
      const parameters = [
        'serve',
        configs,
        `--cache-dir=${cache}`,
        '--port',
        String(port),
        '--pprof-addr',
        '',
      ];
      const child = spawn('opm', [...parameters, '--termination-log', join(folder(), 'log')], {
        stdio: 'ignore',
      });
      onTestFinished(() => void child.kill());
      const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
      return { exit, port, stop: () => child.kill() };
    };
    const running = await serve();
    const api = registryApi(running.port);
    onTestFinished(api.close);
    let answer = await api.ask('ListPackages', {});
    for (let tries = 0; tries < 100 && 'error' in answer; tries++) {
      await new Promise((done) => setTimeout(done, 100));
      answer = await api.ask('ListPackages', {});
    }
    expect('stream' in answer && answer.stream.length).toBeGreaterThan(10);
    running.stop();
    await running.exit;
    mkdirSync(join(configs, 'more'));
    writeFileSync(join(configs, 'more/catalog.json'), '{"schema":"olm.package","name":"more"}');
    expect(await (await serve()).exit).not.toBe(0);
  });
});
