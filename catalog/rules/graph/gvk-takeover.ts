import { headsOf } from '../../fbc/channel.ts';
import type { Catalog, Package } from '../../fbc/model.ts';
import { appendToGroup } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { gvkText } from '../../olm/resolve/requirement.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { placeOfPackage } from '../finding-location.ts';
import { grouped, listed } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/gvk-takeover',
  severity: 'error',
  summary: 'Reports packages on the same cluster that provide the same kind of object',
  checkWorld(world, report) {
    const checked = new Set(checkedPackages(world).map(({ name }) => name));
    for (const ofPackage of checkedPackages(world)) {
      // If both packages are checked, only the first one reports it.
      const rivals = rivalsOf(world, ofPackage).filter(
        ({ name }) => name > ofPackage.name || !checked.has(name),
      );
      reportRivals({ world, ofPackage, rivals, report });
    }
  },
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      const was = before.catalog.packages.get(name);
      const ofPackage = after.catalog.packages.get(name);
      if (!ofPackage) continue;
      const known = was ? providedBy(was) : new Set();
      const rivals = rivalsOf(after, ofPackage)
        .map(({ name: rival, gvks }) => ({ name: rival, gvks: gvks.filter((gvk) => !known.has(gvk)) }))
        .filter(({ gvks }) => gvks.length > 0);
      reportRivals({ world: after, ofPackage, rivals, report, isNew: was === undefined });
    }
  },
};

interface Rival {
  readonly name: string;
  /** Keys of the kinds that both provide. */
  readonly gvks: readonly string[];
}

interface Takeover {
  readonly world: World;
  readonly ofPackage: Package;
  readonly rivals: readonly Rival[];
  readonly report: Report;
  /** Whether a change adds the package: clusters live with those that are there. */
  readonly isNew?: boolean;
}

/** Reports packages that provide the same kinds, in one finding. */
function reportRivals({ world, ofPackage, rivals, report, isNew = false }: Takeover): void {
  const location = placeOfPackage(world, ofPackage.name);
  if (!location) return;
  const effect = world.olm.has('v0')
    ? 'OLM v0 cannot install them in the same namespace, and operators that depend on the kind may get either'
    : 'OLM v1 cannot install more than one of them on a cluster, because each CRD belongs to one extension';
  for (const group of grouped(rivals, ({ gvks }) => gvks.join('\n'))) {
    const names = [ofPackage.name, ...group.map(({ name }) => name)];
    const kinds = listed((group[0]?.gvks ?? []).map(gvkText));
    const message = `the packages ${listed(names.map(quoted))} ${names.length === 2 ? 'both' : 'all'} provide ${kinds}: ${effect}`;
    const hint = 'use a different API group for the kind, or retire one of the packages';
    report(message, location, {
      package: ofPackage.name,
      subject: JSON.stringify([names.slice(1), group[0]?.gvks]),
      hint,
      severity: isNew ? 'error' : 'warning',
    });
  }
}

/** Other packages of the catalogs that provide the same kinds, with these kinds. */
function rivalsOf(world: World, ofPackage: Package): Rival[] {
  const own = providedBy(ofPackage);
  if (own.size === 0) return [];
  const shared = new Map<string, Set<string>>();
  for (const { catalog } of world.foresight.scope.catalogs) {
    for (const gvk of own) {
      for (const name of providersIn(catalog).get(gvk) ?? []) {
        if (name === ofPackage.name) continue;
        const gvks = shared.get(name) ?? new Set();
        shared.set(name, gvks.add(gvk));
      }
    }
  }
  return [...shared].map(([name, gvks]) => ({ name, gvks: [...gvks].sort() }));
}

/** Names of packages by the kinds that their heads provide. */
const providersIn = onceFor((catalog: Catalog): ReadonlyMap<string, readonly string[]> => {
  const byGvk = new Map<string, string[]>();
  for (const ofPackage of catalog.packages.values()) {
    for (const gvk of providedBy(ofPackage)) appendToGroup(byGvk, gvk, ofPackage.name);
  }
  return byGvk;
});

/** The kinds that the heads of a package's channels provide: new installations get these. */
const providedBy = onceFor(({ channels, bundles }: Package): ReadonlySet<string> => {
  const heads = [...channels.values()].flatMap(headsOf).flatMap(({ name }) => bundles.get(name) ?? []);
  return new Set(heads.flatMap((bundle) => offerOfBundle(bundle).gvks));
});
