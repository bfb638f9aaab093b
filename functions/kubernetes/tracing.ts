/**
 * Traces by OpenTelemetry, set up by its own variables (`OTEL_EXPORTER_OTLP_ENDPOINT` and others); without an endpoint there are
 * none. All that happens to a merge is one trace: its id follows from the repository and the commit, so no message carries it.
 */
import { createHash } from 'node:crypto';
import { context, type SpanContext, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import type { Environment } from '../settings.ts';

/** Starts to export spans. @returns what sends the last ones */
export function startTracing(role: string, environment: Environment): () => Promise<void> {
  const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (names.every((name) => !environment[name])) return async () => undefined;
  const named = detectResources({ detectors: [envDetector] });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'portolan', 'portolan.role': role }))
      .merge(named),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return () => provider.shutdown().catch(() => undefined);
}

const tracer = trace.getTracer('portolan');

/** Fields of a message that its span has as attributes. */
const ATTRIBUTES = ['repository', 'branch', 'commit', 'catalog', 'what'];

/**
 * Handles a message in a span of its merge's trace.
 *
 * @param body as it came: its sender may have written anything
 * @param handle returns why it failed; undefined when it is done
 */
export function traced(body: string, handle: () => Promise<string | undefined>): Promise<string | undefined> {
  const value: unknown = parsedJson(body);
  const message = isObject(value) ? value : {};
  const text = (name: string): string => {
    const field = message[name];
    return typeof field === 'string' ? field.slice(0, 200) : '';
  };
  const known = ATTRIBUTES.map((name) => [`portolan.${name}`, text(name)]).filter(([, field]) => field);
  const commit = text('commit');
  const parent = commit === '' ? context.active() : traceOf(`${text('repository')} ${commit}`);
  const options = { attributes: Object.fromEntries(known) };
  return tracer.startActiveSpan(text('kind') || 'message', options, parent, async (span) => {
    const failed = (message: string) => span.setStatus({ code: SpanStatusCode.ERROR, message });
    try {
      const failure = await handle();
      if (failure !== undefined) failed(failure);
      return failure;
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The trace of a merge. */
function traceOf(name: string) {
  const digest = createHash('sha256').update(name).digest('hex');
  const root: SpanContext = {
    traceId: digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
  return trace.setSpanContext(context.active(), root);
}

/** A part of the current span that has just ended. */
export function tracedStep(name: string, seconds: number): void {
  const now = Date.now();
  tracer.startSpan(name, { startTime: now - seconds * 1000 }).end(now);
}
