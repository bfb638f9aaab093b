import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate } from '../../fbc/model.ts';
import { parseJson } from '../../json.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import type { RequiredCrd } from '../../olm/manifests.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * OLM v0 resolves what properties require. What only the ClusterServiceVersion requires is never installed for it, and
 * the ClusterServiceVersion stays pending until the cluster has it.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/requirements.go
 */
export const rule: Rule = {
  id: 'graph/required-crd-missing',
  severity: 'warning',
  summary:
    'Reports CRDs that a ClusterServiceVersion requires, though no property says so and nothing in the catalog provides them',
  reads: ['catalogs', 'manifests'],
  foresee(world, report) {
    if (!world.olm.has('v0') || !world.isWhole) return;
    for (const ofPackage of checkedPackages(world)) {
      const missing = reachedBundles(world, ofPackage).flatMap(({ bundle, olm }) =>
        olm.has('v0') ? missingFor(world, bundle).map((name) => ({ bundle, name })) : [],
      );
      for (const group of grouped(missing, ({ name }) => name)) {
        const last = group.at(-1);
        if (!last) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const message = `the ClusterServiceVersion of ${listed(versions)} of package ${quoted(ofPackage.name)} requires the CRD ${quoted(last.name)}, which nothing in the catalog provides: OLM v0 does not install it, and waits for it`;
        report(message, locate(last.bundle, 'properties'), {
          package: ofPackage.name,
          subject: last.name,
          installed: [...new Set(group.map(({ bundle }) => shortName(bundle)))],
          hint: 'publish the operator that provides it, and say that the bundle requires it: olm.gvk.required',
        });
      }
    }
  },
};

/** Groups whose CRDs are part of the platform. */
const OF_THE_PLATFORM = /(?:^|\.)(?:openshift\.io|k8s\.io|coreos\.com)$/;

/** Names of the CRDs that nothing known provides. What a property requires is told of that. */
function missingFor(world: World, bundle: Bundle): string[] {
  const required = world.manifests(bundle).csv?.requiredCrds ?? [];
  return required
    .filter(({ name }) => !OF_THE_PLATFORM.test(groupOf(name)))
    .filter((crd) => !isTold(bundle, crd) && !providedIn(world).has(keyOf(groupOf(crd.name), crd.kind)))
    .map(({ name }) => name);
}

/** The part of a CRD's name after the plural name. */
function groupOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

function keyOf(group: string, kind: string): string {
  return JSON.stringify([group, kind]);
}

function isTold({ properties }: Bundle, { name, kind }: RequiredCrd): boolean {
  return properties.some(({ type, value }) => {
    if (type !== 'olm.gvk.required') return false;
    const { group, kind: its } = Object(value) as Readonly<Record<string, unknown>>;
    return group === groupOf(name) && its === kind;
  });
}

const provided = new WeakMap<World, ReadonlySet<string>>();

/** The kinds that bundles of the catalog, or of others on the clusters, provide. */
function providedIn(world: World): ReadonlySet<string> {
  const known = provided.get(world);
  if (known) return known;
  const bundles = [world.catalog, ...world.companions.values()].flatMap(({ blobs }) => blobs.bundles);
  const found = new Set(
    bundles.flatMap((bundle) =>
      offerOfBundle(bundle).gvks.map((gvk) => {
        const [group, , kind] = parseJson(gvk) as [string, string, string];
        return keyOf(group, kind);
      }),
    ),
  );
  provided.set(world, found);
  return found;
}
