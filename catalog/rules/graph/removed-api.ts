import { locate } from '../../fbc/model.ts';
import { compareMinors, formatMinor, type Minor, tryParseMinor } from '../../fbc/openshift.ts';
import { kubernetesOf } from '../../fbc/platform.ts';
import { checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import type { ManifestApi } from '../../olm/manifests.ts';
import { releaseWithout } from '../bundle-checks/removed-api.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { type Reached, reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * The install plan of OLM v0, or the revision of OLM v1, fails at such a manifest.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/catalog/not_found.go
 */
export const rule: Rule = {
  id: 'graph/removed-api',
  severity: 'error',
  summary: "Reports bundles with manifests of APIs that the platform's Kubernetes version removed",
  reads: ['manifests'],
  foresee(world, report) {
    const { platform } = world;
    const kubernetes = platform && kubernetesOf(platform);
    if (!platform || !kubernetes) return;
    for (const ofPackage of checkedPackages(world)) {
      const stopped = reachedBundles(world, ofPackage).flatMap((reached) =>
        grouped(refusedBy(world, reached, kubernetes), ({ olm }) => olm.join()).map((refused) => ({
          bundle: reached.bundle,
          olm: refused[0]?.olm.join(' and ') ?? '',
          what: listed(refused.map(apiText)),
        })),
      );
      for (const group of grouped(stopped, ({ olm, what }) => `${olm} ${what}`)) {
        const [first] = group;
        if (!first) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const has = versions.length === 1 ? 'it has' : 'they have';
        const message = `OLM ${first.olm} cannot install ${listed(versions)} of package ${quoted(ofPackage.name)} on OpenShift ${formatMinor(platform)} with Kubernetes ${formatMinor(kubernetes)}: ${has} the ${first.what}`;
        report(message, locate(first.bundle, 'properties'), {
          package: ofPackage.name,
          installed: versions,
          hint: `migrate the manifest to a supported API version: https://kubernetes.io/docs/reference/using-api/deprecation-guide/`,
        });
      }
    }
  },
};

function apiText({ api: { apiVersion, kind, name }, since }: Refused): string {
  return `${kind} ${quoted(name)} of ${apiVersion}, which Kubernetes ${since} removed`;
}

interface Refused {
  readonly api: ManifestApi;
  /** The release of Kubernetes that removed it. */
  readonly since: string;
  /** The clusters that cannot install it. */
  readonly olm: readonly Olm[];
}

function refusedBy({ manifests }: World, { bundle, olm }: Reached, kubernetes: Minor): readonly Refused[] {
  return (manifests(bundle).objects ?? []).flatMap((api) => {
    const since = releaseWithout(api.apiVersion, api.kind);
    const removed = since === undefined ? undefined : tryParseMinor(since);
    if (since === undefined || !removed || compareMinors(removed, kubernetes) > 0) return [];
    const stopped = [...olm].filter((generation) => generation === 'v1' || !REWRITTEN.has(api.kind));
    return stopped.length === 0 ? [] : [{ api, since, olm: stopped }];
  });
}

/** Kinds that OLM v0 parses with its own types and writes as v1, whatever their version. */
const REWRITTEN: ReadonlySet<string> = new Set(['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);
