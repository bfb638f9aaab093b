/**
 * Searches for catalogs within the limits that cost the most CPU per byte, after `npm run build`:
 * node scripts/run.mjs bench/costly-inputs.ts [MINUTES] [SEED] [COMMAND…]
 *
 * For each command, fast-check draws shapes of packages or of a bundle directory for some minutes: first any, then some that differ
 * from the worst so far in one property. Each is written twice, the second time twice as large, and given to the command as a
 * process of its own. Prints each shape that is worse than those before, by the CPU that a further MB costs, and the worst one larger.
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
  /** The CRD that each version brings along: the same one, or one with a field more in each. */
  readonly objects: 'none' | 'same' | 'own';
  /** What the bundle directory consists of. */
  readonly bundle: Piece;
  /** What it has a fifth as many of. */
  readonly beside: Piece;
}

type Piece =
  | 'crds'
  | 'properties'
  | 'nested'
  | 'versions'
  | 'images'
  | 'permissions'
  | 'examples'
  | 'descriptors'
  | 'webhooks'
  | 'deployments';

const PIECE: fc.Arbitrary<Piece> = fc.constantFrom(
  'crds',
  'properties',
  'nested',
  'versions',
  'images',
  'permissions',
  'examples',
  'descriptors',
  'webhooks',
  'deployments',
);

const SHAPE: { readonly [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> } = {
  packages: fc.constantFrom(1, 2, 20),
  channels: fc.constantFrom(0, 0.5, 1),
  skips: fc.constantFrom('none', 'own', 'below', 'all'),
  range: fc.constantFrom('none', 'open', 'closed', 'alternatives'),
  chain: fc.constantFrom('replaces', 'tree', 'none'),
  kinds: fc.constantFrom('none', 'same', 'own'),
  requires: fc.constantFrom('none', 'others', 'missing', 'own', 'constraints'),
  versions: fc.constantFrom('releases', 'builds', 'prereleases'),
  objects: fc.constantFrom('none', 'same', 'own'),
  bundle: PIECE,
  beside: PIECE,
};

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
      ...objectsOf(shape, of, i),
    ],
  }));
  const all = [{ schema: 'olm.package', name: of, defaultChannel: 'stable' }, ...channels, ...bundles];
  return all.map((one) => `---\n${JSON.stringify(one)}\n`).join('');
}

/** The API that a version provides: the same one for all versions of a package, or one of its own. */
function kindsOf({ kinds }: Shape, of: string, at: number): unknown[] {
  if (kinds === 'none') return [];
  const group = kinds === 'same' ? `${of}.example.com` : `${of}-${at}.example.com`;
  return [{ type: 'olm.gvk', value: { group, version: 'v1', kind: 'K' } }];
}

/** The CRD that a version brings along, as `olm.bundle.object`. */
function objectsOf({ objects }: Shape, of: string, at: number): unknown[] {
  if (objects === 'none') return [];
  const fields = numbers(objects === 'same' ? PIECES : PIECES + at).map((i) => [`f${i}`, { type: 'string' }]);
  const crd = crdObject(`ks.${of}.example.com`, Object.fromEntries(fields));
  const data = Buffer.from(JSON.stringify(crd)).toString('base64');
  return [{ type: 'olm.bundle.object', value: { data } }];
}

/** What a version requires of each other package, or of one that is not there. */
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

