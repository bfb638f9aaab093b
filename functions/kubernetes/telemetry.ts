/** Logs as lines of JSON on the standard output, and metrics as Prometheus reads them. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { plain } from '../../pipeline/text.ts';
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

/** @param write takes one line, without its end */
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
    buckets: [...BUCKETS, 1800, 3600, 86_400],
    registers: [register],
  });
  return {
    // What people wrote into catalogs and commits stands in it: without control characters.
    log: (line) => write(JSON.stringify({ time: new Date().toISOString(), role, message: plain(line) })),
    count: (event, repository = '') => events.inc({ event, repository }),
    time: (event, duration, repository = '') => durations.observe({ event, repository }, duration / 1000),
    measured: (step, seconds, repository) =>
      step === 'lag' ? lags.observe({ repository }, seconds) : steps.observe({ step, repository }, seconds),
    depths: (read) => {
      // Once for all that a scrape collects.
      let asked: Promise<Readonly<Record<string, QueueDepth>> | undefined> | undefined;
      const depths = () => {
        asked ??= inTime(read()).finally(() => {
          asked = undefined;
        });
        return asked;
      };
      const gauge = (name: string, help: string, of: (depth: QueueDepth) => number): void => {
        const made = new Gauge({
          ...{ name, help },
          labelNames: ['queue'],
          registers: [register],
          async collect() {
            const all = await depths();
            made.reset();
            for (const [queue, depth] of Object.entries(all ?? {})) made.set({ queue }, of(depth));
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

/** @returns undefined where it fails or takes too long */
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
