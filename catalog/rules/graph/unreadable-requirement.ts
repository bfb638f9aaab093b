import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { isObject } from '../../go/shape.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { RequirementError } from '../../olm/resolve/requirement.ts';
import { lanesOf } from '../../olm/resolve/snapshot.ts';
import { type ReadRequirement, readRequirements, undecidedIn } from '../../olm/resolve/unreadable.ts';
import { tryParseRange } from '../../version/version.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * The resolver reads the requirements of every bundle that it considers, and gives up when one of them cannot be read.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (getBundleVariables)
 */
export const rule: Rule = {
  id: 'graph/unreadable-requirement',
  severity: 'error',
  summary: 'Reports requirements of bundles that OLM v0 cannot parse',
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const ofPackage of checkedPackages(world)) {
      const all = [...ofPackage.bundles.values()].flatMap((bundle) => unreadableIn(world, ofPackage, bundle));
      for (const group of grouped(all, (one) => JSON.stringify([one.text, one.kind, one.isOffered]))) {
        const last = group.at(-1);
        if (!last) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const subject = `package ${quoted(ofPackage.name)}: ${listed(versions)} ${versions.length === 1 ? 'has' : 'have'} a requirement that`;
        report(`${subject} ${effectOf(last)}`, locate(last.bundle, 'properties', last.at), {
          package: ofPackage.name,
          installed: [...new Set(group.map(({ bundle }) => shortName(bundle)))],
          ...(last.kind === 'unreadable' && !last.isOffered ? { severity: 'warning' } : {}),
          hint: hintFor(last),
        });
      }
    }
  },
};

interface Unreadable extends Pick<ReadRequirement, 'property' | 'at'>, Pick<RequirementError, 'kind'> {
  readonly bundle: Bundle;
  readonly text: string;
  /** Whether some channel offers the bundle: nothing skips it there. */
  readonly isOffered: boolean;
}

function unreadableIn({ foresight }: World, ofPackage: Package, bundle: Bundle): Unreadable[] {
  const { scope } = foresight;
  return readRequirements(scope, bundle.properties).flatMap(({ read, ...written }) => {
    // Only CEL rules can exceed the limit.
    const mayCost = scope.cel !== undefined && written.property.type === 'olm.constraint';
    const defect = read instanceof RequirementError ? read : mayCost ? undecidedIn(scope, read) : undefined;
    if (!defect) return [];
    const { kind, message: text } = defect;
    return [{ ...written, bundle, kind, text, isOffered: isOffered(ofPackage, bundle) }];
  });
}

function isOffered(ofPackage: Package, { name }: Bundle): boolean {
  return lanesOf(ofPackage).some(
    ({ candidates }) =>
      candidates.kind === 'ordered' && candidates.entries.some((entry) => entry.name === name),
  );
}

function effectOf({ property: { type }, kind, text, isOffered }: Unreadable): string {
  if (kind === 'undecided') return `was not checked (${type}): ${text}`;
  const where = isOffered
    ? 'namespaces where it considers the bundle'
    : 'namespaces where a subscription names the bundle as startingCSV';
  return `OLM v0 cannot parse (${type}): ${text}. It then resolves nothing in ${where}`;
}

function hintFor({ property, kind }: Unreadable): string {
  if (kind === 'undecided') return 'simplify the rule, or check it by hand';
  const { versionRange } = isObject(property.value) ? property.value : {};
  const range = typeof versionRange === 'string' ? readableRange(versionRange) : undefined;
  if (range !== undefined) return `write versionRange: ${JSON.stringify(range)}`;
  return 'correct the requirement: a range has three numbers for each version, such as >=1.0.0 <2.0.0';
}

/** The range that was most likely meant: without a `v`, with all three numbers. */
function readableRange(written: string): string | undefined {
  const range = written
    .replaceAll(',', ' ')
    .replaceAll(/\bv(?=[0-9])/g, '')
    .replaceAll(
      /(?<![\w.+-])([0-9]+)(\.[0-9]+)?(?![0-9.])/g,
      (_, major: string, minor = '.0') => `${major}${minor}.0`,
    );
  return tryParseRange(range) ? range : undefined;
}
