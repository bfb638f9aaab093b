/** Logs as lines of JSON on the standard output, and metrics as Prometheus reads them. */

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
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { plainText } from '../../pipeline/text.ts';
import type { Environment } from '../settings.ts';
import type { Telemetry } from '../telemetry.ts';

/** What is not done of a queue. */
export interface QueueDepth {
  readonly messages: number;
  /** How long the oldest message has been there, in s; 0 where there is none. */
  readonly oldest: number;
}

export interface ScrapedTelemetry extends Telemetry {
  /** Asks for numbers when they are scraped, by queue. Those of a database that does not answer are left out. */
  depths(read: () => Promise<Readonly<Record<string, QueueDepth>>>): void;
  /** How long a step of a publish took, in s; `lag` is from the commit to the tag. */
  measured(step: string, seconds: number, repository: string): void;
  /** The text that Prometheus reads. */
  metrics(): Promise<string>;
}

/** Upper bounds, in s: most publishes take seconds; a whole catalog is built in minutes at most. */
const BUCKETS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** How long the database is waited for in a scrape, in ms: Prometheus gives up after 10 s. */
const ASKED = 3000;

/** Logs and metrics of a role, which Prometheus scrapes. @param write takes one line, without its end */
export function telemetryOf(role: string, write: (line: string) => void): ScrapedTelemetry {
  const register = new Registry();
  register.setDefaultLabels({ role });
  collectDefaultMetrics({ register });
  const events = new Counter({
    name: 'portolan_events_total',
    help: 'What happened, by the names in docs/kubernetes.md',
    labelNames: ['event', 'repository'],
    registers: [register],
  });
  const durations = new Histogram({
    name: 'portolan_duration_seconds',
    help: 'How long work took',
    labelNames: ['event', 'repository'],
    buckets: BUCKETS,
    registers: [register],
  });
  const steps = new Histogram({
    name: 'portolan_step_seconds',
    help: 'How long the steps of a publish took',
    labelNames: ['step', 'repository'],
    buckets: BUCKETS,
    registers: [register],
  });
  const lags = new Histogram({
    name: 'portolan_publish_lag_seconds',
    help: 'How long after its commit an image had its tag',
    labelNames: ['repository'],
    // A merge may wait for others in the queue, and for a forge or registry that is away.
    buckets: [...BUCKETS, 1800, 3600, 86_400],
    registers: [register],
  });
  return {
    // What people wrote into catalogs and commits stands in it: without control characters.
    log: (line) => write(JSON.stringify({ time: new Date().toISOString(), role, message: plainText(line) })),
    count: (event, repository = '') => events.inc({ event, repository }),
    time: (event, duration, repository = '') => durations.observe({ event, repository }, duration / 1000),
    measured: (step, seconds, repository) =>
      step === 'lag' ? lags.observe({ repository }, seconds) : steps.observe({ step, repository }, seconds),
    depths: (read) => {
      // The three gauges of a scrape share one query.
      let asked: Promise<Readonly<Record<string, QueueDepth>> | undefined> | undefined;
      /** Asks once for all gauges that wait for the answer; undefined where none comes in time. */
      const depths = () => {
        asked ??= inTime(read()).finally(() => {
          asked = undefined;
        });
        return asked;
      };
      const gauge = (name: string, help: string, valueIn: (depth: QueueDepth) => number): void => {
        const made = new Gauge({
          ...{ name, help },
          labelNames: ['queue'],
          registers: [register],
          async collect() {
            const all = await depths();
            // A queue that is no longer listed must not keep its last number.
            made.reset();
            for (const [queue, depth] of Object.entries(all ?? {})) made.set({ queue }, valueIn(depth));
          },
        });
      };
      gauge(
        'portolan_messages',
        'Messages that are not done, by queue; aside: put aside after many tries',
        ({ messages }) => messages,
      );
      gauge(
        'portolan_oldest_message_seconds',
        'How long the oldest message of a queue has been there',
        ({ oldest }) => oldest,
      );
      const up: Gauge = new Gauge({
        name: 'portolan_database_up',
        help: 'Whether PostgreSQL answers; 0 where it does not',
        registers: [register],
        async collect(): Promise<void> {
          up.set((await depths()) ? 1 : 0);
        },
      });
    },
    metrics: () => register.metrics(),
  };
}

/** The answer, if it comes in time. @returns undefined where it fails or takes too long */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(done, ASKED, undefined);
  });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

// Traces by OpenTelemetry, set up by its own variables (`OTEL_EXPORTER_OTLP_ENDPOINT` and others); without an endpoint there are
// none. All that happens to a merge is one trace: its id follows from the repository and the commit, so no message carries it.

/** Starts to export spans. @returns what sends the last ones */
export function startTracing(role: string, environment: Environment): () => Promise<void> {
  const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (names.every((name) => !environment[name])) return async () => undefined;
  // Merged last: what the variables name counts before the names that are set here.
  const fromVariables = detectResources({ detectors: [envDetector] });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'portolan', 'portolan.role': role }))
      .merge(fromVariables),
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
export function handleTraced(
  body: string,
  handle: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const value: unknown = parsedJson(body);
  const message = isObject(value) ? value : {};
  const text = (name: string): string => {
    const field = message[name];
    // Cut: its sender may have written anything.
    return typeof field === 'string' ? field.slice(0, 200) : '';
  };
  const attributes = ATTRIBUTES.map((name) => [`portolan.${name}`, text(name)]).filter(([, field]) => field);
  const commit = text('commit');
  const parent = commit === '' ? context.active() : traceOf(`${text('repository')} ${commit}`);
  const options = { attributes: Object.fromEntries(attributes) };
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

/** A context in the trace of a merge: its ids follow from the name, so all processes add to the same trace. */
function traceOf(name: string) {
  const digest = createHash('sha256').update(name).digest('hex');
  // The sizes of both ids in hexadecimal are those of W3C's Trace Context.
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
