/**
 * Memory and CPU of the smallest hostile inputs that are known, for each codec, language, schema and pattern that is read:
 * node scripts/run.mjs bench/hostile-inputs.ts [NODE …]
 *
 * Each input is read in a process of its own, by each Node. Prints the table of docs/threat-model.md. Memory is what the
 * input adds to the peak of a process that reads an empty one.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { loadCel } from '../catalog/fbc/cel.ts';
import { decodeBase64 } from '../catalog/go/base64.ts';
import { compileGoRegexp } from '../catalog/go/regexp.ts';
import { PipelineError } from '../pipeline/error.ts';
import { decompressed } from '../pipeline/oci/image/decompress.ts';
import { parsePattern } from '../pipeline/policy/owners/code-owners-pattern.ts';
import { TARGETS } from '../test/fuzz/targets.ts';

interface Input {
  readonly what: string;
  readonly bytes: () => Uint8Array;
  /** The fuzz target of this name when left out. */
  readonly read?: (bytes: Buffer) => unknown;
}

const text = (value: string): Buffer => Buffer.from(value);
const times = (count: number, line: (i: number) => string): Buffer =>
  text(Array.from({ length: count }, (_, i) => line(i)).join(''));
const nested = (depth: number): Buffer => text('['.repeat(depth) + ']'.repeat(depth));
const layer = async (bytes: Uint8Array): Promise<void> => {
  try {
    for await (const _ of decompressed(pieces(bytes)));
  } catch (error) {
    // Beyond a limit, as it should be.
    if (!(error instanceof PipelineError)) throw error;
  }
};

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A zstd frame with a window of 128 MiB, and blocks of one byte that stands for 128 KiB each. */
function zstdBomb(blocks: number): Buffer {
  const block = Buffer.alloc(4);
  block.writeUIntLE((131_072 << 3) | 2, 0, 3);
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3]);
  return Buffer.concat([head, ...Array.from({ length: blocks }, () => block), Buffer.from([1, 0, 0])]);
}

function pack(object: Uint8Array): Buffer {
  const head = Buffer.from([0x50, 0x41, 0x43, 0x4b, 0, 0, 0, 2, 0, 0, 0, 1, 0xb0, 0x80, 0x80, 0x20]);
  return Buffer.concat([head, deflateSync(object), Buffer.alloc(20)]);
}

const DEEP_CRD = `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {versions: [{name: v1, schema: {openAPIV3Schema: ${'{properties: {a: '.repeat(45)}{}${'}}'.repeat(45)}}}]}\n`;
const CHANNELS = (count: number): Buffer =>
  times(count, (i) => {
    const entries = Array.from({ length: count }, (_, k) => `{"name":"p.v1.${k}.0"}`);
    return `{"schema":"olm.channel","package":"p","name":"c${i}","entries":[${entries}]}\n`;
  });

