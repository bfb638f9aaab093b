import type { Crd } from '../../crd/crd.ts';
import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import { type Bundle, type Channel, locate } from '../../fbc/model.ts';
import { checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import type { CsvFacts, ManifestApi, Webhook } from '../../olm/manifests.ts';
import { isSameVersion, tryParseVersion, type Version } from '../../version/version.ts';
import { channelIn, placeOfHead } from '../finding-location.ts';
import { channelText, grouped, listed, versionsOf } from '../message-text.ts';
import { type Reached, reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  /**
   * A catalog may offer a ClusterServiceVersion that no cluster installs. OLM v0 has replaced the former one by then.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/install/webhook.go `ValidWebhookRules`
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/apiservices.go
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/requirements.go
   * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go
   */
  {
    id: 'graph/csv-refused',
    severity: 'error',
    summary:
      'Reports bundles with webhooks, API services or CRDs for which OLM refuses the ClusterServiceVersion',
    reads: ['manifests'],
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        const refused = reachedBundles(world, ofPackage).flatMap((reached) =>
          refusalsOf(world, reached).map((refusal) => ({ bundle: reached.bundle, ...refusal })),
        );
        for (const group of grouped(refused, ({ olm, why }) => JSON.stringify([olm, why]))) {
          const [first] = group;
          if (!first) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const message = `OLM ${first.olm.join(' and ')} cannot install ${listed(versions)} of package ${quoted(ofPackage.name)}: ${first.why}`;
          report(message, locate(first.bundle, 'properties'), {
            package: ofPackage.name,
            installed: versions,
            hint: first.fix,
          });
        }
      }
    },
  },
  /**
   * OLM v0 compares a `skipRange` with the version of the installed ClusterServiceVersion, not with that of the catalog.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/source_csvs.go `newEntryFromV1Alpha1CSV`
   */
  {
    id: 'graph/csv-version',
    severity: 'error',
    summary: 'Reports channel heads whose ClusterServiceVersion has another version than the catalog',
    harm: { rank: 3, kind: 'loss' },
    reads: ['manifests'],
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      for (const { name, channels } of checkedPackages(world)) {
        const heads = [...channels.values()].flatMap((channel) => mislabeledHead(world, channel) ?? []);
        for (const [bundle, version] of new Map(heads.map((head) => [head.bundle, head.written]))) {
          const message = `the ClusterServiceVersion of ${shortName(bundle)} of package ${quoted(name)} has version ${version}, with which OLM v0 compares skipRange once it is installed`;
          const hint = 'publish a bundle whose ClusterServiceVersion has the version of the catalog';
          report(message, locate(bundle, 'properties'), {
            package: name,
            severity: 'warning',
            installed: [shortName(bundle)],
            hint,
          });
        }
      }
    },
    compare({ before, after, packages }, report) {
      if (!after.olm.has('v0')) return;
      for (const name of packages) {
        for (const was of before.catalog.packages.get(name)?.channels.values() ?? []) {
          const channel = channelIn(after, name, was.name);
          const head = channel && mislabeledHead(before, was);
          if (!head) continue;
          const { bundle, version, written } = head;
          const place = { package: name, channel: was.name };
          const { arrives } = after.foresight.v0(place, { name: bundle.name, version });
          // Where the catalog's version has no way either, other rules report that.
          if (arrives || !after.foresight.v0(place, bundle).arrives) continue;
          const message = `under OLM v0 ${shortName(bundle)} can no longer reach the head of ${channelText(was.name, name)}: its ClusterServiceVersion has version ${written}, which no skipRange on the way covers`;
          report(message, placeOfHead(channel), {
            ...place,
            installed: [shortName(bundle)],
            hint: `let the next entry replace ${bundle.name}`,
          });
        }
      }
    },
  },
];

interface Refusal {
  readonly olm: readonly Olm[];
  readonly why: string;
  readonly fix: string;
}