/** A bundle directory: a ClusterServiceVersion with so many pieces of one kind, and a fifth as many of another. */
function bundleFiles({ bundle, beside }: Shape, count: number): Readonly<Record<string, unknown>> {
  const of = (piece: Piece): number[] =>
    numbers(bundle === piece ? count : beside === piece ? Math.ceil(count / 5) : 1);
  const crd = (i: number, properties: Readonly<Record<string, object>>): ReturnType<typeof crdObject> => {
    const made = crdObject(`k${i}s.example.com`, properties);
    const names = { kind: `K${i}`, plural: `k${i}s`, singular: `k${i}`, listKind: `K${i}List` };
    return { ...made, spec: { ...made.spec, group: 'example.com', names } };
  };
  const plain = { spec: { type: 'object', properties: { size: { type: 'integer' } } } };
  const wide = Object.fromEntries(of('properties').map((i) => [`f${i}`, { type: 'string', maxLength: 9 }]));
  const nested = numbers(Math.min(of('nested').length, 40)).reduce<object>(
    (inner) => ({
      type: 'object',
      properties: { a: inner, b: { type: 'array', items: { type: 'string' } } },
    }),
    { type: 'string' },
  );
  const [first] = (crd(0, { ...plain, ...wide }).spec as { readonly versions: readonly object[] }).versions;
  const versions = of('versions').map((i) => ({ ...first, name: `v${i + 1}`, storage: i === 0 }));
  const many = crd(0, {});
  const own = [
    { ...many, spec: { ...many.spec, versions } },
    ...numbers(Math.ceil(of('nested').length / 40)).map((i) => crd(i + 1, { spec: nested })),
    ...of('crds').map((i) => crd(i + 1000, plain)),
  ];
  const container = { name: 'c', image: 'quay.io/x/i:1' };
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: 'p0.v1.0.0',
      annotations: {
        'alm-examples': JSON.stringify(
          of('examples').map((i) => ({
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
        owned: own.map(({ spec }) => {
          const { names } = spec as unknown as {
            readonly names: { readonly plural: string; readonly kind: string };
          };
          const specDescriptors = of('descriptors').map((i) => ({ path: `f${i}`, displayName: `f${i}` }));
          const owned = { name: `${names.plural}.example.com`, version: 'v1', kind: names.kind };
          return names.kind === 'K0' ? { ...owned, specDescriptors } : owned;
        }),
      },
      relatedImages: of('images').map((i) => ({
        name: `i${i}`,
        image: `quay.io/x/i@sha256:${i.toString(16).padStart(64, '0')}`,
      })),
      webhookdefinitions: of('webhooks').map((i) => ({
        type: 'ValidatingAdmissionWebhook',
        deploymentName: 'd0',
        containerPort: 443,
        generateName: `w${i}.example.com`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules: [
          { apiGroups: ['example.com'], apiVersions: ['v1'], resources: [`k${i}s`], operations: ['CREATE'] },
        ],
      })),
      install: {
        strategy: 'deployment',
        spec: {
          deployments: of('deployments').map((i) => ({
            name: `d${i}`,
            spec: { template: { spec: { containers: [container] } } },
          })),
          clusterPermissions: [
            {
              serviceAccountName: 'd',
              rules: of('permissions').map((i) => ({
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

/** Fields of the CRD of a version in a catalog. */
const PIECES = 5;
/** Pieces of a bundle directory for a version of a catalog. */
const IN_BUNDLE = 20;

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

/** The size of what a command reads. */
function bytesFor({ catalog, bundle }: Bytes, command: string): number {
  return command === 'bundle validate' ? bundle : catalog;
}

/** Makes a repository whose last commit adds a version to each package, and a bundle directory beside. @returns their sizes */
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
  // Two commits: the second one has a version more in each package.
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
  for (const [name, value] of Object.entries(bundleFiles(shape, IN_BUNDLE * versions))) {
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
  /** Seconds of CPU that a further MB costs. */
  readonly further: number;
}

/** Versions of the smaller catalog. */
const SMALL = 60;
/** Shapes that are drawn before the worst is varied. */
const ANY = 8;

/** Where the bundle directory is what grows, the catalog stays small for its versions. */
const PLAIN = {
  packages: 1,
  channels: 0,
  skips: 'none',
  range: 'none',
  chain: 'none',
  kinds: 'none',
  requires: 'none',
  objects: 'none',
} as const;

/** The properties of a shape that make a difference to a command. */
function keysFor(command: string): (keyof Shape)[] {
  const keys = Object.keys(SHAPE) as (keyof Shape)[];
  const isOfBundle = (key: keyof Shape): boolean => key === 'bundle' || key === 'beside';
  return keys.filter((key) => isOfBundle(key) === (command === 'bundle validate'));
}

/** Search for the worst shape of a command until its time is over. */
async function search(command: string, { until, seed, directory }: Search): Promise<Found | undefined> {
  const keys = keysFor(command);
  const known = new Set<string>();
  let worst: Found | undefined;
  for (let draw = 0; performance.now() < until; draw++) {
    const [any] = fc.sample(fc.record(SHAPE), { numRuns: 1, seed: seed + draw });
    const [key] = fc.sample(fc.constantFrom(...keys), { numRuns: 1, seed: seed + draw });
    if (!any || !key) break;
    const drawn = worst === undefined || draw < ANY ? any : { ...worst.shape, [key]: any[key] };
    const shape = command === 'bundle validate' ? { ...drawn, ...PLAIN } : drawn;
    const name = JSON.stringify(keys.map((each) => shape[each]));
    if (known.has(name)) continue;
    known.add(name);
    const found = await measured(shape, command, directory);
    if (worst !== undefined && found.further <= worst.further) continue;
    worst = found;
    console.log(line(found));
  }
  console.log(`${command}: ${known.size} shapes`);
  return worst;
}

interface Search {
  /** On the clock of `performance`. */
  readonly until: number;
  readonly seed: number;
  readonly directory: string;
}

/** What a further MB of a shape costs: the difference between a catalog and one with twice as many versions. */
async function measured(shape: Shape, command: string, directory: string): Promise<Found> {
  const run = async (versions: number): Promise<Run & { readonly bytes: number }> => {
    const bytes = bytesFor(repositoryOf(shape, versions, directory), command);
    return { bytes, ...(await costOf(COMMANDS[command] ?? [], directory)) };
  };
  const [small, large] = [await run(SMALL), await run(2 * SMALL)];
  const further = ((large.cpu - small.cpu) / (large.bytes - small.bytes)) * 1e6;
  return { shape, command, bytes: large.bytes, cpu: large.cpu, memory: large.memory, further };
}

/** A found shape, with what it costs, as a line. */
function line({ shape, command, bytes, cpu, memory, further }: Found): string {
  const cost = `${(bytes / 1e6).toFixed(2)} MB  ${cpu.toFixed(2)} s  ${memory.toFixed(0)} MiB  ${further.toFixed(2)} s/MB`;
  return `${command}  ${cost}  ${JSON.stringify(shape)}`;
}

/** Searches for each command, and makes the worst shape larger: twice, until it takes 10 s of CPU or has 8 MB. */
async function main(minutes: number, seed: number, commands: readonly string[]): Promise<void> {
  const directory = join(mkdtempSync(join(tmpdir(), 'portolan-costly-')), 'repository');
  try {
    for (const command of commands) {
      const until = performance.now() + minutes * 60_000;
      const worst = await search(command, { until, seed, directory });
      if (!worst) continue;
      console.log('larger:');
      let [before, far] = [worst, false];
      for (let versions = 4 * SMALL; !far; versions *= 2) {
        const bytes = bytesFor(repositoryOf(worst.shape, versions, directory), command);
        const { cpu, memory } = await costOf(COMMANDS[command] ?? [], directory);
        const further = ((cpu - before.cpu) / (bytes - before.bytes)) * 1e6;
        before = { ...worst, bytes, cpu, memory, further };
        console.log(line(before));
        far = cpu > 10 || bytes > 8e6;
      }
    }
  } finally {
    rmSync(dirname(directory), { recursive: true, force: true });
  }
}

const [, , minutes = '5', seed = '1', ...commands] = process.argv;
await main(Number(minutes), Number(seed), commands.length > 0 ? commands : Object.keys(COMMANDS));
