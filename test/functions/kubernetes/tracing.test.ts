/** Spans as a collector gets them, by OTLP over HTTP. */
import { expect, test, vi } from 'vitest';
import { startTracing, traced, tracedStep } from '../../../functions/kubernetes/tracing.ts';
import { reply, startHost } from '../../fakes/host.ts';

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
  expect(await traced(JSON.stringify(MESSAGE), async () => 'why')).toBe('why');
  await expect(traced('{', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
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
  await traced(JSON.stringify(MESSAGE), async () => {
    tracedStep('build', 2);
    return undefined;
  });
  await traced(JSON.stringify({ ...MESSAGE, kind: 'report', what: 'catalog' }), async () => 'GitHub is away');
  await traced(JSON.stringify({ ...MESSAGE, commit: 'b'.repeat(40) }), async () => undefined);
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
