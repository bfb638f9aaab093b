// node scripts/run.mjs test/bench/bundle-merge.ts [RUNS [LATENCY]]
//
// From the merge of a bundle to the tags of its catalogs: the built Action as a runner starts it, cold, in mode publish
// under a policy that commits releases, against a fake GitHub that serves the large synthetic repository, and the
// embedded registry. Every answer of GitHub can be held back by LATENCY ms. A run that moves no tag ends the bench.

import { countedRegistry } from '../../bench/counted-registry.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { catalogOf, PEOPLE, POLICY } from '../fakes/gate.ts';
import { startForge } from '../fakes/github/forge.ts';
import { example } from '../fakes/github/payload.ts';
import { basicTemplate, bundleFiles, CI, releaseConfig } from '../fakes/operators.ts';
import { type Files, makeRepository } from '../fakes/repository.ts';
import { delayed, PATHS, printAsked, quantiles, runStep, synthesise } from './action.ts';

const [runs = '20', latency = '0'] = process.argv.slice(2);
/** Those that CI's catalog_mapping names. */
const CATALOGS = ['v4.12', 'v4.20'];
const nameOf = (i: number): string => `operator-${i}`;

const registry = await countedRegistry();
const repository = makeRepository();
synthesise(repository);
const main = repository.git('rev-parse', 'main');
let tip = repository.commit(published(), { parents: [main] });
const accounts = Object.values(PEOPLE).flatMap(({ login, id }) => (id === undefined ? [] : [{ login, id }]));
const forge = await startForge(repository, accounts);
const front = await delayed(forge.url, Number(latency));
const client = createRegistryClient({ plainHttp: [registry.host], internal: [registry.host] });

await push(main, tip);
const times: number[] = [];
const cpu: number[] = [];
const bytes: number[] = [];
const sent: number[] = [];
let asked = { api: 0, git: 0, registry: 0 };
for (let i = 0; i < Number(runs); i++) await measure(nameOf(i));
console.log(
  `${PATHS} paths, latency ${latency} ms, ${runs} merges, each of a bundle for ${CATALOGS.length} catalogs`,
);
console.log(`merge to tags, documents and deployments, ms: ${quantiles(times)}`);
console.log(`processor time of the step, ms: ${quantiles(cpu)}`);
console.log(`bytes by git: ${quantiles(bytes)}, to the registry: ${quantiles(sent)}`);
console.log(`requests: ${asked.api} to the API, ${asked.git} by git, ${asked.registry} to the registry`);
printAsked(front);
client.close();
await front.close();
await forge.close();
await registry.close();
repository.remove();

async function measure(name: string): Promise<void> {
  const merge = repository.commit(bundleFiles(name, '1.1.0', releaseConfig(`${name}.v1.0.0`)), {
    parents: [tip],
  });
  front.asked.length = 0;
  const before = await tags();
  const counts = { bytes: forge.git.bytes, git: forge.git.requests, api: forge.asked.length };
  registry.take();
  const started = performance.now();
  cpu.push(await push(tip, merge));
  times.push(performance.now() - started);
  const taken = registry.take();
  const after = await tags();
  const still = CATALOGS.filter((_, i) => after[i] === undefined || after[i] === before[i]);
  if (still.length > 0) throw new Error(`${name} moved no tag of ${still.join(', ')}`);
  bytes.push(forge.git.bytes - counts.bytes);
  sent.push(taken.sent);
  asked = {
    api: forge.asked.length - counts.api,
    git: forge.git.requests - counts.git,
    registry: taken.requests,
  };
  tip = repository.git('rev-parse', 'main');
}

function push(before: string, after: string): Promise<number> {
  const payload = { ...example('push'), ref: 'refs/heads/main', before, after };
  const inputs = { INPUT_MODE: 'publish', 'INPUT_PLAIN-HTTP': registry.host };
  return runStep({ github: front.url, event: 'push', payload, inputs });
}

async function tags(): Promise<(string | undefined)[]> {
  const resolve = (tag: string) =>
    client.resolve({ kind: 'tag', registry: registry.host, repository: 'sea/catalog', tag });
  return (await Promise.all(CATALOGS.map(resolve))).map((found) => found?.digest);
}

/** The packages that will get a bundle, with the policy. */
function published(): Files {
  const policy = [
    `release: {bundles: '${registry.host}/sea/{package}-bundle:v{version}', mode: commit}`,
    `registries: {internal: ['${registry.host}']}`,
    'publish:',
    '  catalogs:',
    `    'v*': {image: '${registry.host}/sea/catalog:{catalog}', mirrorTo: mirror.example.com/olm}`,
  ];
  const files: Record<string, string> = { '.github/portolan.yaml': `${POLICY}${policy.join('\n')}\n` };
  for (let i = 0; i < Number(runs); i++) {
    const name = nameOf(i);
    const image = `quay.io/org/${name}@sha256:${'0'.repeat(63)}1`;
    files[`operators/${name}/ci.yaml`] = CI;
    files[`operators/${name}/catalog-templates/basic.yaml`] = basicTemplate(name, '1.0.0', image);
    for (const catalog of CATALOGS)
      files[`catalogs/${catalog}/${name}/catalog.yaml`] = catalogOf(name, ['1.0.0']);
  }
  return files;
}
