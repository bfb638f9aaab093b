/**
 * Searches for catalogs within the limits that cost the most CPU per byte, after `npm run build`:
 * node scripts/run.mjs bench/costly-inputs.ts [SHAPES] [SEED]
 *
 * fast-check draws shapes of packages and of a bundle. Each is written twice, the second time twice as large, and given to the
 * commands as processes of their own. Prints the shapes by what their bytes cost, with how the cost grows, and the worst of
 * each command at 8 MB.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { crdObject } from '../test/fakes/crd-object.ts';
import { type Run, timedRun } from './process.ts';

/** What a catalog consists of. Numbers are shares of its size, so that it can be made larger. */
interface Shape {
  readonly packages: 1 | 2 | 20;
  /** Which part of the entries stands in channels of their own: 0 is one channel. */
  readonly channels: 0 | 0.5 | 1;
  readonly skips: 'none' | 'own' | 'below' | 'all';
  readonly range: 'none' | 'open' | 'closed' | 'alternatives';
  readonly chain: 'replaces' | 'tree' | 'none';
  readonly kinds: 'none' | 'same' | 'own';
  readonly requires: 'none' | 'others' | 'missing' | 'own' | 'constraints';
  readonly versions: 'releases' | 'builds' | 'prereleases';
  /** What the bundle directory consists of. */
  readonly bundle: 'crds' | 'properties' | 'nested' | 'images' | 'permissions' | 'examples';
}

const SHAPE: fc.Arbitrary<Shape> = fc.record({
  packages: fc.constantFrom(1, 2, 20),
  channels: fc.constantFrom(0, 0.5, 1),
  skips: fc.constantFrom('none', 'own', 'below', 'all'),
  range: fc.constantFrom('none', 'open', 'closed', 'alternatives'),
  chain: fc.constantFrom('replaces', 'tree', 'none'),
  kinds: fc.constantFrom('none', 'same', 'own'),
  requires: fc.constantFrom('none', 'others', 'missing', 'own', 'constraints'),
  versions: fc.constantFrom('releases', 'builds', 'prereleases'),
  bundle: fc.constantFrom('crds', 'properties', 'nested', 'images', 'permissions', 'examples'),
});

const SUFFIX = { releases: '', builds: '+b', prereleases: '-rc.1' } as const;

/** The documents of a package with so many versions, as JSON in YAML. */
function packageText(shape: Shape, at: number, versions: number): string {
  const of = `p${at}`;
  const version = (i: number): string => `1.${i}.0${SUFFIX[shape.versions]}`;
  const name = (i: number): string => `${of}.v${version(i)}`;
  const range = (i: number): string => {
    if (shape.range === 'open') return '>=0.0.1';
    if (shape.range === 'closed') return `>=0.0.1 <1.${i}.0`;
    return Array.from({ length: 20 }, (_, k) => `>=1.${i - k - 1}.0 <1.${i - k}.0`).join(' || ');
  };
  const skips = { none: [], own: [-1], below: [-2, -3, -4, -5], all: [] } as const;
  const entries = Array.from({ length: versions }, (_, i) => {
    const below =
      shape.skips === 'all' ? Array.from({ length: i }, (_, k) => k) : skips[shape.skips].map((k) => i + k);
    const replaced = shape.chain === 'tree' ? i >> 1 : i - 1;
    return {
      name: name(i),
      ...(i > 0 && shape.chain !== 'none' ? { replaces: name(replaced) } : {}),
      ...(below.some((k) => k >= 0) ? { skips: below.filter((k) => k >= 0).map(name) } : {}),
      ...(shape.range === 'none' || i < 20 ? {} : { skipRange: range(i) }),
    };
  });
  const more = Math.round(versions * shape.channels);
  const channels = ['stable', ...Array.from({ length: more }, (_, i) => `c${i}`)].map((channel, i) => ({
    schema: 'olm.channel',
    package: of,
    name: channel,
    entries: i === 0 ? entries : entries.slice(0, versions - (i % 3)),
  }));
  const bundles = Array.from({ length: versions }, (_, i) => ({
    schema: 'olm.bundle',
    package: of,
    name: name(i),
    image: `quay.io/x/${of}@sha256:${(at * 100_000 + i).toString(16).padStart(64, '0')}`,
    properties: [
      { type: 'olm.package', value: { packageName: of, version: version(i) } },
      ...kindsOf(shape, of, i),
      ...requiredBy(shape, at, i),
    ],
  }));
  const all = [{ schema: 'olm.package', name: of, defaultChannel: 'stable' }, ...channels, ...bundles];
  return all.map((one) => `---\n${JSON.stringify(one)}\n`).join('');
}