const INPUTS: Readonly<Record<string, Input>> = {
  gzip: { what: 'zeros', bytes: () => gzipSync(Buffer.alloc(300 * 2 ** 20)), read: layer },
  zstd: { what: 'blocks of one byte, window of 128 MiB', bytes: () => zstdBomb(40_000), read: layer },
  tar: { what: 'blocks of zeros and ones', bytes: () => Buffer.alloc(1 << 20, 1) },
  'git-packs': { what: 'an object of zeros', bytes: () => pack(Buffer.alloc(64 << 20)) },
  'git-objects': { what: 'one long line', bytes: () => Buffer.alloc(1 << 20, 0x31) },
  base64: {
    what: 'a value',
    bytes: () => Buffer.alloc(8 << 20, 0x41),
    read: (bytes) => decodeBase64(Buffer.from(bytes).toString()),
  },
  yaml: { what: 'nesting', bytes: () => nested(100_000) },
  'yaml (aliases)': {
    what: 'aliases of aliases',
    bytes: () => times(30, (i) => `a${i}: &a${i} [${i === 0 ? 'x' : `${`*a${i - 1},`.repeat(9)}x`}]\n`),
    read: (bytes) => TARGETS['yaml']?.(bytes),
  },
  'yaml (anchors)': {
    what: 'anchors',
    bytes: () => times(40_000, (i) => `a${i}: &a${i} 1\n`),
    read: (bytes) => TARGETS['yaml']?.(bytes),
  },
  documents: { what: 'separators', bytes: () => times(150_000, () => '---\nx: 1\n') },
  json: { what: 'nesting', bytes: () => nested(500_000) },
  catalogs: { what: '100 channels of 100 entries', bytes: () => CHANNELS(100) },
  templates: { what: 'nesting', bytes: () => nested(50_000) },
  bundles: { what: 'nesting', bytes: () => nested(50_000) },
  crds: { what: 'a schema 45 levels deep', bytes: () => text(DEEP_CRD) },
  policy: {
    what: 'stars in a pattern',
    bytes: () =>
      text(`apiVersion: portolan/v1alpha1\nkind: Portolan\nbranches: ['${'*a'.repeat(50_000)}']\n`),
  },
  CODEOWNERS: {
    what: 'stars in a pattern, a path of 20 kB',
    bytes: () => text('**/*a'.repeat(4000)),
    read: (bytes) => parsePattern(Buffer.from(bytes).toString()).matches('a/'.repeat(10_000)),
  },
  CEL: {
    what: 'a list that doubles 27 times',
    bytes: () => text(`[1]${'.map(x, x + x)'.repeat(27)}.size() > 0`),
    read: async (bytes) => {
      try {
        return (await loadCel()).compile(Buffer.from(bytes).toString());
      } catch (error) {
        return error;
      }
    },
  },
  'Go regular expressions': {
    what: 'repeats of repeats',
    bytes: () => text('((a{1,30}){1,30})*b'),
    read: (bytes) => compileGoRegexp(Buffer.from(bytes).toString())?.test('a'.repeat(10_000)),
  },
  versions: { what: 'digits', bytes: () => Buffer.alloc(900_000, 0x31) },
  ranges: { what: 'alternatives', bytes: () => text('>=1.0.0 || '.repeat(50_000)) },
  references: { what: 'one long name', bytes: () => Buffer.alloc(1 << 20, 0x61) },
  'image-manifests': {
    what: '100,000 layers',
    bytes: () =>
      text(
        `{"schemaVersion":2,"config":{},"layers":[${Array.from({ length: 100_000 }, () => '{"size":1}')}]}`,
      ),
  },
  'registry-replies': { what: 'nesting', bytes: () => nested(200_000) },
  mermaid: { what: '100 channels of 100 entries', bytes: () => CHANNELS(100) },
  'mirror-files': { what: 'nesting', bytes: () => nested(100_000) },
  advisories: { what: 'nesting', bytes: () => nested(100_000) },
  fleets: { what: '100,000 lines', bytes: () => times(100_000, (i) => `g${i},1,4.18,p,1.0.0,stable\n`) },
  kubeconfigs: { what: 'nesting', bytes: () => nested(100_000) },
  rings: { what: 'nesting', bytes: () => nested(500_000) },
  'version-lists': { what: 'digits', bytes: () => Buffer.alloc(900_000, 0x31) },
  messages: { what: 'nesting', bytes: () => nested(500_000) },
  webhooks: { what: 'nesting', bytes: () => nested(2_500_000) },
};

interface Measured {
  readonly bytes: number;
  /** Peak of the process, in MiB. */
  readonly memory: number;
  /** Of user and system, in ms. */
  readonly cpu: number;
}

/** @param file with the input, so that making it costs this process nothing */
async function readOne(name: string, file: string): Promise<Measured> {
  const read = INPUTS[name]?.read ?? TARGETS[name] ?? (() => undefined);
  const bytes = readFileSync(file);
  const began = process.cpuUsage();
  await read(bytes);
  const { user, system } = process.cpuUsage(began);
  const memory = process.resourceUsage().maxRSS / 1024;
  return { bytes: bytes.length, memory, cpu: (user + system) / 1000 };
}

const LONGEST = 120_000;

function measured(node: string, name: string, file: string): Measured | string {
  const words = [fileURLToPath(import.meta.url), 'read', name, file];
  const { stdout, stderr, signal, status } = spawnSync(node, words, { encoding: 'utf8', timeout: LONGEST });
  if (status === 0) return JSON.parse(stdout);
  console.error(stderr);
  return signal === null ? `failed: ${status}` : `over ${LONGEST / 1000} s`;
}

function cell(one: Measured | string, empty: Measured | string): string {
  if (typeof one === 'string' || typeof empty === 'string') return String(one);
  return `${Math.max(0, Math.round(one.memory - empty.memory))} MB, ${(one.cpu / 1000).toFixed(2)} s`;
}

function sizeText(bytes: number): string {
  return bytes < 10_000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`;
}

function table(nodes: readonly string[], folder: string): void {
  const file = join(folder, 'input');
  const versions = nodes.map((node) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim());
  writeFileSync(file, '');
  const empty = nodes.map((node) => measured(node, 'nothing', file));
  console.log(`| read | input | ${versions.map((version) => `Node ${version.slice(1)}`).join(' | ')} |`);
  console.log(`|---|---|${versions.map(() => '---|').join('')}`);
  for (const [name, { what, bytes }] of Object.entries(INPUTS)) {
    writeFileSync(file, bytes());
    const all = nodes.map((node) => measured(node, name, file));
    const [first] = all;
    const size = typeof first === 'object' ? `${sizeText(first.bytes)}: ` : '';
    console.log(
      `| ${name} | ${size}${what} | ${all.map((one, i) => cell(one, empty[i] ?? '')).join(' | ')} |`,
    );
  }
}

const [mode, ...words] = process.argv.slice(2);
if (mode === 'read') {
  console.log(JSON.stringify(await readOne(words[0] ?? '', words[1] ?? '')));
} else {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-inputs-'));
  try {
    table(mode === undefined ? [process.execPath] : [mode, ...words], folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
