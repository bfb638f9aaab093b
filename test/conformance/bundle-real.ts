// Real bundles, as they lie in a checkout of their repository: every text and verdict of the real tools.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compare, filesIn, recordedAt } from './bundle.ts';
import type { CaseResult } from './main.ts';

/** Names the checkout of the repository that the bundles are from. */
const VARIABLE = 'PORTOLAN_BUNDLES';

export async function* cases(golden: string): AsyncIterable<CaseResult> {
  const root = join(golden, 'bundle-real');
  for (const file of readdirSync(root).sort()) {
    if (!file.startsWith('operators__')) continue;
    const name = file.replace(/\.json$/, '').replaceAll('__', '/');
    const folder = join(process.env[VARIABLE] ?? '', name);
    if (process.env[VARIABLE] === undefined || !existsSync(folder)) {
      yield { name, outcome: 'skipped', detail: `${VARIABLE} names no checkout with it` };
      continue;
    }
    const gzipLength = (bytes: Uint8Array): number => gzipSync(bytes).length;
    yield compare(name, recordedAt(join(root, file)), await filesIn(folder), { gzipLength });
  }
}