function kindsOf({ kinds }: Shape, of: string, at: number): unknown[] {
  if (kinds === 'none') return [];
  const group = kinds === 'same' ? `${of}.example.com` : `${of}-${at}.example.com`;
  return [{ type: 'olm.gvk', value: { group, version: 'v1', kind: 'K' } }];
}

function requiredBy({ requires, packages }: Shape, at: number, version: number): unknown[] {
  if (requires === 'none') return [];
  const others = requires === 'missing' ? ['absent'] : Array.from({ length: packages }, (_, k) => `p${k}`);
  // A range of its own is read by itself.
  const least = requires === 'own' ? `0.${at}.${version}` : `1.${version % 7}.0`;
  return others
    .filter((of) => of !== `p${at}`)
    .map((packageName) => ({ packageName, versionRange: `>=${least}` }))
    .map((value) =>
      requires === 'constraints'
        ? {
            type: 'olm.constraint',
            value: { failureMessage: 'x', any: { constraints: [{ package: value }] } },
          }
        : { type: 'olm.package.required', value },
    );
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** A bundle directory: a ClusterServiceVersion, and `count` pieces of one kind. */
function bundleFiles({ bundle }: Shape, count: number): Readonly<Record<string, unknown>> {
  const crd = (i: number, properties: Readonly<Record<string, object>>): unknown => {
    const made = crdObject(`k${i}s.example.com`, properties);
    const names = { kind: `K${i}`, plural: `k${i}s`, singular: `k${i}`, listKind: `K${i}List` };
    return { ...made, spec: { ...made.spec, group: 'example.com', names } };
  };
  const plain = { spec: { type: 'object', properties: { size: { type: 'integer' } } } };
  const wide = Object.fromEntries(numbers(count).map((i) => [`f${i}`, { type: 'string', maxLength: 9 }]));
  const nested = numbers(Math.min(count, 40)).reduce<object>(
    (inner) => ({
      type: 'object',
      properties: { a: inner, b: { type: 'array', items: { type: 'string' } } },
    }),
    { type: 'string' },
  );
  const crds: Readonly<Record<string, unknown[]>> = {
    crds: numbers(count).map((i) => crd(i, plain)),
    properties: [crd(0, wide)],
    nested: numbers(Math.ceil(count / 40)).map((i) => crd(i, { spec: nested })),
  };
  const own = crds[bundle] ?? [crd(0, plain)];
  const pieces = bundle === 'images' || bundle === 'permissions' || bundle === 'examples' ? count : 1;
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: 'p0.v1.0.0',
      annotations: {
        'alm-examples': JSON.stringify(
          numbers(bundle === 'examples' ? pieces : 1).map((i) => ({
            apiVersion: 'example.com/v1',
            kind: 'K0',
            metadata: { name: `k${i}` },
            spec: { size: i },
          })),
        ),
      },
    },
    spec: {
      displayName: 'p0',
      version: '1.0.0',
      minKubeVersion: '1.20.0',
      installModes: [{ type: 'AllNamespaces', supported: true }],
      customresourcedefinitions: {
        owned: own.map((_, i) => ({ name: `k${i}s.example.com`, version: 'v1', kind: `K${i}` })),
      },
      relatedImages: numbers(bundle === 'images' ? pieces : 1).map((i) => ({
        name: `i${i}`,
        image: `quay.io/x/i@sha256:${i.toString(16).padStart(64, '0')}`,
      })),
      install: {
        strategy: 'deployment',
        spec: {
          deployments: [
            {
              name: 'd',
              spec: { template: { spec: { containers: [{ name: 'c', image: 'quay.io/x/i:1' }] } } },
            },
          ],
          clusterPermissions: [
            {
              serviceAccountName: 'd',
              rules: numbers(bundle === 'permissions' ? pieces : 1).map((i) => ({
                apiGroups: [`g${i}`],
                resources: ['pods'],
                verbs: ['get'],
              })),
            },
          ],
        },
      },
    },
  };
  const annotations = Object.entries({
    'mediatype.v1': 'registry+v1',
    'manifests.v1': 'manifests/',
    'metadata.v1': 'metadata/',
    'package.v1': 'p0',
    'channels.v1': 'stable',
  }).map(([key, value]) => [`operators.operatorframework.io.bundle.${key}`, value]);
  return {
    'manifests/csv.yaml': csv,
    ...Object.fromEntries(own.map((one, i) => [`manifests/k${i}.yaml`, one])),
    'metadata/annotations.yaml': { annotations: Object.fromEntries(annotations) },
  };
}

