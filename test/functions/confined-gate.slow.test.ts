/** The gate of a host reads pull requests in a process that may hang, crash or need too much. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type GateRequest, handleGate } from '../../functions/gate.ts';
import { confinedCheck } from '../../pipeline/check/confined/confined-check.ts';
import type { CheckReport } from '../../pipeline/check/report.ts';
import { keepAuthorization } from '../../pipeline/secrets.ts';
import { readerFile } from '../fakes/built.ts';
import { catalogOf } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import { type Hub, openHub } from '../fakes/hub.ts';

const READER = readerFile();
const LIMITS = { seconds: 60, memory: 1024 };
let hub: Hub;
let request: GateRequest;
beforeEach(async () => {
  hub = await openHub();
  request = gateRequest(hub);
});
afterEach(async () => {
  await hub.close();
});

const etcd = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };

async function gated(file: string, limits: Partial<typeof LIMITS> = {}) {
  const { log } = request;
  const check = confinedCheck({ file, words: [], log, ...LIMITS, ...limits });
  const pull = hub.open(etcd, { author: 'mallory' });
  const outcome = await handleGate(pull.number, { ...request, check });
  return outcome.kind === 'checked' ? outcome.report : undefined;
}

/** A reader that does something else as soon as it has its task. */
function readerThat(does: string): string {
  return readerFile(`process.on('message', () => { ${does} });`);
}

test('45: a pull request that is read in a process of its own has the same report', async () => {
  const confined = await gated(READER);
  const pull = hub.open(etcd, { author: 'mallory' });
  const outcome = await handleGate(pull.number, request);
  const own = outcome.kind === 'checked' ? outcome.report : undefined;
  expect(confined?.packages.length).toBeGreaterThan(0);
  expect(confined).toEqual({ ...own, head: confined?.head, request: confined?.request });
});

test.each([
  ['hangs', 'for (;;);', { seconds: 1 }, 'it took more than 1 s'],
  ['fills the heap', 'const all = []; for (;;) all.push({});', { memory: 150 }, 'more than 150 MiB'],
  [
    'holds memory beside the heap',
    'const all = []; setInterval(() => all.push(Buffer.alloc(2 ** 24, 1)));',
    { memory: 300 },
    'more than 300 MiB',
  ],
  ['crashes', 'process.abort();', {}, 'its process ended with SIGABRT'],
  ['has a defect', 'throw new Error("x");', {}, 'its process ended with 1'],
])(
  '45: a reader that %s leaves the pull request inconclusive, with the reason',
  async (_, does, limits, why) => {
    const report = await gated(readerThat(does), limits);
    expect(report).toMatchObject({ verdict: 'inconclusive', headline: expect.stringContaining(why) });
    const status = hub.forge.statuses.at(-1);
    expect(status).toMatchObject({ sha: report?.head, state: 'pending' });
    expect(JSON.stringify(status)).toContain(why);
  },
);

test('45: nothing is checked where the program that reads is missing', async () => {
  await expect(gated('/nowhere/reader.mjs')).rejects.toMatchObject({
    code: 'io',
    message: 'the program that reads pull requests is missing: /nowhere/reader.mjs',
  });
  expect(hub.forge.statuses.at(-1)).toMatchObject({ state: 'pending' });
});

test('45: a check that needs more than its time ends, and the next one is checked', async () => {
  expect(await gated(READER, { seconds: 0.01 })).toMatchObject({ verdict: 'inconclusive' });
  expect(await gated(READER)).toMatchObject({ authority: { decision: 'needs' } });
});

test('63: a report from that process has no secret that a registry repeated to it', async () => {
  keepAuthorization('Bearer registry-token-1');
  const says = "process.send({ kind: 'report', report: { unchecked: [{ why: 'type registry-token-1' }] } });";
  const { log } = request;
  const confined = confinedCheck({ file: readerThat(says), words: [], log, ...LIMITS });
  const pull = hub.open(etcd, { author: 'mallory' });
  let report: CheckReport | undefined;
  const check: typeof confined = async (...asked) => {
    report = await confined(...asked);
    throw new Error('seen');
  };
  await expect(handleGate(pull.number, { ...request, check })).rejects.toThrow('seen');
  expect(report).toEqual({ unchecked: [{ why: 'type ***' }] });
});

test('45: the process has no variable of the environment but those of git', async () => {
  process.env['PORTOLAN_TEST_SECRET'] = 'hunter2';
  const report = await gated(
    readerThat('process.exit(Object.keys(process.env).some((name) => /SECRET|TOKEN/.test(name)) ? 3 : 4);'),
  );
  delete process.env['PORTOLAN_TEST_SECRET'];
  expect(report?.headline).toContain('its process ended with 4');
});
