/** The environment of the Kubernetes host's containers, read into typed values. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PipelineError } from '../../pipeline/error.ts';
import { type Environment, type HostSettings, hostSettings, neededVariable } from '../settings.ts';

export interface Settings extends HostSettings {
  /** `postgres://USER:PASSWORD@HOST/DATABASE`. */
  readonly database: string;
  /** Connections to it at most, of a process. */
  readonly connections: number;
  /** Files that Secrets are mounted as; they may change while the process runs. */
  readonly secrets: {
    readonly webhook: string | undefined;
    readonly app: string | undefined;
    /** A private key, PEM; read once. */
    readonly signing: string | undefined;
  };
  /** A bucket of S3-compatible storage for documents; they are in the database when undefined. */
  readonly bucket: string | undefined;
  /** Where builds keep what they remember of each other. */
  readonly cache: string;
  /** Messages that a worker handles at a time. */
  readonly parallel: number;
  readonly ports: {
    /** Of webhooks and of jobs that ask. */
    readonly public: number;
    /** Of probes and metrics. */
    readonly internal: number;
  };
  /** From the signal to stop until requests are refused, and until unfinished work is left to others; in ms. */
  readonly stopping: { readonly refuse: number; readonly leave: number };
  /** Days until these records are removed; never when undefined. */
  readonly keep: { readonly outcomes: number | undefined; readonly documents: number | undefined };
  /** After so long without a sign of life from its worker a message is delivered again, in s; at least 10. */
  readonly silence: number | undefined;
}

/** The settings in a container's environment. @throws PipelineError `usage` that names the variable */
export function settingsFrom(environment: Environment): Settings {
  const hint = 'set it in the values of the chart (docs/kubernetes.md)';
  const number = (name: string, otherwise: number): number => {
    const value = environment[name];
    if (value === undefined || value === '') return otherwise;
    if (/^\d{1,9}$/.test(value)) return Number(value);
    throw new PipelineError('usage', `${name} is not a number: ${JSON.stringify(value)}`, { hint });
  };
  return {
    ...hostSettings(environment, hint),
    database: neededVariable(environment, hint)('PORTOLAN_DATABASE'),
    connections: number('PORTOLAN_CONNECTIONS', 4),
    secrets: {
      webhook: environment['PORTOLAN_WEBHOOK_SECRET_FILE'] || undefined,
      app: environment['PORTOLAN_APP_SECRET_FILE'] || undefined,
      signing: environment['PORTOLAN_SIGNING_KEY_FILE'] || undefined,
    },
    bucket: environment['PORTOLAN_BUCKET'] || undefined,
    cache: environment['PORTOLAN_CACHE'] || join(tmpdir(), 'portolan-cache'),
    parallel: number('PORTOLAN_PARALLEL', 2),
    ports: { public: number('PORTOLAN_PORT', 8080), internal: number('PORTOLAN_METRICS_PORT', 9090) },
    stopping: {
      refuse: number('PORTOLAN_STOP_REFUSE', 5) * 1000,
      leave: number('PORTOLAN_STOP_LEAVE', 240) * 1000,
    },
    // 0, as the chart's values have it, stands for never, or for the default.
    keep: {
      outcomes: number('PORTOLAN_KEEP_OUTCOMES', 0) || undefined,
      documents: number('PORTOLAN_KEEP_DOCUMENTS', 0) || undefined,
    },
    silence: number('PORTOLAN_SILENCE', 0) || undefined,
  };
}

/** The settings as the container's environment has them. */
export function settings(): Settings {
  return settingsFrom(process.env);
}