/** Pieces of a bundle for a version of a catalog: about as many bytes. */
const PIECES = 5;

const PORTOLAN = resolve('dist/portolan.mjs');

/** By command: its words, in a repository whose last commit adds a version to each package. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  check: ['check', '--base', 'HEAD~1', '--head', 'HEAD'],
  diff: ['diff', 'HEAD~1', 'HEAD', '--repo', '.'],
  audit: ['audit', 'catalogs/v4.20'],
  next: ['next', '--package', 'p0', '--version', '1.0.0', 'catalogs/v4.20'],
  graph: ['graph', 'catalogs/v4.20', '--package', 'p0'],
  'mirror plan': ['mirror', 'plan', 'catalogs/v4.20', '--to', 'registry.example.com', '-o', 'mirror'],
  'bundle validate': ['bundle', 'validate', 'bundle'],
};

/** Bytes of the catalog, and of the bundle directory. */
interface Bytes {
  readonly catalog: number;
  readonly bundle: number;
}

function bytesFor({ catalog, bundle }: Bytes, command: string): number {
  return command === 'bundle validate' ? bundle : catalog;
}

function repositoryOf(shape: Shape, versions: number, directory: string): Bytes {
  const git = (...words: string[]): void => {
    const user = ['-c', 'user.name=b', '-c', 'user.email=b@example.com'];
    execFileSync('git', ['-C', directory, ...user, ...words], { stdio: 'ignore' });
  };
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  git('init', '-q');
  mkdirSync(join(directory, '.github'));
  writeFileSync(join(directory, '.github/portolan.yaml'), 'apiVersion: portolan/v1alpha1\nkind: Portolan\n');
  const perPackage = Math.max(2, Math.round(versions / shape.packages));
  let bytes = 0;
  for (const less of [1, 0]) {
    bytes = 0;
    for (let at = 0; at < shape.packages; at++) {
      const text = packageText(shape, at, perPackage - less);
      const file = join(directory, `catalogs/v4.20/p${at}/catalog.yaml`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      bytes += text.length;
    }
    git('add', '-A');
    git('commit', '-q', '-m', 'x');
  }
  let inBundle = 0;
  for (const [name, value] of Object.entries(bundleFiles(shape, PIECES * versions))) {
    const file = join(directory, 'bundle', name);
    mkdirSync(dirname(file), { recursive: true });
    const text = JSON.stringify(value, null, 1);
    writeFileSync(file, text);
    inBundle += text.length;
  }
  return { catalog: bytes, bundle: inBundle };
}

/** Seconds of CPU. */
const LONGEST = 60;

/** Exit codes up to 2 say what was found, 152 that the process took too long: the CPU that it took is counted. */
async function costOf(command: readonly string[], directory: string): Promise<Run> {
  const script = `cd "$1"; shift; ulimit -t ${LONGEST}; "$@"; code=$?; [ $code -le 2 ] || [ $code -eq 152 ]`;
  return timedRun(['sh', '-c', script, 'sh', directory, process.execPath, PORTOLAN, ...command]);
}

interface Found {
  readonly shape: Shape;
  readonly command: string;
  readonly bytes: number;
  readonly cpu: number;
  readonly memory: number;
  /** What doubling the bytes multiplies the CPU by. */
  readonly growth: number;
}

/** Versions of the smaller catalog. */
const SMALL = 60;

async function measured(shape: Shape, directory: string, idle: number): Promise<Found[]> {
  const runs: { bytes: Bytes; costs: Map<string, Run> }[] = [];
  for (const versions of [SMALL, 2 * SMALL]) {
    const bytes = repositoryOf(shape, versions, directory);
    const costs = new Map<string, Run>();
    for (const [name, words] of Object.entries(COMMANDS)) costs.set(name, await costOf(words, directory));
    runs.push({ bytes, costs });
  }
  const [small, large] = runs;
  return Object.keys(COMMANDS).flatMap((command) => {
    const [one, two] = [small?.costs.get(command), large?.costs.get(command)];
    if (!small || !large || !one || !two) return [];
    const [bytes, before] = [bytesFor(large.bytes, command), bytesFor(small.bytes, command)];
    const doublings = Math.log2(bytes / before);
    const growth = (Math.max(0.02, two.cpu - idle) / Math.max(0.02, one.cpu - idle)) ** (1 / doublings);
    return [{ shape, command, bytes, cpu: two.cpu - idle, memory: two.memory, growth }];
  });
}

function line({ shape, command, bytes, cpu, memory, growth }: Found): string {
  const cost = ((cpu / bytes) * 1e6).toFixed(2);
  return `${cost} s/MB  ${command}  ${(bytes / 1e6).toFixed(2)} MB  ${cpu.toFixed(2)} s  ${memory.toFixed(0)} MB  ×${growth.toFixed(2)}  ${JSON.stringify(shape)}`;
}

const PLAIN = {
  channels: 0,
  skips: 'none',
  range: 'none',
  chain: 'none',
  kinds: 'none',
  requires: 'none',
} as const;

async function main(shapes: number, seed: number): Promise<void> {
  const directory = join(mkdtempSync(join(tmpdir(), 'portolan-costly-')), 'repository');
  try {
    const { cpu: idle } = await costOf(['--version'], tmpdir());
    const found: Found[] = [];
    for (const shape of fc.sample(SHAPE, { numRuns: shapes, seed })) {
      const all = await measured(shape, directory, idle);
      found.push(...all);
      const [worst] = all.sort((a, b) => b.cpu / b.bytes - a.cpu / a.bytes);
      if (worst) console.log(line(worst));
    }
    found.sort((a, b) => (b.cpu / b.bytes) * b.growth - (a.cpu / a.bytes) * a.growth);
    console.log('\nthe worst, larger:');
    for (const command of Object.keys(COMMANDS)) {
      const one = found.find((each) => each.command === command);
      if (!one) continue;
      // Where the bundle directory grows, the catalog stays small for its versions.
      const shape = command === 'bundle validate' ? { ...one.shape, ...PLAIN } : one.shape;
      for (let versions = 4 * SMALL; ; versions *= 2) {
        const bytes = bytesFor(repositoryOf(shape, versions, directory), command);
        const { cpu, memory } = await costOf(COMMANDS[command] ?? [], directory);
        console.log(line({ ...one, bytes, cpu, memory }));
        if (cpu > 10 || bytes > 8e6) break;
      }
    }
  } finally {
    rmSync(dirname(directory), { recursive: true, force: true });
  }
}

const [, , shapes = '20', seed = '1'] = process.argv;
await main(Number(shapes), Number(seed));