/** Why OLM refuses a bundle, for each OLM version by which clusters reach it. */
function refusalsOf({ manifests, crds }: World, { bundle, olm }: Reached): Refusal[] {
  const { csv, objects } = manifests(bundle);
  if (!csv) return [];
  const all = [
    ...(csv.webhooks ?? []).flatMap((webhook) => webhookRefusals(webhook, csv)),
    ...apiServerRefusals(csv),
    ...crdRefusals(csv, objects ?? [], crds(bundle) ?? []),
  ];
  return all
    .map((refusal) => ({ ...refusal, olm: refusal.olm.filter((one) => olm.has(one)) }))
    .filter((refusal) => refusal.olm.length > 0);
}

const BOTH: readonly Olm[] = ['v0', 'v1'];
const CONFIGURATIONS = ['*', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/** Why OLM refuses a webhook's definition: what it applies to, or the deployment that it names. */
function webhookRefusals({ name, targets, deployment }: Webhook, { deployments }: CsvFacts): Refusal[] {
  const forbidden = targets.flatMap(({ apiGroups, resources }) => [
    ...(apiGroups.includes('*') ? ['all API groups'] : []),
    ...(apiGroups.includes('operators.coreos.com') ? ['the group of OLM, operators.coreos.com'] : []),
    ...(apiGroups.includes('admissionregistration.k8s.io') &&
    resources.some((one) => CONFIGURATIONS.includes(one))
      ? ['configurations of webhooks']
      : []),
  ]);
  // Only OLM v1 looks for the deployment before it installs the bundle.
  const isMissing = deployments !== undefined && !deployments.some((one) => one.name === deployment);
  return [
    ...(forbidden.length > 0
      ? [
          {
            olm: BOTH,
            why: `the webhook ${quoted(name)} applies to ${listed([...new Set(forbidden)])}`,
            fix: "set apiGroups to the groups of the operator's own kinds",
          },
        ]
      : []),
    ...(isMissing
      ? [
          {
            olm: ['v1'] as const,
            why: `the webhook ${quoted(name)} names the deployment ${quoted(deployment)}, which it lacks`,
            fix: 'set deploymentName to a deployment in spec.install.spec.deployments',
          },
        ]
      : []),
  ];
}

/** OLM v1 installs no API services at all, which another rule says. */
function apiServerRefusals({ apiServers, deployments }: CsvFacts): Refusal[] {
  if (deployments === undefined) return [];
  const missing = apiServers.filter((name) => !deployments.some((one) => one.name === name));
  if (missing.length === 0) return [];
  const why = `its API services name the deployment ${listed([...new Set(missing)].map(quoted))}, which it lacks`;
  return [{ olm: ['v0'], why, fix: 'set deploymentName to a deployment in spec.install.spec.deployments' }];
}

/** OLM v1 fails the bundle; OLM v0 keeps the ClusterServiceVersion pending until somebody else creates the CRD. */
function crdRefusals(
  { ownedCrds }: CsvFacts,
  objects: readonly ManifestApi[],
  crds: readonly Crd[],
): Refusal[] {
  // A bundle whose objects are unknown, or whose CRDs cannot be read, may have them.
  const isKnown = objects.length > 0 && objects.filter(({ kind }) => kind === CRD).length === crds.length;
  const missing = ownedCrds.filter((owned) => !crds.some(({ name }) => name === owned));
  if (!isKnown || missing.length === 0) return [];
  const [what, it] = missing.length === 1 ? ['the CRD', 'it'] : ['the CRDs', 'them'];
  const why = `it owns ${what} ${listed([...new Set(missing)].map(quoted))}, which the bundle lacks`;
  const fix = `add ${what} to the bundle, or remove ${it} from spec.customresourcedefinitions.owned`;
  return [{ olm: BOTH, why, fix }];
}

const CRD = 'CustomResourceDefinition';

interface MislabeledHead {
  readonly bundle: Bundle;
  /** The version of its ClusterServiceVersion as written, and parsed. */
  readonly written: string;
  readonly version: Version;
}

/** The head of a channel, if its ClusterServiceVersion has another version than the catalog. */
function mislabeledHead(world: World, channel: Channel): MislabeledHead | undefined {
  const head = headOf(channel);
  const bundle = head && world.catalog.packages.get(channel.package)?.bundles.get(head.name);
  const written = (bundle && world.manifests(bundle).csv?.version) ?? '';
  const version = tryParseVersion(written);
  return bundle && version && !isSameVersion(bundle.version, version)
    ? { bundle, written, version }
    : undefined;
}
