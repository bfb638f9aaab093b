/** Logs as lines of JSON on the standard output, and metrics as Prometheus reads them. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { plain } from '../../pipeline/text.ts';
import type { Telemetry } from '../telemetry.ts';

export interface ScrapedTelemetry extends Telemetry {
  /** Asks for numbers when they are scraped, by queue. */
  depths(read: () => Promise<Readonly<Record<string, number>>>): void;
  /** The text that Prometheus reads. */
  metrics(): Promise<string>;
}

/** Upper bounds, in s: most publishes take seconds; a whole catalog is built in minutes at most. */
const BUCKETS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** @param write takes one line, without its end */
export function telemetryOf(role: string, write: (line: string) => void): ScrapedTelemetry {
  const register = new Registry();
  register.setDefaultLabels({ role });
  collectDefaultMetrics({ register });
  const events = new Counter({
    name: 'portolan_events_total',
    help: 'What happened, by the names in docs/kubernetes.md',
    labelNames: ['event'],
    registers: [register],
  });
  const durations = new Histogram({
    name: 'portolan_duration_seconds',
    help: 'How long work took',
    labelNames: ['event'],
    buckets: BUCKETS,
    registers: [register],
  });
  return {
    // What people wrote into catalogs and commits stands in it: without control characters.
    log: (line) => write(JSON.stringify({ time: new Date().toISOString(), role, message: plain(line) })),
    count: (event) => events.inc({ event }),
    time: (event, duration) => durations.observe({ event }, duration / 1000),
    depths: (read) => {
      const gauge = new Gauge({
        name: 'portolan_messages',
        help: 'Messages that are not done, by queue; aside: put aside after many tries',
        labelNames: ['queue'],
        registers: [register],
        async collect() {
          for (const [queue, count] of Object.entries(await read())) gauge.set({ queue }, count);
        },
      });
    },
    metrics: () => register.metrics(),
  };
}
