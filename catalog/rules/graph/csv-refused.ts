import type { Crd } from '../../crd/crd.ts';
import { locate } from '../../fbc/model.ts';
import { checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import type { CsvFacts, ManifestApi, Webhook } from '../../olm/manifests.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { type Reached, reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * A catalog may offer a ClusterServiceVersion that no cluster installs. OLM v0 has replaced the former one by then.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/install/webhook.go `ValidWebhookRules`
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/apiservices.go
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/requirements.go
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go
 */
export const rule: Rule = {
  id: 'graph/csv-refused',
  severity: 'error',
  summary:
    'Reports bundles with webhooks, API services or CRDs for which OLM refuses the ClusterServiceVersion',
  reads: ['manifests'],
  foresee(world, report) {
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
};

interface Refusal {
  readonly olm: readonly Olm[];
  readonly why: string;
  readonly fix: string;
}

function refusalsOf({ manifests, crds }: World, { bundle, olm }: Reached): Refusal[] {
  const { csv, objects } = manifests(bundle);
  if (!csv) return [];
  const all = [
    ...(csv.webhooks ?? []).flatMap((webhook) => ofWebhook(webhook, csv)),
    ...ofApiServers(csv),
    ...ofCrds(csv, objects ?? [], crds(bundle) ?? []),
  ];
  return all
    .map((refusal) => ({ ...refusal, olm: refusal.olm.filter((one) => olm.has(one)) }))
    .filter((refusal) => refusal.olm.length > 0);
}

const BOTH: readonly Olm[] = ['v0', 'v1'];
const CONFIGURATIONS = ['*', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

function ofWebhook({ name, targets, deployment }: Webhook, { deployments }: CsvFacts): Refusal[] {
  const forbidden = targets.flatMap(({ apiGroups, resources }) => [
    ...(apiGroups.includes('*') ? ['all API groups'] : []),
    ...(apiGroups.includes('operators.coreos.com') ? ['the group of OLM, operators.coreos.com'] : []),
    ...(apiGroups.includes('admissionregistration.k8s.io') &&
    resources.some((one) => CONFIGURATIONS.includes(one))
      ? ['configurations of webhooks']
      : []),
  ]);
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
function ofApiServers({ apiServers, deployments }: CsvFacts): Refusal[] {
  if (deployments === undefined) return [];
  const missing = apiServers.filter((name) => !deployments.some((one) => one.name === name));
  if (missing.length === 0) return [];
  const why = `its API services name the deployment ${listed([...new Set(missing)].map(quoted))}, which it lacks`;
  return [{ olm: ['v0'], why, fix: 'set deploymentName to a deployment in spec.install.spec.deployments' }];
}

/** OLM v1 fails the bundle; OLM v0 keeps the ClusterServiceVersion pending until somebody else creates the CRD. */
function ofCrds({ ownedCrds }: CsvFacts, objects: readonly ManifestApi[], crds: readonly Crd[]): Refusal[] {
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
