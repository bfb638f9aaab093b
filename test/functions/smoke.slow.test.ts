/** A deployment that cannot publish is told so: each thing that fails is named, and what it leaves is no publish. */
import { expect, test } from 'vitest';
import type { PublishingJob } from '../../functions/receive.ts';
import { runSmokeTest, type SmokeReport } from '../../functions/smoke.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import type { Message, RecordStore } from '../../pipeline/ports.ts';
import type { DeliveryPorts } from '../../pipeline/publish/delivery/ports.ts';
import { publishedIn } from '../../pipeline/publish/documents.ts';
import { deliver } from '../fakes/delivery.ts';
import { harbourRepository } from '../fakes/sample.ts';

interface Smoked {
  readonly report: SmokeReport;
  readonly sent: readonly Message[];
}

/** @param change of the ports; @param policy the policy's text, changed */
async function smoked(
  change: (ports: DeliveryPorts) => Partial<DeliveryPorts>,
  policy: (text: string) => string = (text) => text,
  job?: PublishingJob,
): Promise<Smoked> {
  const sample = harbourRepository();
  const text = policy(`${sample.git('show', `main:${POLICY_PATH}`)}\n`);
  sample.commit({ [POLICY_PATH]: text }, { parents: [sample.base], branch: 'trunk' });
  const sources = [
    { repository: 'sea/catalogs', id: 1, branch: 'trunk', url: 'https://example.com/x.git', job },
  ];
  const sent: Message[] = [];
  let report: SmokeReport | undefined;
  await deliver({
    directory: sample.directory,
    pushes: [],
    last: async (living) => {
      const ports = { ...living(), queue: { send: async (one: Message) => void sent.push(one) } };
      report = await runSmokeTest(sources, { ...ports, ...change(ports) });
      expect(await publishedIn(ports.records)).toEqual([]);
      const tags: string[] = [];
      const place = { registry: 'registry.example.com', repository: 'sea/catalog' };
      for await (const tag of ports.registry.listTags(place)) tags.push(tag);
      expect(tags).toEqual([]);
    },
  });
  sample.remove();
  if (!report) throw new Error('there is a report');
  return { report, sent };
}

const failed = ({ report }: Smoked): string[] =>
  report.checks.filter(({ ok }) => !ok).map(({ what, why }) => `${what}: ${why}`);

test('what can publish passes, and the newest commit is queued', async () => {
  const { report, sent } = await smoked(() => ({}));
  expect(report).toEqual({
    ok: true,
    checks: [
      'the fence is written',
      'records are written and read',
      'all records can be read',
      'sea/catalogs trunk is fetched, and its policy can be used',
      'a blob is pushed to registry.example.com/sea/catalog',
      'the queue takes a push of sea/catalogs trunk',
    ].map((what) => ({ what, ok: true })),
  });
  expect(sent.map(({ body }) => JSON.parse(body).kind)).toEqual(['push']);
});

const denied = async (): Promise<never> => {
  throw new PipelineError('denied', 'the service answered 403', { hint: 'allow it' });
};

test.each<[string, (ports: DeliveryPorts) => Partial<DeliveryPorts>, string]>([
  ['fence', ({ fence }) => ({ fence: { ...fence, readLease: denied } }), 'the fence is written'],
  ['records', ({ records }) => ({ records: { ...records, put: denied } }), 'records are written and read'],
  ['source', () => ({ open: denied }), 'sea/catalogs trunk is fetched, and its policy can be used'],
  [
    'registry',
    () => ({ registry: { putBlob: denied } as never }),
    'a blob is pushed to registry.example.com/sea/catalog',
  ],
  ['queue', () => ({ queue: { send: denied } }), 'the queue takes a push of sea/catalogs trunk'],
])('a refusal of the %s is reported, with what to do', async (_, change, what) => {
  const result = await smoked(change);
  expect(result.report.ok).toBe(false);
  expect(failed(result)).toContain(`${what}: the service answered 403: allow it`);
});

test('a base image that is not there, and a record that is spoilt', async () => {
  const base = (text: string): string =>
    text.replaceAll(/^( *)image: .*$/gm, '$&\n$1base: registry.example.com/sea/none:x');
  expect(failed(await smoked(() => ({}), base))).toEqual([
    expect.stringContaining('its policy can be used: base image registry.example.com/sea/none:x not found'),
  ]);
  const get: RecordStore['get'] = async () => ({ bytes: new TextEncoder().encode('spoilt'), version: '1' });
  const list: RecordStore['list'] = async (prefix) => (prefix === 'last/' ? ['last/sea/catalogs/v4.20'] : []);
  const spoilt = await smoked(({ records }) => ({ records: { ...records, get, list } }));
  expect(failed(spoilt)).toEqual([
    expect.stringContaining('all records can be read: the record last/sea/catalogs/v4.20 cannot be read'),
  ]);
});

test('a policy that publishes nothing, is not valid, or asks for a signature that nobody can make', async () => {
  const none = await smoked(
    () => ({}),
    (text) => text.replace(/publish:(?:.|\n)*/, ''),
  );
  expect(failed(none)[0]).toContain('the policy publishes nothing: it has no publish.catalogs');
  const invalid = await smoked(
    () => ({}),
    (text) => `${text}odd: 1\n`,
  );
  expect(failed(invalid)[0]).toContain('the policy is not valid');
  const keyless = (text: string): string => text.replace('platforms:', 'attest: [keyless]\n      platforms:');
  const unsigned = await smoked(() => ({ isAnonymous: true }), keyless);
  expect(failed(unsigned)[0]).toContain('attest: [keyless] needs the OIDC identity of a job');
});

test('a policy that releases bundles needs an App, or a job that does it', async () => {
  const releases = (text: string): string =>
    `${text}release: {bundles: 'quay.io/org/{package}-bundle:v{version}', mode: 'off'}\n`;
  const nobody = await smoked(() => ({}), releases);
  expect(failed(nobody)[0]).toContain(
    'the policy has `release`, but no job or GitHub App is configured to release bundles: set AppSecret',
  );
  const app = await smoked(() => ({ releaserOf: () => ({}) as never }), releases);
  expect(failed(app)).toEqual([]);
  const job = { ownerId: 1, workflow: '.github/workflows/publish.yml' };
  expect(failed(await smoked(() => ({}), releases, job))).toEqual([]);
});
