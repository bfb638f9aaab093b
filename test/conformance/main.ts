// npm run conformance -- SET: compares our answers with the recorded ones of the real tools.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface CaseResult {
  readonly name: string;
  /** `chosen`: ours differs because the real tool is wrong, by a rule that `docs/` names. */
  readonly outcome: 'agree' | 'differ' | 'skipped' | 'chosen';
  /** What differs, why it was skipped, or the row of the chosen difference. */
  readonly detail?: string;
}

/** What the file of a set exports. Folders that begin with `_` may be missing from `folder`; then they stand in `fallback`. */
export interface ConformanceSet {
  readonly cases: (folder: string, fallback: string) => AsyncIterable<CaseResult>;
}

const SETS: Readonly<Record<string, () => Promise<ConformanceSet>>> = {
  bundle: () => import('./bundle.ts'),
  'bundle-real': () => import('./bundle-real.ts'),
  cache: () => import('./cache.ts'),
  'crdsafety-real': () => import('./crdsafety-real.ts'),
  fbc: () => import('./fbc.ts'),
  'fbc-real': () => import('./fbc-real.ts'),
  tables: () => import('./tables.ts'),
  crdsafety: () => import('./crdsafety.ts'),
  graph: () => import('./graph.ts'),
  grpc: () => import('./grpc.ts'),
  mirror: () => import('./mirror.ts'),
  pkgman: () => import('./pkgman.ts'),
  render: () => import('./render.ts'),
  strandings: () => import('./strandings.ts'),
};

/** Sets whose inputs stand in another repository: whoever has a checkout runs them by name. */
const NEED_A_CHECKOUT: ReadonlySet<string> = new Set(['bundle-real', 'crdsafety-real']);

const FALLBACK = resolve('../shared/golden');

const [set = ''] = process.argv.slice(2);
if (set === '--list') {
  console.log(
    Object.keys(SETS)
      .filter((name) => !NEED_A_CHECKOUT.has(name))
      .join('\n'),
  );
  process.exit(0);
}
const load = Object.hasOwn(SETS, set) ? SETS[set] : undefined;
if (!load) {
  console.error(`usage: npm run conformance -- SET, where SET is one of: ${Object.keys(SETS).join(', ')}`);
  process.exit(2);
}
const golden = resolve(process.env['PORTOLAN_GOLDEN'] ?? FALLBACK);
if (!existsSync(golden) || readdirSync(golden).length === 0) {
  console.log(`skipped: ${set}: there are no recorded answers at ${golden}`);
  console.log(`${set}: 0 agree, 0 differ, 1 skipped`);
  process.exit(0);
}

const counts = { agree: 0, differ: 0, skipped: 0 };
for await (const { name, outcome, detail } of (await load()).cases(
  golden,
  existsSync(join(FALLBACK)) ? FALLBACK : golden,
)) {
  counts[outcome === 'chosen' ? 'agree' : outcome]++;
  if (outcome === 'chosen') console.log(`chosen: ${name} (${detail ?? ''})`);
  else if (outcome !== 'agree')
    console.log(
      `${outcome === 'differ' ? 'differs' : 'skipped'}: ${name}${detail === undefined ? '' : `: ${detail}`}`,
    );
}
console.log(`${set}: ${counts.agree} agree, ${counts.differ} differ, ${counts.skipped} skipped`);
process.exit(counts.differ > 0 ? 1 : 0);
