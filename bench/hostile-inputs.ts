/**
 * Memory and CPU of the smallest hostile inputs that are known, for each codec, language, schema and pattern that is read:
 * node scripts/run.mjs bench/hostile-inputs.ts [NODE …]
 *
 * Each input is read in a process of its own, by each Node. Prints the table of bench/hostile-inputs.md. Memory is what the
 * input adds to the peak of a process that reads an empty one.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOSTILE } from '../test/fuzz/hostile.ts';
import { TARGETS } from '../test/fuzz/targets.ts';

interface Measured {
  readonly bytes: number;
  /** Peak of the process, in MiB. */
  readonly memory: number;
  /** Of user and system, in ms. */
  readonly cpu: number;
}

/** @param file with the input, so that making it costs this process nothing */
async function readOne(name: string, file: string): Promise<Measured> {
  const read = HOSTILE[name]?.read ?? TARGETS[name] ?? (() => undefined);
  const bytes = readFileSync(file);
  const began = process.cpuUsage();
  await read(bytes);
  const { user, system } = process.cpuUsage(began);
  const memory = process.resourceUsage().maxRSS / 1024;
  return { bytes: bytes.length, memory, cpu: (user + system) / 1000 };
}

const LONGEST = 120_000;

/** What a Node takes to read an input; a text where it fails, or takes too long. */
function measured(node: string, name: string, file: string): Measured | string {
  const words = [fileURLToPath(import.meta.url), 'read', name, file];
  const { stdout, stderr, signal, status } = spawnSync(node, words, { encoding: 'utf8', timeout: LONGEST });
  if (status === 0) return JSON.parse(stdout);
  console.error(stderr);
  return signal === null ? `failed: ${status}` : `over ${LONGEST / 1000} s`;
}

/** What an input takes beside an empty one. */
function cell(one: Measured | string, empty: Measured | string): string {
  if (typeof one === 'string' || typeof empty === 'string') return String(one);
  return `${Math.max(0, Math.round(one.memory - empty.memory))} MB, ${(one.cpu / 1000).toFixed(2)} s`;
}

/** A size as `512 B` or `20 kB`. */
function sizeText(bytes: number): string {
  return bytes < 10_000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`;
}

/** Prints the table: a row for each input, a column for each Node. */
function table(nodes: readonly string[], folder: string): void {
  const file = join(folder, 'input');
  const versions = nodes.map((node) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim());
  writeFileSync(file, '');
  const empty = nodes.map((node) => measured(node, 'nothing', file));
  console.log(`| read | input | ${versions.map((version) => `Node ${version.slice(1)}`).join(' | ')} |`);
  console.log(`|---|---|${versions.map(() => '---|').join('')}`);
  for (const [name, { what }] of Object.entries(HOSTILE)) {
    // By another process: what it takes would count as what those take that it starts.
    spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'make', name, file]);
    const all = nodes.map((node) => measured(node, name, file));
    const [first] = all;
    const size = typeof first === 'object' ? `${sizeText(first.bytes)}: ` : '';
    console.log(
      `| ${name} | ${size}${what} | ${all.map((one, i) => cell(one, empty[i] ?? '')).join(' | ')} |`,
    );
  }
}

const [mode, ...words] = process.argv.slice(2);
const [name = '', file = ''] = words;
if (mode === 'make') {
  writeFileSync(file, (await HOSTILE[name]?.bytes()) ?? '');
} else if (mode === 'read') {
  console.log(JSON.stringify(await readOne(name, file)));
} else {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-inputs-'));
  try {
    table(mode === undefined ? [process.execPath] : [mode, ...words], folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
