/** The GitHub App of a host, and what it checks and proposes with. */
import { PipelineError } from '../pipeline/error.ts';
import { gitHubForge } from '../pipeline/github/forge.ts';
import { repositoryName } from '../pipeline/github/gate.ts';
import { memoryStore } from '../pipeline/oci/image/memory-store.ts';
import type { CommitStatus, CredentialSource, Forge, Registry } from '../pipeline/ports.ts';
import type { GateMessage } from '../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts, Releaser } from '../pipeline/publish/delivery/ports.ts';
import type { DriftRequest } from './drift.ts';
import { type GateRequest, handleGate } from './gate.ts';
import { appForge, type GitHubForge, readAppSecret } from './github.ts';
import type { Source } from './receive.ts';
import { releaserFor } from './release.ts';
import type { HostSettings } from './settings.ts';
import type { Telemetry } from './telemetry.ts';

export interface App {
  readonly forge: GitHubForge;
  /** All that a handler needs for a repository but what it does. */
  request(source: Source): Promise<GateRequest & DriftRequest>;
  /** @param registry where bundles are pushed */
  releaser(source: Source, registry: Registry): Releaser;
}

export interface AppOptions {
  /** Reads the App's secret, each time anew. */
  readonly secret: () => Promise<string>;
  readonly credentials: CredentialSource;
  readonly telemetry: Pick<Telemetry, 'log'>;
}

export function openApp(
  { api, environment, plainHttp, git }: HostSettings,
  { secret, credentials, telemetry: { log } }: AppOptions,
): App {
  const forge = appForge(async () => readAppSecret(await secret()), { api, log });
  const registries = { credentials, plainHttp, environment };
  const cache = memoryStore();
  return {
    forge,
    request: async (source) => {
      const [github, token] = [await forge.client(), await forge.token()];
      const gateForge = gitHubForge({ github, repository: repositoryName(source.repository) });
      const around = { git, registries, cache, now: new Date(), log };
      return { github, forge: gateForge, source, token, ...around };
    },
    releaser: (source, registry) =>
      releaserFor({ github: forge.client, source, registry, registries, now: () => new Date(), log }),
  };
}

/** Releases bundles as the App; undefined for a branch whose job does that. */
export function bundleReleaser(
  sources: readonly Source[],
  app: App,
  registry: Registry,
): NonNullable<DeliveryPorts['releaserOf']> {
  return ({ repository, branch }) => {
    const source = sources.find((one) => one.repository === repository && one.branch === branch);
    return source && !source.job ? app.releaser(source, registry) : undefined;
  };
}

/** Checks pull requests of the sources as the App. @throws PipelineError from its function, as `handleGate` */
export function pullChecker(sources: readonly Source[], app: App): (message: GateMessage) => Promise<void> {
  return async ({ repository: name, number }) => {
    const source = sources.find((one) => one.repository === name);
    if (!source) throw new PipelineError('not-allowed', `pull requests of ${name} are not checked here`);
    await handleGate(number, await app.request(source));
  };
}

/** Statuses as lines of the log, where no App reports them. */
export function logForge({ log }: Pick<Telemetry, 'log'>): Forge {
  return {
    report: async ({ repository, commit, context, state, description }: CommitStatus) =>
      log(`${repository} ${commit} ${context}: ${state}: ${description}`),
  };
}
