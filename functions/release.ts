/** Bundles released as the App, for a branch that has no job which does it. */
import { clientsUnder } from '../pipeline/catalogs/references/client.ts';
import { PipelineError } from '../pipeline/error.ts';
import type { GitHub } from '../pipeline/github/client.ts';
import { bundlesEnvironment, lastReleased, noteReleased } from '../pipeline/github/deployments.ts';
import { repositoryName } from '../pipeline/github/forge.ts';
import { releaseArrivals } from '../pipeline/github/proposals/release-bundles.ts';
import { readDefaultBranch } from '../pipeline/github/pull-request.ts';
import type { ClientOptions } from '../pipeline/oci/registry/client.ts';
import type { Registry } from '../pipeline/ports.ts';
import type { Arrival, Arrived, Releaser } from '../pipeline/publish/delivery/ports.ts';
import type { Source } from './receive.ts';

interface ReleaseHost {
  /** The client of the App. */
  readonly github: () => Promise<GitHub>;
  readonly source: Pick<Source, 'repository' | 'branch'>;
  /** Where bundles are pushed. */
  readonly registry: Registry;
  /** How other bundles are looked up, that no catalog holds yet; which registries may be asked, the policy says. */
  readonly registries: ClientOptions;
  readonly now: () => Date;
  readonly log: (line: string) => void;
}

/** Releases the bundles of one branch as the App. */
export function releaserFor(host: ReleaseHost): Releaser {
  const name = repositoryName(host.source.repository);
  const environmentIn = async (github: GitHub): Promise<string> =>
    bundlesEnvironment(host.source.branch, await readDefaultBranch(github, name));
  return {
    earlier: async () => {
      const github = await host.github();
      return lastReleased(github, name, await environmentIn(github));
    },
    release: (arrival) => release(host, arrival, environmentIn),
  };
}

/**
 * Releases the bundles that a commit brings, and notes that on GitHub as a deployment. A note that fails does not undo
 * the release.
 */
async function release(
  { github: enter, source, registry, registries, now, log }: ReleaseHost,
  { repository, branch, commit, since, policy }: Arrival,
  environmentIn: (github: GitHub) => Promise<string>,
): Promise<Arrived> {
  const github = await enter();
  const name = repositoryName(source.repository);
  const references = clientsUnder(registries);
  try {
    const ports = { github, name, repository, registry, registryFor: references.under };
    const today = now().toISOString().slice(0, 10);
    const { commit: before, refused: refusedBefore, missing: missingBefore } = since;
    const request = {
      before,
      refused: refusedBefore,
      missing: missingBefore,
      branch,
      commit,
      policy,
      today,
    };
    const { released: all, missing: missingNow } = await releaseArrivals(ports, request);
    const refused = all.filter(({ findings }) => findings.length > 0);
    // One with neither was deleted from the branch: only its pull request was closed.
    const released = all.filter(({ findings, image }) => findings.length === 0 && image !== undefined);
    const missing = [...missingNow];
    if (all.length > 0) {
      try {
        // People read the note, and a job that releases from here on starts at its commit.
        const environment = await environmentIn(github);
        const note = { environment, commit, bundles: released, refused, missing, link: undefined };
        await noteReleased(github, name, note);
      } catch (error) {
        if (!(error instanceof PipelineError)) throw error;
        log(`cannot note the release: ${error.message}`);
      }
    }
    const names = refused.map(({ package: packageName, version }) => ({ package: packageName, version }));
    return { commit, refused: names, missing, released, why: refused[0]?.findings[0]?.message };
  } finally {
    references.close();
  }
}
