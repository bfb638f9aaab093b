/**
 * Counts the steps of checks in a thread of its own, where nothing was compiled before: V8 counts the blocks only of what
 * it compiles after the count began. It is sent two states of a package, and answers with the steps of comparing them.
 */
import { Session } from 'node:inspector/promises';
import { parentPort } from 'node:worker_threads';
import type { WrittenPackage } from '../catalog/olm/universe.ts';

export interface States {
  readonly before: Readonly<Record<string, WrittenPackage>>;
  readonly after: Readonly<Record<string, WrittenPackage>>;
}

const session = new Session();

async function steps(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const own = result.filter(({ url }) => url === import.meta.url);
  const ranges = own.flatMap(({ functions }) => functions.flatMap((one) => one.ranges));
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

async function stepsOf({ before, after }: States): Promise<number> {
  const { catalogFrom } = await import('../catalog/olm/universe.ts');
  const { changeOf } = await import('../../catalog/olm/foresight/world.ts');
  const { diffOf } = await import('../../catalog/olm/diff.ts');
  const { runComparison, runForesight } = await import('../../catalog/rules/rule.ts');
  const { RULES } = await import('../../catalog/rules/index.ts');
  const change = await changeOf(
    { name: 'cat', catalog: await catalogFrom(before) },
    { name: 'cat', catalog: await catalogFrom(after) },
  );
  await steps();
  runComparison(change, RULES);
  runForesight(change.after, RULES);
  runForesight(change.before, RULES);
  diffOf(change);
  return steps();
}

async function main(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  parentPort?.on('message', async (states: States) => parentPort?.postMessage(await stepsOf(states)));
}

void main();
