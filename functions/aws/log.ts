/** Logs and metrics: lines of JSON that CloudWatch understands. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { plainText } from '../../pipeline/text.ts';
import type { Telemetry } from '../telemetry.ts';
import { stackName } from './env.ts';

/** Metrics are gathered, and written at the end of a call. */
export interface LambdaTelemetry extends Telemetry {
  /** Writes the metrics that were gathered. */
  readonly flush: () => void;
}

/** Logs and metrics of one function, in the form that CloudWatch reads. */
export function telemetryOf(service: string): LambdaTelemetry {
  const logger = new Logger({ serviceName: service });
  // Alarms of two stacks in one account are about their own numbers.
  const stack = stackName();
  const metrics = new Metrics({
    namespace: 'Portolan',
    serviceName: service,
    defaultDimensions: stack === undefined ? {} : { stack },
  });
  return {
    // What people wrote into catalogs and commits stands in it: without control characters.
    log: (line) => logger.info(plainText(line)),
    count: (name) => metrics.addMetric(name, MetricUnit.Count, 1),
    time: (name, duration) => metrics.addMetric(name, MetricUnit.Milliseconds, Math.round(duration)),
    flush: () => metrics.publishStoredMetrics(),
  };
}
