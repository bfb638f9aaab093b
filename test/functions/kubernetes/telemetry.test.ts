import { expect, onTestFinished, test, vi } from 'vitest';
import {
  handleTraced,
  startTracing,
  telemetryOf,
  tracedStep,
} from '../../../functions/kubernetes/telemetry.ts';
import { reply, startHost } from '../../fakes/host.ts';

test('a line of the log is one line of JSON, whatever people wrote into a catalog', () => {
  const lines: string[] = [];
  telemetryOf('work', (line) => lines.push(line)).log('bad\u001b[31m name\n{"role": "forged"}');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[ -~]*$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ role: 'work', time: expect.stringMatching(/Z$/) });
});

test('what is counted, timed and queued is scraped, by repository', async () => {
  const telemetry = telemetryOf('work', () => undefined);
  telemetry.count('WorkFailed', 'sea/catalogs');
  telemetry.count('WorkFailed', 'sea/catalogs');
  telemetry.count('WorkFailed', 'sea/others');
  telemetry.time('WorkDuration', 1500);
  telemetry.measured('build', 4, 'sea/catalogs');
  telemetry.measured('lag', 40, 'sea/catalogs');
  telemetry.depths(async () => ({
    work: { messages: 7, oldest: 90 },
    aside: { messages: 1, oldest: 5 },
  }));
  const text = await telemetry.metrics();
  expect(text).toContain('portolan_events_total{event="WorkFailed",repository="sea/catalogs",role="work"} 2');
  expect(text).toContain('portolan_events_total{event="WorkFailed",repository="sea/others",role="work"} 1');
  expect(text).toContain(
    'portolan_duration_seconds_bucket{le="2",role="work",event="WorkDuration",repository=""} 1',
  );
  expect(text).toContain('portolan_messages{queue="work",role="work"} 7');
  expect(text).toContain('portolan_messages{queue="aside",role="work"} 1');
  expect(text).toContain('portolan_oldest_message_seconds{queue="work",role="work"} 90');
  expect(text).toContain('portolan_database_up{role="work"} 1');
  expect(text).toMatch(
    /portolan_step_seconds_bucket\{le="5",role="work",step="build",repository="sea\/catalogs"\} 1/,
  );
  expect(text).toMatch(
    /portolan_publish_lag_seconds_bucket\{le="60",role="work",repository="sea\/catalogs"\} 1/,
  );
});

test.each([
  ['refuses', () => Promise.reject(new Error('down'))],
  ['does not answer', () => new Promise<never>(() => undefined)],
])('while the database %s, all other numbers are scraped, and old depths are not', async (_, down) => {
  const telemetry = telemetryOf('work', () => undefined);
  let isUp = true;
  telemetry.depths(() => (isUp ? Promise.resolve({ work: { messages: 7, oldest: 90 } }) : down()));
  telemetry.count('WorkFailed');
  expect(await telemetry.metrics()).toContain('portolan_messages{queue="work",role="work"} 7');
  isUp = false;
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = telemetry.metrics();
  await vi.advanceTimersByTimeAsync(3000);
  const text = await asked;
  expect(text).toContain('portolan_database_up{role="work"} 0');
  expect(text).toContain('portolan_events_total{event="WorkFailed",repository="",role="work"} 1');
  expect(text).not.toContain('portolan_messages{');
  expect(text).not.toContain('portolan_oldest_message_seconds{');
});

// Spans as a collector gets them, by OTLP over HTTP.

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

const MESSAGE = {
  v: 1,
  kind: 'catalog',
  repository: 'sea/catalogs',
  commit: 'a'.repeat(40),
  catalog: 'v4.20',
};

test('without a collector nothing is sent, and work is done all the same', async () => {
  const end = startTracing('work', {});
  expect(await handleTraced(JSON.stringify(MESSAGE), async () => 'why')).toBe('why');
  await expect(handleTraced('{', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  tracedStep('build', 1);
  await end();
});

test('all that happens to a merge is one trace, with the steps of a publish and what failed', async () => {
  const collector = await startHost((_, response) =>
    reply(response, 200, '{}', { 'content-type': 'application/json' }),
  );
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_SERVICE_NAME', 'catalogs-of-the-sea');
  const end = startTracing('work', process.env);
  await handleTraced(JSON.stringify(MESSAGE), async () => {
    tracedStep('build', 2);
    return undefined;
  });
  await handleTraced(
    JSON.stringify({ ...MESSAGE, kind: 'report', what: 'catalog' }),
    async () => 'GitHub is away',
  );
  await handleTraced(JSON.stringify({ ...MESSAGE, commit: 'b'.repeat(40) }), async () => undefined);
  await end();
  vi.unstubAllEnvs();
  const sent = collector.asked.map(({ url, body }) => ({ url, text: body.toString() }));
  expect(new Set(sent.map(({ url }) => url))).toEqual(new Set(['/v1/traces']));
  const bodies = sent.map(({ text }) => JSON.parse(text));
  const resources = bodies.flatMap((body) => body.resourceSpans);
  const spans: Span[] = resources.flatMap((one) => one.scopeSpans).flatMap((one) => one.spans);
  const service = resources[0].resource.attributes.find(({ key }: { key: string }) => key === 'service.name');
  expect(service.value.stringValue).toBe('catalogs-of-the-sea');
  const byName = (name: string) => spans.filter((span) => span.name === name);
  const [[publish, other], [build], [report]] = [byName('catalog'), byName('build'), byName('report')];
  expect(build).toMatchObject({ traceId: publish?.traceId, parentSpanId: publish?.spanId });
  expect(report?.traceId).toBe(publish?.traceId);
  expect(other?.traceId).not.toBe(publish?.traceId);
  expect(report?.status).toEqual({ code: 2, message: 'GitHub is away' });
  expect(publish?.attributes).toContainEqual({
    key: 'portolan.commit',
    value: { stringValue: MESSAGE.commit },
  });
});
