/** Asking registries what references name: each once, many at a time, only where that is allowed. */
import type { Reference } from '../../catalog/reference.ts';
import type { Lookup } from '../../catalog/references/lookup.ts';
import { lookupKey } from '../../catalog/references/site.ts';
import { type ErrorCode, PipelineError } from '../error.ts';
import type { RepositoryMatcher } from '../policy/registries.ts';
import type { Registry } from '../ports.ts';

export interface LookUpOptions {
  readonly registry: Registry;
  /** Asked before any request; every registry may be asked when left out. */
  readonly allows?: RepositoryMatcher | undefined;
}

/** Questions at a time; how many of them go to one host at a time is the client's to say. */
const AT_A_TIME = 128;

/**
 * Looks references up.
 *
 * @returns by `lookupKey`; what could not be found out is `unknown`, with the reason
 */
export async function lookUp(
  references: Iterable<Reference>,
  options: LookUpOptions,
): Promise<ReadonlyMap<string, Lookup>> {
  const wanted = new Map<string, Reference>();
  // Entered in their order, whatever comes back first.
  const lookups = new Map<string, Lookup>();
  for (const reference of references) {
    const key = lookupKey(reference);
    wanted.set(key, reference);
    lookups.set(key, UNASKED);
  }
  const silent = new Map<string, string>();
  const queue = wanted.entries();
  const worker = async (): Promise<void> => {
    for (const [key, reference] of queue) lookups.set(key, await ask(reference, options, silent));
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, wanted.size) }, worker));
  return lookups;
}

const UNASKED: Lookup = { kind: 'unknown', why: 'it was not looked up' };

/** Reasons that hold for every image of a registry: it is not asked again. */
const OF_THE_HOST: ReadonlySet<ErrorCode> = new Set(['unreachable', 'rate-limited', 'bad-answer']);

async function ask(
  reference: Reference,
  { registry, allows }: LookUpOptions,
  silent: Map<string, string>,
): Promise<Lookup> {
  if (allows && !allows(reference)) return { kind: 'not-allowed' };
  const known = silent.get(reference.registry);
  if (known !== undefined) return { kind: 'unknown', why: known };
  try {
    const found = await registry.resolve(reference);
    return found ? { kind: 'found', digest: found.digest } : { kind: 'absent' };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    if (error.code === 'not-allowed') return { kind: 'not-allowed' };
    if (error.code === 'not-found') return { kind: 'absent' };
    if (OF_THE_HOST.has(error.code)) silent.set(reference.registry, error.message);
    return { kind: 'unknown', why: error.message };
  }
}
