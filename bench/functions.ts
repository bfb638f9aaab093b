/**
 * What the functions take, as they are deployed: memory at the peak, CPU, seconds, requests to the registry; for the
 * largest real catalog, for 160 MB and for 1 GB of it. Each runs in a process of its own under the limits that Lambda
 * sets for the template's memory; ministack stands for AWS.
 *
 *     npm run build && node scripts/run.mjs bench/functions.ts [--history BUNDLE] [--keep DIR] [--inputs real,big,huge]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { countedRegistry } from './counted-registry.ts';
import { type Input, makeInputs } from './inputs.ts';
import { repositoryOf } from './repository.ts';
import { type Sandbox, type StandIn, sandbox, standIn } from './sandbox.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    inputs: { type: 'string', default: 'real,big,huge' },
  },
});

/** Packages that get a bundle, from the smallest to the largest: each a merge. */
const PARTS = [0.05, 0.25, 0.5, 0.75, 0.95];
/** The largest catalog of the history's head. */
const LARGEST = 'v4.16';

console.log('| catalog | what | wall s | CPU s | sent MB | requests | peak MiB | template MiB |');
console.log('|---|---|---|---|---|---|---|---|');
for (const name of values.inputs.split(',')) {
  const [input] = makeInputs(resolve(values.history), values.keep, new Set([name]));
  await measure(
    name,
    name === 'real' ? { name, directory: join(values.keep, 'history/catalogs', LARGEST) } : input,
  );
}

/** Publishes a catalog, adds a bundle for each part, and goes back to the first: prints a row for each. */
async function measure(name: string, input: Input | undefined): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'portolan-functions-'));
  const registry = await countedRegistry();
  mkdirSync(join(scratch, 'repository/.github'), { recursive: true });
  const image = `image: '${registry.host}/sea/catalog:{catalog}', mirrorTo: mirror.example.com/olm`;
  // A gigabyte has more documents than a catalog may have unless its policy says so.
  const policy = `apiVersion: portolan/v1alpha1\nkind: Portolan\nlimits: {docs: 1000000}\npublish: {catalogs: {big: {${image}}}}\n`;
  writeFileSync(join(scratch, 'repository/.github/portolan.yaml'), policy);
  // Differences within a gigabyte take git longer than everything that is measured.
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', join(scratch, 'repository'), ...words]);
  git('init', '--quiet');
  if (name === 'huge') git('config', 'pack.window', '0');
  const { directory, added } = repositoryOf(input?.directory ?? '', PARTS, scratch);
  const at = await standIn({ repository: directory, registry: registry.host, scratch });
  const measured = async (what: string, of: Sandbox, work: () => Promise<void>): Promise<void> => {
    registry.take();
    const before = await of.used();
    const began = performance.now();
    await work();
    const wall = (performance.now() - began) / 1000;
    const { cpu, memory } = await of.used();
    const { sent, requests } = registry.take();
    if (what.startsWith('work') && requests === 0) throw new Error('nothing was published');
    const cells = [wall.toFixed(1), (cpu - before.cpu).toFixed(2), (sent / 1e6).toFixed(2), requests];
    console.log(`| ${name} | ${what} | ${cells.join(' | ')} | ${memory.toFixed(0)} | ${of.limit} |`);
  };
  try {
    const work = sandbox('work', at, templateMemory('Work'));
    await measured('work: the first publish, cold', work, () => at.merge('first', work));
    for (const [i, { package: of }] of added.entries()) {
      await measured(`work: a merge of one bundle of ${of}, warm`, work, () => at.merge(String(i), work));
    }
    work.end();
    const again = sandbox('work', at, templateMemory('Work'));
    await measured('work: back to the first, cold', again, () => at.merge('last', again));
    again.end();
    for (const [function_, title, event] of calls(at)) {
      const one = sandbox(function_, at, templateMemory(title));
      await measured(function_, one, async () => void (await one.call(event)));
      one.end();
    }
  } finally {
    await at.close();
    await registry.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The other functions, with the largest thing that each is given. */
function calls(at: StandIn): [string, string, unknown][] {
  return [
    ['reconcile', 'Reconcile', {}],
    ['status', 'Status', {}],
    ['receive', 'Receive', at.webhook(' '.repeat(5 * 1024 * 1024 - 1))],
    ['ask', 'Ask', { headers: { authorization: 'Bearer x.y.z' }, body: '{}' }],
  ];
}

/** In MiB. */
function templateMemory(title: string): number {
  const template = readFileSync('functions/aws/template.yaml', 'utf8');
  const [, memory] = new RegExp(`^  ${title}Function:[\\s\\S]*?MemorySize: (\\d+)`, 'm').exec(template) ?? [];
  return Number(memory);
}
