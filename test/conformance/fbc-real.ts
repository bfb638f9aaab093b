// Real catalogs, rendered and validated as opm does: digests of what it prints.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { registryClient } from '../../pipeline/catalogs/render/client.ts';
import { runOpm } from '../../pipeline/cli/opm/opm.ts';
import type { Terminal } from '../../pipeline/terminal.ts';
import { capture } from './fbc-terminal.ts';
import type { CaseResult, ConformanceSet } from './main.ts';

/** What opm did with a catalog: the exit code, and for renderings the size and digest of its output. */
interface Recorded {
  readonly validate: { readonly exitCode: number };
  readonly 'render-json': Rendering;
  readonly 'render-yaml': Rendering;
}

interface Rendering {
  readonly exitCode: number;
  readonly bytes: number;
  readonly sha256: string;
}

export const cases: ConformanceSet['cases'] = async function* (folder, fallback) {
  const { catalogs } = JSON.parse(readFileSync(join(folder, 'fbc-real/expect.json'), 'utf8')) as {
    readonly catalogs: Readonly<Record<string, Recorded>>;
  };
  const work = mkdtempSync(join(tmpdir(), 'fbc-real-'));
  try {
    checkOut(
      [folder, fallback].map((root) => resolve(root, '../data/pr-history.bundle')),
      work,
    );
    for (const [name, recorded] of Object.entries(catalogs)) yield* catalogCases(work, name, recorded);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

function checkOut(bundles: readonly string[], to: string): void {
  for (const bundle of bundles) {
    const { status } = spawnSync('git', ['clone', '--quiet', bundle, to], { stdio: 'ignore' });
    if (status === 0) return;
  }
  throw new Error(`no history could be cloned from ${bundles.join(' or ')}`);
}

async function* catalogCases(work: string, name: string, recorded: Recorded): AsyncGenerator<CaseResult> {
  const catalog = `catalogs/${name}`;
  const { exitCode } = await run(work, ['validate', catalog]);
  yield exitCode === recorded.validate.exitCode
    ? { name: `${name}-validate`, outcome: 'agree' }
    : { name: `${name}-validate`, outcome: 'differ', detail: `exit code ${exitCode}` };
  for (const format of ['json', 'yaml'] as const) {
    const wanted = recorded[`render-${format}`];
    const found = await run(work, ['render', catalog, '-o', format]);
    const same = found.exitCode === wanted.exitCode && found.sha256 === wanted.sha256;
    yield same
      ? { name: `${name}-${format}`, outcome: 'agree' }
      : { name: `${name}-${format}`, outcome: 'differ', detail: `${found.bytes} bytes, not ${wanted.bytes}` };
  }
}

async function run(directory: string, words: readonly string[]): Promise<Rendering> {
  const hash = createHash('sha256');
  let bytes = 0;
  const terminal: Terminal = {
    ...capture(directory, '').terminal,
    out: async (text) => {
      hash.update(text);
      bytes += Buffer.byteLength(text);
    },
  };
  const exitCode = await runOpm(words, { terminal, registry: registryClient.bind(undefined, terminal) });
  return { exitCode, bytes, sha256: hash.digest('hex') };
}
