import { type Bundle, locate } from '../../fbc/model.ts';
import {
  compareMinors,
  formatMinor,
  type Limit,
  limitOf,
  type Minor,
  tryParseMinor,
} from '../../fbc/openshift.ts';
import { kubernetesOf } from '../../fbc/platform.ts';
import { checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import type { ManifestApi } from '../../olm/manifests.ts';
import { releaseWithout } from '../bundle-checks/removed-api.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { type Reached, reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/max-openshift-version',
    severity: 'error',
    summary:
      "Reports values of olm.maxOpenShiftVersion that are not a single minor version, or are below the catalog's",
    checkWorld(world, report) {
      for (const { name, bundles } of checkedPackages(world)) {
        const wrong = [...bundles.values()].flatMap((bundle) => {
          const why = limitDefect(limitOf(bundle.properties), world);
          return why === undefined ? [] : [{ bundle, why }];
        });
        for (const group of grouped(wrong, ({ why }) => why)) {
          // The newest: the next version is most likely made from its manifests.
          const last = group.at(-1);
          if (!last) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const message = `package ${quoted(name)}: ${last.why}; while ${listed(versions)} ${versions.length === 1 ? 'is' : 'are'} installed, the cluster cannot upgrade`;
          report(message, locate(last.bundle, 'properties', positionIn(last.bundle), 'value'), {
            package: name,
            installed: versions,
            hint: `value: "${world.platform ? formatMinor(world.platform) : '4.20'}"`,
          });
        }
      }
    },
  },
  /**
   * OLM v0 keeps the ClusterServiceVersion pending; OLM v1 does not look at the field.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/requirements.go `minKubeVersionStatus`
   */
  {
    id: 'graph/min-kube-version',
    severity: 'error',
    summary: "Reports bundles whose minKubeVersion is above the platform's Kubernetes version",
    reads: ['manifests'],
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      for (const ofPackage of checkedPackages(world)) {
        const wrong = reachedBundles(world, ofPackage).flatMap(({ bundle, olm }) => {
          const defect = olm.has('v0') ? kubernetesDefect(bundle, world) : undefined;
          return defect ? [{ bundle, ...defect }] : [];
        });
        for (const group of grouped(wrong, ({ text }) => text)) {
          const [first] = group;
          if (!first) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const message = `under OLM v0 the installation of ${listed(versions)} of package ${quoted(ofPackage.name)} never completes: ${first.text}`;
          report(message, locate(first.bundle, 'properties'), {
            package: ofPackage.name,
            installed: versions,
            hint: first.hint,
          });
        }
      }
    },
  },
  /**
   * The install plan of OLM v0, or the revision of OLM v1, fails at such a manifest.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/catalog/not_found.go
   */
  {
    id: 'graph/removed-api',
    severity: 'error',
    summary: "Reports bundles with manifests of APIs that the platform's Kubernetes version removed",
    reads: ['manifests'],
    checkWorld(world, report) {
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
  },
];

/** Position of the limit; of several, which is a defect, that of the last. */
function positionIn({ properties }: Bundle): number {
  return properties.findLastIndex(({ type }) => type === 'olm.maxOpenShiftVersion');
}

/** Why a bundle's limit keeps clusters of this very catalog from upgrades; undefined if it does not. */
function limitDefect(limit: Limit, { platform, name }: World): string | undefined {
  if (limit.kind === 'invalid') return `olm.maxOpenShiftVersion is not valid: ${limit.why}`;
  if (limit.kind === 'none' || !platform || compareMinors(limit.max, platform) >= 0) return undefined;
  // 4.1 is what becomes of an unquoted 4.10.
  const slip = limit.max.minor < 10 && limit.max.minor > 0 ? ' (a number loses its last zero: quote it)' : '';
  return `olm.maxOpenShiftVersion is ${formatMinor(limit.max)}${slip}, but the catalog ${quoted(name)} is for ${formatMinor(platform)}`;
}

interface Defect {
  readonly text: string;
  readonly hint: string;
}

/** The versions that OLM v0 parses: all three numbers, with or without a `v`. */
const READABLE = /^v?([0-9]{1,9})\.([0-9]{1,9})\.[0-9]+(?:[-+].*)?$/;

/** Why a bundle's minKubeVersion does not fit the catalog's platform; undefined if it does. */
function kubernetesDefect(bundle: Bundle, { manifests, platform }: World): Defect | undefined {
  const written = manifests(bundle).csv?.minKubeVersion ?? '';
  if (written === '') return undefined;
  const [, major, minor] = READABLE.exec(written) ?? [];
  if (major === undefined || minor === undefined) {
    return {
      text: `the minKubeVersion ${quoted(written)} is not valid, expected three numbers`,
      hint: 'publish a bundle with a valid minKubeVersion, for example 1.28.0',
    };
  }
  const wanted = { major: Number(major), minor: Number(minor) };
  const kubernetes = platform && kubernetesOf(platform);
  if (!platform || !kubernetes || compareMinors(wanted, kubernetes) <= 0) return undefined;
  const openshift = `OpenShift ${formatMinor(platform)}`;
  return {
    text: `the minKubeVersion is ${written}, and ${openshift} has Kubernetes ${formatMinor(kubernetes)}`,
    hint: `remove the bundle from the catalog of ${openshift}, or publish one with a lower minKubeVersion`,
  };
}

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

/**
 * The manifests of a bundle whose API the platform's Kubernetes removed, with the OLM versions that cannot install
 * them.
 */
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
