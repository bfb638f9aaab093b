// Upgrades of real definitions, from a checkout of the repository that their bundles are from.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValue, readManifestFile } from '../../catalog/bundle/manifest.ts';
import { type Crd, readCrd } from '../../catalog/crd/crd.ts';
import { compareDefinitions } from './crdsafety.ts';
import type { CaseResult } from './main.ts';

/** Names the checkout. */
const VARIABLE = 'PORTOLAN_BUNDLES';

export async function* cases(golden: string): AsyncIterable<CaseResult> {
  const root = join(golden, 'crdsafety-real');
  const bundles = process.env[VARIABLE];
  for (const file of readdirSync(root).sort()) {
    const [of = '', older = '', newer = '', crd] = file.replace(/\.json$/, '').split('__');
    if (crd === undefined) continue;
    const name = `${of} ${older} → ${newer} ${crd}`;
    const [before, after] = [older, newer].map((version) =>
      bundles === undefined
        ? undefined
        : definitionIn(join(bundles, 'operators', of, version, 'manifests'), crd),
    );
    if (!before || !after) {
      yield { name, outcome: 'skipped', detail: `${VARIABLE} names no checkout with both definitions` };
      continue;
    }
    const recorded = JSON.parse(readFileSync(join(root, file), 'utf8'));
    if (typeof recorded.olmv1.safe !== 'boolean') {
      yield { name, outcome: 'chosen', detail: 'random-verdict' };
      continue;
    }
    yield compareDefinitions(name, recorded, { before, after });
  }
}

const read = new Map<string, Crd[]>();

function definitionIn(folder: string, name: string): Crd | undefined {
  if (!existsSync(folder)) return undefined;
  const known =
    read.get(folder) ??
    readdirSync(folder).flatMap((file) => {
      const value = firstValue(readManifestFile(file, readFileSync(join(folder, file))))?.value;
      return readCrd(value) ?? [];
    });
  read.clear();
  read.set(folder, known);
  return known.find((definition) => definition.name === name);
}
