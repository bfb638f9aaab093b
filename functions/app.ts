/** The account of a host on its forge, and what it checks and proposes with. */
import { isObject } from '../catalog/go/shape.ts';
import { parsedJson } from '../catalog/json.ts';
import { checkLimits, confinedCheck, type ReaderProgram } from '../pipeline/check/confined/confined-check.ts';
import { PipelineError } from '../pipeline/error.ts';
import { gitHubForge, repositoryName } from '../pipeline/github/forge.ts';
import { gateGroup } from '../pipeline/github/group.ts';
import { memoryStore } from '../pipeline/oci/image/stores.ts';
import type { CommitStatus, CredentialSource, Forge, Registry } from '../pipeline/ports.ts';
import type { GateMessage, GateSubject } from '../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts, Releaser } from '../pipeline/publish/delivery/ports.ts';
import type { DriftRequest } from './drift.ts';
import type { AccountForge } from './forges/account.ts';
import { ACCOUNT_FORGES } from './forges/forges.ts';
import { type GateAsked, type GateRequest, handleGates } from './gate.ts';
import { appForge, type GitHubForge, readAppSecret } from './github.ts';
import type { Source } from './receive.ts';
import { releaserFor } from './release.ts';
import type { HostSettings } from './settings.ts';
import type { Telemetry } from './telemetry.ts';

/** An App of GitHub, or an account of another forge, which opens no pull requests. */
export interface App {
  readonly forge: Forge & Pick<GitHubForge, 'token'> & Partial<Pick<GitHubForge, 'deployed' | 'checkOf'>>;
  /** All that the gate needs for a repository. */
  request(source: Source): Promise<GateRequest>;
  /** The same for drift. */
  drift?(source: Source): Promise<DriftRequest>;
  /** @param registry where bundles are pushed */
  releaser?(source: Source, registry: Registry): Releaser;
}

interface AppOptions {
  /** Reads the App's secret, each time anew. */
  readonly secret: () => Promise<string>;
  readonly credentials: CredentialSource;
  readonly telemetry: Pick<Telemetry, 'log'>;
  /** The program that reads pull requests, in a process of its own; undefined where none are checked. */
  readonly reader: ReaderProgram | undefined;
}

/** The account of a host on its forge: an App on GitHub, else an account with a token. */
export function openApp(settings: HostSettings, options: AppOptions): App {
  const { credentials, telemetry, reader } = options;
  const { log } = telemetry;
  const check = reader && confinedCheck({ ...reader, ...checkLimits(), log });
  const { environment, plainHttp, git } = settings;
  const registries = { credentials, plainHttp, environment };
  const context = { git, check, registries, cache: memoryStore(), log };
  const account = ACCOUNT_FORGES.get(settings.forge);
  return account
    ? accountApp(account, { api: settings.api, ...options }, context)
    : gitHubApp(settings, options, context);
}

type ForgeContext = Pick<GateRequest, 'git' | 'check' | 'registries' | 'cache' | 'log'>;

/**
 * Acts on GitHub with the identity of an App. Each request gets a client and a token of its own, because tokens end after
 * an hour.
 */
function gitHubApp({ api }: HostSettings, { secret }: AppOptions, context: ForgeContext): App {
  const { log, registries } = context;
  const forge = appForge(async () => readAppSecret(await secret()), { api, log });
  const requestFor = async (source: Source) => {
    const [github, token] = [await forge.client(), await forge.token()];
    return { ...context, github, source, token, now: new Date() };
  };
  return {
    forge,
    request: async (source) => {
      const request = await requestFor(source);
      const repository = repositoryName(source.repository);
      const { github } = request;
      return {
        ...request,
        forge: gitHubForge({ github, repository }),
        gateGroup: (ports, group) => gateGroup({ ...ports, github, repository }, group),
      };
    },
    drift: requestFor,
    releaser: (source, registry) =>
      releaserFor({ github: forge.client, source, registry, registries, now: () => new Date(), log }),
  };
}

/** Acts on a forge with the token of an account, where there are no Apps. */
function accountApp(
  kind: AccountForge,
  { api, secret }: Pick<HostSettings, 'api'> & AppOptions,
  context: ForgeContext,
): App {
  const token = async (): Promise<string> => readForgeSecret(await secret());
  const client = kind.client(api, token);
  return {
    forge: {
      token,
      report: (status) => kind.report(client, status),
      shows: (status) => kind.shows(client, status),
    },
    request: async (source) => ({
      ...context,
      forge: kind.forge(client, source.repository),
      source,
      token: await token(),
      now: new Date(),
    }),
  };
}

/** The token in an account's secret. @throws PipelineError `usage` for a text without one */
function readForgeSecret(text: string): string {
  const value = parsedJson(text);
  const { token } = isObject(value) ? value : {};
  // Printable ASCII without spaces: it goes into a header.
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new PipelineError('usage', "cannot read the secret of the forge's account", {
    hint: '{"token": "…"}',
  });
}

/**
 * Finds who releases the bundles of a branch as the App. Nobody does (undefined) where a job of the branch does that, where
 * the branch is not a source, and where the App cannot release.
 */
export function releaserLookup(
  sources: readonly Source[],
  app: App,
  registry: Registry,
): NonNullable<DeliveryPorts['releaserOf']> {
  return ({ repository, branch }) => {
    const source = sources.find((one) => one.repository === repository && one.branch === branch);
    if (!source || source.job) return undefined;
    return app.releaser?.(source, registry);
  };
}

/** Checks pull requests of the sources as the App. @throws PipelineError from its function, as `handleGate` */
export function pullChecker(sources: readonly Source[], app: App): (message: GateMessage) => Promise<void> {
  return async ({ repository: name, ...message }) => {
    // Any branch of it: they have one URL, and the gate reads from the pull request which branch it is for.
    const source = sources.find((one) => one.repository === name);
    if (!source) throw new PipelineError('not-allowed', `pull requests of ${name} are not checked here`);
    await handleGates(gateAskedBy(message), await app.request(source));
  };
}

/**
 * What a message of the queue asks of the gate, in its own words. The most specific kind is looked for first: it has the
 * fields of the others, too (a merge group has a commit and a branch).
 */
function gateAskedBy({ number, left, commit, set, branch, base }: GateSubject): GateAsked {
  if (number !== undefined)
    return { kind: 'selected', selection: { kind: 'pull', number, previousHead: left } };
  if (commit !== undefined && set) return { kind: 'set', commit };
  if (commit !== undefined && branch !== undefined && base !== undefined)
    return { kind: 'group', group: { base, head: commit, branch } };
  if (commit !== undefined) return { kind: 'selected', selection: { kind: 'commit', commit } };
  if (branch !== undefined) return { kind: 'moved', branch, before: base };
  return { kind: 'selected', selection: { kind: 'all' } };
}

/** A forge that writes statuses to the log, for hosts without an account that could set them. */
export function logForge({ log }: Pick<Telemetry, 'log'>): Forge {
  return {
    report: async ({ repository, commit, context, state, description }: CommitStatus) =>
      log(`${repository} ${commit} ${context}: ${state}: ${description}`),
  };
}
