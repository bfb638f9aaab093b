import { shortName } from '../../fbc/edge.ts';
import { type Bundle, type Catalog, locate } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import type { PublishedBundle } from '../../olm/foresight/world.ts';
import { tryParseReference } from '../../reference.ts';
import { isSameVersion } from '../../version/version.ts';
import { grouped, listed } from '../message-text.ts';
import { quoted, type Report, type Rule, reportAs } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/repeated-image',
  severity: 'error',
  summary: 'Reports versions of a package that have the same image',
  reads: ['history'],
  comparisonTellsNews: true,
  check(catalog, report) {
    // Only a change that adds a duplicate is an error.
    for (const name of catalog.packages.keys())
      for (const group of repeatedIn(catalog, name)) reportGroup(group, reportAs('warning', report));
  },
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      const known = new Set(repeatedIn(before.catalog, name).flatMap((group) => group.map(keyOf)));
      const repeated = repeatedIn(after.catalog, name);
      for (const group of repeated)
        if (!group.every((one) => known.has(keyOf(one)))) reportGroup(group, report);
      const reported = new Set(repeated.flat());
      const was = before.catalog.packages.get(name)?.bundles;
      const now = after.catalog.packages.get(name)?.bundles;
      const changed = [...(now?.values() ?? [])].filter(
        (one) => !reported.has(one) && was?.get(one.name)?.image !== one.image,
      );
      if (changed.length === 0) continue;
      const leaving = [...(was?.values() ?? [])].filter((one) => now?.has(one.name) !== true);
      const leavingByImage = groupedBy(leaving, ({ image }) => imageOf(image));
      const pastByImage = groupedBy(before.published.get(name) ?? [], ({ image = '' }) => imageOf(image));
      for (const bundle of changed.filter(({ image }) => image !== '')) {
        const image = imageOf(bundle.image);
        // A bundle under a new name is not another version: what becomes of its installations is for other rules.
        const past =
          leavingByImage.get(image)?.find(({ version }) => !isSameVersion(version, bundle.version)) ??
          pastByImage.get(image)?.find((one) => one.name !== bundle.name);
        if (past) reportPast(past, bundle, report);
      }
    }
  },
};

function keyOf({ name, image }: Bundle): string {
  return JSON.stringify([name, imageOf(image)]);
}

/** A version that has the image of one that the catalog no longer has. */
function reportPast(
  past: Pick<PublishedBundle, 'name' | 'version' | 'last'>,
  bundle: Bundle,
  report: Report,
): void {
  const version = shortName(past);
  const until = past.last === undefined ? '' : `, which was published until ${past.last}`;
  const message = `version ${shortName(bundle)} of package ${quoted(bundle.package)} has the image of ${version}${until}: ${quoted(bundle.image)}`;
  report(message, locate(bundle, 'image'), {
    package: bundle.package,
    installed: [version],
    hint: HINT,
  });
}

const HINT = 'write the image that was built for each version';

/** Bundles of a package with one image, two or more together. */
function repeatedIn({ packages }: Catalog, name: string): Bundle[][] {
  const bundles = [...(packages.get(name)?.bundles.values() ?? [])].filter(({ image }) => image !== '');
  return [...grouped(bundles, ({ image }) => imageOf(image))].flatMap((group) =>
    group.length > 1 ? [[...group]] : [],
  );
}

/** The digest, wherever the image is; a tag as it is written. */
function imageOf(image: string): string {
  const reference = tryParseReference(image);
  return reference?.kind === 'digest' ? reference.digest : image;
}

/** Reports bundles with one image, at the second: there it is repeated. */
function reportGroup(group: readonly Bundle[], report: Report): void {
  const second = group[1];
  if (!second) return;
  const versions = group.map(shortName);
  const message = `the versions ${listed(versions)} of package ${quoted(second.package)} have the same image ${quoted(second.image)}: clusters that upgrade from one to the other stay on what they have`;
  report(message, locate(second, 'image'), {
    package: second.package,
    installed: versions,
    hint: HINT,
  });
}
