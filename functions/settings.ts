import { isObject } from '../catalog/go/shape.ts';
import { parsedJson } from '../catalog/json.ts';
import { PipelineError } from '../pipeline/error.ts';
import { type GitSettings, partsOf } from '../pipeline/git/process.ts';
import { ISSUER } from '../pipeline/github/claims.ts';
import { isBranch } from '../pipeline/publish/delivery/message.ts';
import { temporaryFolder } from '../pipeline/write.ts';
import { ACCOUNT_FORGES } from './forges/forges.ts';
import type { Source } from './receive.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface HostSettings {
  readonly sources: readonly Source[];
  /** Who gives jobs their identity tokens. */
  readonly issuer: string;
  /** Whom those tokens are for; the host's own address when undefined. */
  readonly audience: string | undefined;
  /** Where people read documents, without a slash at its end. */
  readonly pages: string | undefined;
  /** What holds the repositories, one forge for each host: `github`, or one of the `ACCOUNT_FORGES`. */
  readonly forge: string;
  /** The forge's API. */
  readonly api: string;
  /** Hosts, with their ports, that speak plain HTTP. */
  readonly plainHttp: readonly string[];
  readonly authfile: string | undefined;
  /** Where clones are kept from one message to the next. */
  readonly clones: string;
  /** Where git is: its programs and libraries may not be where git was built for. */
  readonly git: GitSettings;
  /** Proxies, and what the host reads itself. */
  readonly environment: Environment;
}

/**
 * Gives a function that reads variables which must be set.
 *
 * @param hint where the variables are set
 * @returns the value of a variable.
 * @throws PipelineError `usage` that names the variable
 */
export function neededVariable(environment: Environment, hint: string): (name: string) => string {
  return (name) => {
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
    throw new PipelineError('usage', `${name} is not set`, { hint });
  };
}

/** The settings that all hosts have in common. @throws PipelineError `usage` that names the variable */
export function hostSettings(environment: Environment, hint: string): HostSettings {
  // A variable that is empty is one that is not set: `||`.
  return {
    sources: sourcesFrom(neededVariable(environment, hint)('PORTOLAN_SOURCES')),
    issuer: environment['PORTOLAN_ISSUER'] || ISSUER,
    audience: environment['PORTOLAN_AUDIENCE'] || undefined,
    pages: withoutSlashes(environment['PORTOLAN_PAGES'] ?? '') || undefined,
    ...forgeFrom(environment, hint),
    // With commas, blanks or both between them, as the Action's input.
    plainHttp: (environment['PORTOLAN_PLAIN_HTTP'] ?? '').split(/[\s,]+/).filter((host) => host !== ''),
    authfile: environment['PORTOLAN_AUTHFILE'] || undefined,
    clones: temporaryFolder('clones'),
    git: { searchPath: environment['PATH'], parts: partsOf(environment) },
    environment,
  };
}

/** An address without slashes at its end: paths that are put behind it begin with one. */
function withoutSlashes(address: string): string {
  return address.replace(/\/+$/, '');
}

/** The forge and its API: GitHub has a public one, other forges need `PORTOLAN_API`. */
function forgeFrom(environment: Environment, hint: string): Pick<HostSettings, 'forge' | 'api'> {
  const forge = environment['PORTOLAN_FORGE'] || 'github';
  const api = withoutSlashes(environment['PORTOLAN_API'] ?? '');
  if (forge === 'github') return { forge, api: api || 'https://api.github.com' };
  if (ACCOUNT_FORGES.has(forge))
    return { forge, api: withoutSlashes(neededVariable(environment, hint)('PORTOLAN_API')) };
  throw new PipelineError('usage', `PORTOLAN_FORGE is not a forge: ${JSON.stringify(forge)}`, {
    hint: `expected ${['github', ...ACCOUNT_FORGES.keys()].join(', ')}`,
  });
}

/** The repositories in the variable's JSON. One that is not valid refuses all: left out, it would silently not be published. */
function sourcesFrom(text: string): Source[] {
  const value: unknown = parsedJson(text);
  const sources = Array.isArray(value) ? value.filter(isSource) : [];
  if (Array.isArray(value) && value.length > 0 && sources.length === value.length) return sources;
  throw new PipelineError('usage', 'PORTOLAN_SOURCES is not a list of repositories', {
    hint: '[{"repository": "owner/name", "id": 123, "branch": "main", "url": "https://github.com/owner/name.git"}]',
  });
}

/** Whether a value is a source, with a branch that git allows and an address over HTTP. */
function isSource(value: unknown): value is Source {
  if (!isObject(value)) return false;
  const { repository, id, branch, url, job } = value;
  const texts = typeof repository === 'string' && typeof branch === 'string' && typeof url === 'string';
  if (!texts || typeof id !== 'number' || !isBranch(branch) || !/^https?:\/\//.test(url)) return false;
  return job === undefined || isJob(job);
}

/** Whether a value names a job: a workflow is a file of GitHub's folder for them. */
function isJob(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { ownerId, workflow, environment } = value;
  if (typeof ownerId !== 'number' || typeof workflow !== 'string') return false;
  const isWorkflow = /^\.github\/workflows\/[\w.-]+\.ya?ml$/.test(workflow);
  return isWorkflow && (environment === undefined || typeof environment === 'string');
}
