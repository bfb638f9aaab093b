import { type Bundle, locate } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import { type Change, checkedPackages, type World } from '../../olm/foresight/world.ts';
import { v1Obstacles } from '../../olm/resolve/support.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { headBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/newly-unsupported-v1',
    severity: 'error',
    summary: 'Reports changes that offer OLM v1 a bundle that it cannot install',
    reads: ['catalogs', 'history'],
    compare(change, report) {
      const moves = changesUnder(change, 'v1').filter((move) => refusedBundle(change, move) !== undefined);
      const refused = eachOnce(moves).flatMap((move) => {
        const bundle = refusedBundle(change, move);
        return bundle ? [{ move, bundle }] : [];
      });
      for (const group of grouped(refused, ({ move, bundle }) =>
        JSON.stringify([bundle.package, bundle.name, move.channel]),
      )) {
        const [first] = group;
        if (!first) continue;
        const { bundle, move } = first;
        const within = move.channel === '' ? '' : ` with channel ${quoted(move.channel)} alone`;
        const versions = versionsOf(group.map((one) => one.move.installed));
        const message = `under OLM v1 ${listed(versions)} of package ${quoted(bundle.package)}${within} would upgrade to ${bundle.name}, which OLM v1 cannot install: ${v1Obstacles(bundle).join(', ')}`;
        const hint =
          'OLM v1 installs no dependencies, and operators watch all namespaces: support both OLM versions, or state in the release notes that OLM v1 is not supported';
        report(message, locate(bundle, 'properties'), { package: bundle.package, installed: versions, hint });
      }
    },
  },
  {
    id: 'graph/olmv1-unsupported',
    severity: 'error',
    summary:
      'Reports channel heads that OLM v1 cannot install: with dependencies, API services or only namespaced install modes',
    checkWorld(world, report) {
      if (!world.olm.has('v1')) return;
      for (const ofPackage of checkedPackages(world)) {
        const { name } = ofPackage;
        const heads = headBundles(ofPackage);
        const refused = heads.flatMap((bundle) => v1Obstacles(bundle).map((why) => ({ bundle, why })));
        for (const group of grouped(refused, ({ why }) => why)) {
          const last = group.at(-1);
          if (!last) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const message = `OLM v1 cannot install ${listed(versions)} of package ${quoted(name)}: ${last.why}`;
          report(message, locate(last.bundle, 'properties'), {
            package: name,
            subject: last.why,
            installed: versions,
            severity: world.olm.has('v0') ? 'warning' : 'error',
            hint: 'remove what OLM v1 does not support, or tell users that the operator needs OLM v0',
          });
        }
      }
    },
  },
];

/** The bundle that is newly chosen, at once or after other upgrades, and cannot be installed. */
function refusedBundle(
  { before, after }: Change,
  { package: name, installed, ...move }: InstallationChange,
): Bundle | undefined {
  // A cluster that gets another error than before is not worse off.
  if (move.before.next.kind === 'fails') return undefined;
  const own = bundleOf(before, name, installed.name) ?? bundleOf(after, name, installed.name);
  const previous = chosenBundle(before, name, move.before.next) ?? own;
  // An old obstacle is reported for the catalog, not for the change.
  const known = new Set([previous, own].flatMap((one) => (one ? v1Obstacles(one).map(kindOf) : [])));
  // Where the path before ended in an error, an error at the end of the new one is not worse either.
  const steps = move.before.last.kind === 'fails' ? [move.after.next] : [move.after.next, move.after.last];
  return steps
    .flatMap((step) => chosenBundle(after, name, step) ?? [])
    .find(
      (bundle) =>
        bundle.name !== installed.name && v1Obstacles(bundle).some((one) => !known.has(kindOf(one))),
    );
}

/** An obstacle without its details: dependencies stay dependencies, whatever they are on. */
function kindOf(obstacle: string): string {
  return obstacle.replace(/ \(.*$/s, '');
}

/** The bundle that OLM v1 settles on, whether it then refuses it or not. */
function chosenBundle(
  world: World,
  name: string,
  step: UpgradePath['next'] | UpgradePath['last'],
): Bundle | undefined {
  if (step.kind === 'circle' || step.kind === 'stays') return undefined;
  const target = step.kind === 'upgrade' ? step.to.name : step.reason.bundle;
  return target === undefined ? undefined : bundleOf(world, name, target);
}

function bundleOf(world: World, name: string, bundle: string): Bundle | undefined {
  return world.catalog.packages.get(name)?.bundles.get(bundle);
}
