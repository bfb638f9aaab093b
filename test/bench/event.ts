// node scripts/run.mjs test/bench/event.ts [RUNS [LATENCY]]
//
// What people wait for: from the event of a pull request to its status, by the built Action as a runner
// starts it, cold, against a fake GitHub that serves a synthetic repository of 80,000 paths and 13,000
// commits over smart HTTP. Every answer can be held back by LATENCY ms. Prints bytes, requests and times, and of
// the last run what was asked when.
import { catalogOf, PEOPLE } from '../fakes/gate.ts';
import { startForge } from '../fakes/github/forge.ts';
import { pullPayload } from '../fakes/github/payload.ts';
import { makeRepository } from '../fakes/repository.ts';
import { delayed, PATHS, printAsked, quantiles, runStep, synthesise } from './action.ts';

const [runs = '20', latency = '0'] = process.argv.slice(2);

const repository = makeRepository();
synthesise(repository);
const base = repository.git('rev-parse', 'main');
const versions = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
const forge = await startForge(
  repository,
  Object.values(PEOPLE).flatMap(({ login, id }) => (id === undefined ? [] : [{ login, id }])),
);
const front = await delayed(forge.url, Number(latency));
const times: number[] = [];
const ends: number[] = [];
const bytes: number[] = [];
/** Processor time of the step, git included, in ms. */
const cpu: number[] = [];
const requests: { api: number; git: number }[] = [];
for (let i = 0; i < Number(runs); i++) await measure(i);
console.log(
  `${PATHS} paths, ${repository.git('rev-list', '--count', 'main')} commits, latency ${latency} ms, ${runs} runs`,
);
console.log(`event to status, ms: ${quantiles(times)}`);
console.log(`event to the end of the step, ms: ${quantiles(ends)}`);
console.log(`processor time of the step, ms: ${quantiles(cpu)}`);
console.log(`bytes by git: ${quantiles(bytes)}`);
console.log(`requests: ${requests[0]?.api} to the API, ${requests[0]?.git} by git`);
printAsked(front);
await front.close();
await forge.close();
repository.remove();

async function measure(i: number): Promise<void> {
  const name = `package-${i % 30}`;
  const changed = Object.fromEntries(
    ['v4.18', 'v4.19', 'v4.20'].map((catalog) => [
      `catalogs/${catalog}/${name}/catalog.yaml`,
      catalogOf(name, [...versions, `2.${i}.0`]),
    ]),
  );
  const head = repository.commit(changed, { parents: [base], branch: `pull-${i}`, author: 'bob' });
  const pull = {
    number: i + 1,
    author: 'bob',
    base,
    head,
    branch: `pull-${i}`,
    pusher: 'bob',
    draft: false,
    state: 'open' as const,
    labels: [],
    reviews: [],
  };
  forge.pulls.set(pull.number, pull);
  front.asked.length = 0;
  const before = { bytes: forge.git.bytes, git: forge.git.requests, api: forge.asked.length };
  const said = forge.statuses.length;
  const started = performance.now();
  const watch = setInterval(() => {
    if (forge.statuses.length > said && times.length === i) times.push(performance.now() - started);
  }, 5);
  cpu.push(
    await runStep({ github: front.url, event: 'pull_request_target', payload: pullPayload(forge, pull) }),
  );
  clearInterval(watch);
  ends.push(performance.now() - started);
  if (forge.statuses.at(-1)?.state !== 'success') throw new Error(JSON.stringify(forge.statuses.at(-1)));
  bytes.push(forge.git.bytes - before.bytes);
  requests.push({ api: forge.asked.length - before.api, git: forge.git.requests - before.git });
}
