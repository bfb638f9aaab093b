import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import { isObject } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import type { RequiredCrd } from '../../olm/manifests.ts';
import { isMet } from '../../olm/resolve/provider.ts';
import { gvkText, offerOf, RequirementError } from '../../olm/resolve/requirement.ts';
import { lanesOf, offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { type ReadRequirement, readRequirements, undecidedIn } from '../../olm/resolve/unreadable.ts';
import { tryParseRange, withoutEmptyAlternatives } from '../../version/version.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/repeated-gvk',
    severity: 'error',
    summary:
      'Reports bundles that declare a kind that they provide more than once, which OLM v0 never installs',
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      for (const { name, bundles } of checkedPackages(world)) {
        const repeated = [...bundles.values()].flatMap(repeatedIn);
        for (const group of grouped(repeated, ({ gvk }) => gvk)) {
          const [first] = group;
          if (!first) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const [declare, them] =
            versions.length === 1 ? ['declares', 'the bundle'] : ['declare', 'these bundles'];
          const message = `${listed(versions)} of package ${quoted(name)} ${declare} ${gvkText(first.gvk)} twice: OLM v0 treats that as a conflict and never installs ${them}`;
          report(message, locate(first.bundle, 'properties', first.at), {
            package: name,
            installed: versions,
            hint: 'remove one of the two identical olm.gvk properties',
          });
        }
      }
    },
  },
  /**
   * OLM v0 resolves what properties require. What only the ClusterServiceVersion requires is never installed for it, and
   * the ClusterServiceVersion stays pending until the cluster has it.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/requirements.go
   */
  {
    id: 'graph/required-crd-missing',
    severity: 'warning',
    summary:
      'Reports CRDs that a ClusterServiceVersion requires, though no property says so and nothing in the catalog provides them',
    reads: ['catalogs', 'manifests'],
    checkWorld(world, report) {
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
  },
  {
    id: 'graph/unsatisfied-dependency',
    severity: 'error',
    summary: 'Reports dependencies of bundles that are not available under OLM v0',
    reads: ['catalogs'],
    checkWorld(world, report) {
      if (!world.olm.has('v0') || !world.isWhole) return;
      for (const { name, bundles } of checkedPackages(world)) {
        const unmet = [...bundles.values()].flatMap((bundle) => unmetBy(world, bundle));
        for (const group of grouped(unmet, ({ text }) => text)) {
          const last = group.at(-1);
          if (!last) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const where = world.hasCompanions
            ? 'no catalog on the clusters provides it, so OLM v0 cannot install the bundle and skips upgrades to it without an error'
            : 'this catalog does not provide it: without another catalog that does, OLM v0 cannot install the bundle and skips upgrades to it without an error';
          const message = `package ${quoted(name)}: ${listed(versions)} ${versions.length === 1 ? 'requires' : 'require'} an operator ${last.text}, and ${where}`;
          report(message, locate(last.bundle, 'properties', last.at), {
            package: name,
            subject: last.text,
            installed: [...new Set(group.map(({ bundle }) => shortName(bundle)))],
            severity: world.hasCompanions ? 'error' : 'warning',
            hint: world.hasCompanions
              ? 'publish the dependency first, or correct the range'
              : 'list the other catalogs on the clusters in the policy: graph.companions',
          });
        }
      }
    },
  },
  /**
   * The resolver reads the requirements of every bundle that it considers, and gives up when one of them cannot be read.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (getBundleVariables)
   */
  {
    id: 'graph/unreadable-requirement',
    severity: 'error',
    summary: 'Reports requirements of bundles that OLM v0 cannot parse',
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      for (const ofPackage of checkedPackages(world)) {
        const all = [...ofPackage.bundles.values()].flatMap((bundle) =>
          unreadableIn(world, ofPackage, bundle),
        );
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
  },
];

interface Repeated {
  readonly bundle: Bundle;
  readonly gvk: string;
  /** Position of the property that repeats the kind. */
  readonly at: number;
}

/** The properties with an API that an earlier property of the bundle has already. */
function repeatedIn(bundle: Bundle): Repeated[] {
  const { gvks } = offerOfBundle(bundle);
  if (new Set(gvks).size === gvks.length) return [];
  const seen = new Set<string>();
  return bundle.properties.flatMap((property, at) => {
    const [gvk] = offerOf([property], { package: '', version: undefined }).gvks;
    if (gvk === undefined) return [];
    if (seen.has(gvk)) return [{ bundle, gvk, at }];
    seen.add(gvk);
    return [];
  });
}

/** Groups whose CRDs are part of the platform. */
const OF_THE_PLATFORM = /(?:^|\.)(?:openshift\.io|k8s\.io|coreos\.com)$/;

/** Names of the CRDs that nothing known provides. Another rule reports what a property requires. */
function missingFor(world: World, bundle: Bundle): string[] {
  const required = world.manifests(bundle).csv?.requiredCrds ?? [];
  return required
    .filter(({ name }) => !OF_THE_PLATFORM.test(groupOf(name)))
    .filter(
      (crd) =>
        !isReportedOfProperty(bundle, crd) && !providedIn(world).has(keyOf(groupOf(crd.name), crd.kind)),
    )
    .map(({ name }) => name);
}

/** The part of a CRD's name after the plural name. */
function groupOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

function keyOf(group: string, kind: string): string {
  return JSON.stringify([group, kind]);
}

/** Whether a property requires the CRD as well: then another rule reports it if it is missing. */
function isReportedOfProperty({ properties }: Bundle, { name, kind }: RequiredCrd): boolean {
  return properties.some(({ type, value }) => {
    if (type !== 'olm.gvk.required') return false;
    // `Object` makes null a value without fields.
    const { group, kind: requiredKind } = Object(value) as Readonly<Record<string, unknown>>;
    return group === groupOf(name) && requiredKind === kind;
  });
}

/** The kinds that bundles of the catalog, or of others on the clusters, provide. */
const providedIn = onceFor((world: World): ReadonlySet<string> => {
  const bundles = [world.catalog, ...world.companions.values()].flatMap(({ blobs }) => blobs.bundles);
  return new Set(
    bundles.flatMap((bundle) =>
      offerOfBundle(bundle).gvks.map((gvk) => {
        const [group, , kind] = parseJson(gvk) as [string, string, string];
        return keyOf(group, kind);
      }),
    ),
  );
});

interface Unmet {
  readonly bundle: Bundle;
  /** Position of the property. */
  readonly at: number;
  readonly text: string;
}

/** The requirements of a bundle that no catalog meets. Another rule reports those that OLM cannot read. */
function unmetBy({ foresight: { scope } }: World, bundle: Bundle): Unmet[] {
  return readRequirements(scope, bundle.properties).flatMap(({ read, at }) =>
    read instanceof RequirementError || isMet(scope, read) ? [] : [{ bundle, at, text: read.text }],
  );
}

interface Unreadable extends Pick<ReadRequirement, 'property' | 'at'>, Pick<RequirementError, 'kind'> {
  readonly bundle: Bundle;
  readonly text: string;
  /** Whether some channel offers the bundle: nothing skips it there. */
  readonly isOffered: boolean;
}

/** The requirements of a bundle that OLM cannot read, or that cost too much to decide. */
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

/** Whether OLM v0 offers the bundle in some channel, as a part of an order that nothing skips. */
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

/** The range that was most likely meant: `>=1.2.0 <2.0.0` for `>=v1.2,<2`. Undefined if even that is not one. */
function readableRange(written: string): string | undefined {
  const range = withoutEmptyAlternatives(written)
    .replaceAll(',', ' ')
    .replaceAll(/\bv(?=[0-9])/g, '')
    .replaceAll(
      /(?<![\w.+-])([0-9]+)(\.[0-9]+)?(?![0-9.])/g,
      (_, major: string, minor = '.0') => `${major}${minor}.0`,
    );
  return tryParseRange(range) ? range : undefined;
}
