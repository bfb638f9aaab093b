import { headsOf } from '../../graph/channel.ts';
import { gvkText } from '../../graph/requirement.ts';
import { offerOfBundle } from '../../graph/snapshot.ts';
import { judgedPackages, type World } from '../../graph/world.ts';
import type { Catalog, Package } from '../../model.ts';
import { listed } from '../phrase.ts';
import { placeOfPackage } from '../place.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/gvk-takeover',
  severity: 'error',
  summary: 'No two packages that the same clusters see provide the same kind of object',
  foresee(world, report) {
    const judged = new Set(judgedPackages(world).map(({ name }) => name));
    for (const ofPackage of judgedPackages(world)) {
      for (const rival of rivalsOf(world, ofPackage)) {
        // Of two packages that are both judged, the first one tells.
        const isToldThere = rival.name < ofPackage.name && judged.has(rival.name);
        if (!isToldThere) reportRival({ world, ofPackage, rival, report });
      }
    }
  },
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      const was = before.catalog.packages.get(name);
      const ofPackage = after.catalog.packages.get(name);
      if (!ofPackage) continue;
      const known = new Set(was ? providedBy(was) : []);
      for (const rival of rivalsOf(after, ofPackage)) {
        const gvks = rival.gvks.filter((gvk) => !known.has(gvk));
        if (gvks.length === 0) continue;
        reportRival({ world: after, ofPackage, rival: { ...rival, gvks }, report, isNew: was === undefined });
      }
    }
  },
};

interface Rival {
  readonly name: string;
  /** Keys of the kinds that both provide. */
  readonly gvks: readonly string[];
}

interface Telling {
  readonly world: World;
  readonly ofPackage: Package;
  readonly rival: Rival;
  readonly report: Report;
  readonly isNew?: boolean;
}

function reportRival({ world, ofPackage, rival, report, isNew = false }: Telling): void {
  const location = placeOfPackage(world, ofPackage.name);
  if (!location) return;
  const message = `the packages ${quoted(ofPackage.name)} and ${quoted(rival.name)} both provide ${listed(rival.gvks.map(gvkText))}: under OLM v0 they cannot be installed in one namespace, and what depends on the kind may get either`;
  const hint = 'give the kind an API group of its own, or retire one of the packages';
  report(message, location, { package: ofPackage.name, hint, severity: isNew ? 'error' : 'warning' });
}

function rivalsOf(world: World, ofPackage: Package): Rival[] {
  const own = new Set(providedBy(ofPackage));
  if (own.size === 0) return [];
  const shared = new Map<string, string[]>();
  for (const { catalog } of world.foresight.scope.catalogs) {
    for (const gvk of own) {
      for (const name of providersIn(catalog).get(gvk) ?? []) {
        if (name !== ofPackage.name) shared.set(name, [...(shared.get(name) ?? []), gvk]);
      }
    }
  }
  return [...shared].map(([name, gvks]) => ({ name, gvks: [...new Set(gvks)].sort() }));
}

const providers = new WeakMap<Catalog, ReadonlyMap<string, readonly string[]>>();

/** Names of packages by the kinds that their heads provide. */
function providersIn(catalog: Catalog): ReadonlyMap<string, readonly string[]> {
  const known = providers.get(catalog);
  if (known) return known;
  const byGvk = new Map<string, string[]>();
  for (const ofPackage of catalog.packages.values()) {
    for (const gvk of new Set(providedBy(ofPackage)))
      byGvk.set(gvk, [...(byGvk.get(gvk) ?? []), ofPackage.name]);
  }
  providers.set(catalog, byGvk);
  return byGvk;
}

/** What the heads of a package's channels provide: what people install. */
function providedBy({ channels, bundles }: Package): string[] {
  return [...channels.values()].flatMap(headsOf).flatMap(({ name }) => {
    const bundle = bundles.get(name);
    return bundle ? offerOfBundle(bundle).gvks : [];
  });
}
