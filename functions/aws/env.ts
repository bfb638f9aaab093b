/** The functions' environment, read into typed values. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../catalog/go/shape.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { type GitSettings, partsOf } from '../../pipeline/git/process.ts';
import { ISSUER } from '../../pipeline/github/claims.ts';
import { parsedJson } from '../../pipeline/json.ts';
import { isBranch } from '../../pipeline/publish/delivery/message.ts';
import type { Source } from '../receive.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  readonly sources: readonly Source[];
  readonly queue: string;
  /** The queue of what is to be reported. */
  readonly reports: string;
  readonly table: string;
  readonly bucket: string;
  /** Name of the bus that hears of publishes; none does when undefined. */
  readonly bus: string | undefined;
  /** Names of secrets in Secrets Manager. */
  readonly secrets: {
    readonly webhook: string | undefined;
    readonly app: string | undefined;
    /** What the names of registries' secrets begin with, before a slash and the host. */
    readonly registries: string | undefined;
  };
  /** The key that signs, and the address of KMS; nothing is signed with a key when undefined. */
  readonly signing: { readonly key: string; readonly address: string } | undefined;
  /** Who gives jobs their identity tokens. */
  readonly issuer: string;
  /** Whom those tokens are for; the function's own address when undefined. */
  readonly audience: string | undefined;
  /** Where people read what is in the bucket, without a slash at its end; in AWS's console when undefined. */
  readonly pages: string | undefined;
  /** GitHub's API. */
  readonly api: string;
  /** Hosts, with their ports, that speak plain HTTP. */
  readonly plainHttp: readonly string[];
  readonly authfile: string | undefined;
  /** Set when something else stands in for the cloud. */
  readonly endpoint: string | undefined;
  /** Where clones are kept from one call to the next. */
  readonly clones: string;
  /** Where git is: a layer's programs and libraries are not where git was built for. */
  readonly git: GitSettings;
  /** Proxies, the region. */
  readonly environment: Environment;
}

/** @throws PipelineError `usage` that names the variable */
export function settingsFrom(environment: Environment): Settings {
  const needed = (name: string): string => {
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
    throw new PipelineError('usage', `${name} is not set`, { hint: 'set it in functions/aws/template.yaml' });
  };
  return {
    sources: sourcesFrom(needed('PORTOLAN_SOURCES')),
    queue: needed('PORTOLAN_QUEUE'),
    reports: needed('PORTOLAN_REPORTS'),
    table: needed('PORTOLAN_TABLE'),
    bucket: needed('PORTOLAN_BUCKET'),
    bus: environment['PORTOLAN_BUS'] || undefined,
    secrets: {
      webhook: environment['PORTOLAN_WEBHOOK_SECRET'] || undefined,
      app: environment['PORTOLAN_APP_SECRET'] || undefined,
      registries: environment['PORTOLAN_REGISTRY_SECRETS'] || undefined,
    },
    signing: signingFrom(environment),
    issuer: environment['PORTOLAN_ISSUER'] || ISSUER,
    audience: environment['PORTOLAN_AUDIENCE'] || undefined,
    pages: environment['PORTOLAN_PAGES']?.replace(/\/$/, '') || undefined,
    api: environment['PORTOLAN_API'] || 'https://api.github.com',
    plainHttp: (environment['PORTOLAN_PLAIN_HTTP'] ?? '').split(',').filter((host) => host !== ''),
    authfile: environment['PORTOLAN_AUTHFILE'] || undefined,
    endpoint: environment['AWS_ENDPOINT_URL'] || undefined,
    clones: mkdtempSync(join(tmpdir(), 'portolan-clones-')),
    git: { searchPath: environment['PATH'], parts: partsOf(environment) },
    environment,
  };
}

function signingFrom(environment: Environment): Settings['signing'] {
  const key = environment['PORTOLAN_SIGNING_KEY'];
  const address = environment['AWS_ENDPOINT_URL'] || environment['PORTOLAN_KMS'];
  return key && address ? { key, address } : undefined;
}

function sourcesFrom(text: string): Source[] {
  const value: unknown = parsedJson(text);
  const sources = Array.isArray(value) ? value.filter(isSource) : [];
  if (Array.isArray(value) && value.length > 0 && sources.length === value.length) return sources;
  throw new PipelineError('usage', 'PORTOLAN_SOURCES is not a list of repositories', {
    hint: '[{"repository": "owner/name", "id": 123, "branch": "main", "url": "https://github.com/owner/name.git"}]',
  });
}

function isSource(value: unknown): value is Source {
  if (!isObject(value)) return false;
  const { repository, id, branch, url, job } = value;
  const texts = typeof repository === 'string' && typeof branch === 'string' && typeof url === 'string';
  if (!texts || typeof id !== 'number' || !isBranch(branch) || !/^https?:\/\//.test(url)) return false;
  return job === undefined || isJob(job);
}

function isJob(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { ownerId, workflow, environment } = value;
  if (typeof ownerId !== 'number' || typeof workflow !== 'string') return false;
  const isWorkflow = /^\.github\/workflows\/[\w.-]+\.ya?ml$/.test(workflow);
  return isWorkflow && (environment === undefined || typeof environment === 'string');
}

/** The settings as Lambda's environment tells them. */
export function settings(): Settings {
  clearLeftovers(process.env);
  return settingsFrom(process.env);
}

/**
 * A function that was killed, for its time or its memory, begins anew in the same sandbox: its clones and layers are
 * still there, and nobody else's.
 */
function clearLeftovers({ AWS_LAMBDA_FUNCTION_NAME: name, AWS_ENDPOINT_URL: endpoint }: Environment): void {
  // What stands in for the cloud has no sandboxes.
  if (!name || endpoint) return;
  for (const left of readdirSync(tmpdir())) {
    if (left.startsWith('portolan-')) rmSync(join(tmpdir(), left), { recursive: true, force: true });
  }
}
