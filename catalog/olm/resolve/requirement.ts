/**
 * What a bundle asks of others under OLM v0, and what bundles offer: the properties that
 * the resolver reads, as it reads them.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (convertDependencyProperties)
 * @see https://github.com/operator-framework/api/blob/master/pkg/constraints/constraint.go
 */

import { type Cel, CelError } from '../../fbc/cel/cel.ts';
import type { Property } from '../../fbc/model.ts';
import { PROPERTY_SHAPES } from '../../fbc/property.ts';
import { onceFor } from '../../go/once.ts';
import { fitStruct, isObject, nameLike, type StructShape, structShape, text } from '../../go/shape.ts';
import { StepsError } from '../../go/steps.ts';
import { parseJson } from '../../json.ts';
import { satisfies } from '../../version/satisfies.ts';
import { crashIn, parseRange, tryParseVersion, type Version, VersionError } from '../../version/version.ts';

/** The APIs and packages that a bundle provides. */
export interface Offer {
  /** Names of the packages that the bundle is one of: one, in a sound catalog. */
  readonly packages: readonly string[];
  readonly versions: readonly Version[];
  /** Keys of the kinds of objects that the bundle serves, repeated where they are written twice; see `gvkKey`. */
  readonly gvks: readonly string[];
  readonly labels: readonly string[];
  readonly properties: readonly Property[];
}

export interface Requirement {
  /** A key, one of `keysOf` the offer, that every offer meeting it has; undefined if offers with different keys may. */
  readonly key: string | undefined;
  /** Packages of which every offer that meets it has one; empty if others may. */
  readonly packages: readonly string[];
  /** In the resolver's words, such as `with package: bar and with version in range: >=1.0.0`. */
  readonly text: string;
  /** Whether an offer meets it; not where that is undecided, which `graph/unreadable-requirement` reports. */
  readonly holds: (offer: Offer) => boolean;
  /** The same. @throws RequirementError `undecided` */
  readonly decide: (offer: Offer) => boolean;
}

/** Makes a requirement. A bundle for which it cannot be decided does not meet it. */
function requirement(
  text: string,
  decide: Requirement['decide'],
  { key, packages = [] }: Partial<Pick<Requirement, 'key' | 'packages'>> = {},
): Requirement {
  const holds = (offer: Offer): boolean => {
    try {
      return decide(offer);
    } catch (error) {
      if (error instanceof RequirementError) return false;
      throw error;
    }
  };
  return { key, packages, text, holds, decide };
}

/** The package of a requirement that names one. */
function packageIn({ key }: Requirement): string | undefined {
  return key?.startsWith(PACKAGE) ? key.slice(PACKAGE.length) : undefined;
}

const PACKAGE = 'package ';

/** Keys of an offer for requirements. */
export function keysOf({ packages, gvks, labels }: Offer): string[] {
  return [
    ...packages.map((name) => `${PACKAGE}${name}`),
    ...gvks.map((gvk) => `gvk ${gvk}`),
    ...labels.map((label) => `label ${label}`),
  ];
}

const setOf = onceFor((list: readonly string[]): ReadonlySet<string> => new Set(list));

/** Whether a list has a value: one bundle may list thousands, and thousands of requirements ask for them. */
function has(list: readonly string[], value: string): boolean {
  return list.length < 10 ? list.includes(value) : setOf(list).has(value);
}

/** Why a bundle's requirements cannot be read, or must not be: OLM then resolves nothing in the namespace. */
export class RequirementError extends Error {
  /** `undecided`: OLM may be able to read it, but it asks for more than is evaluated here. */
  readonly kind: 'unreadable' | 'undecided';

  constructor(message: string, kind: 'unreadable' | 'undecided' = 'unreadable') {
    super(message);
    this.name = 'RequirementError';
    this.kind = kind;
  }
}

const GVK = structShape('struct', { group: text, version: text, kind: text });
const PACKAGE_REQUIRED = structShape('struct', { packageName: text, versionRange: text });
const LABEL = structShape('struct', { label: text });

function gvkKey(group: string, version: string, kind: string): string {
  return JSON.stringify([group, version, kind]);
}

/** `Kind (group/version)`, from a key. */
export function gvkText(key: string): string {
  const [group, version, kind] = parseJson(key) as [string, string, string];
  return `${kind} (${group}/${version})`;
}

/**
 * The offer in a bundle's properties. Unreadable properties offer nothing.
 *
 * @param known what is known without them; an empty package is none
 */
export function offerOf(
  properties: readonly Property[],
  known: { readonly package: string; readonly version: Version | undefined },
): Offer {
  const fields = (type: string, shape: StructShape | undefined): Readonly<Record<string, string>>[] =>
    properties.filter((property) => property.type === type).flatMap(({ value }) => readable(value, shape));
  const packages = fields('olm.package', PROPERTY_SHAPES.get('olm.package'));
  const versions = packages.map(({ version = '' }) => tryParseVersion(version));
  const gvks = fields('olm.gvk', GVK);
  const knownPackages = known.package === '' ? [] : [known.package];
  return {
    packages: packages.length > 0 ? packages.map(({ packageName = '' }) => packageName) : knownPackages,
    versions: [...versions, known.version].filter((version) => version !== undefined),
    gvks: gvks.map(({ group = '', version = '', kind = '' }) => gvkKey(group, version, kind)),
    labels: fields('olm.label', LABEL).map(({ label = '' }) => label),
    properties,
  };
}

/** The fields of a property as Go decodes them; empty if Go cannot decode it. */
function readable(value: unknown, shape: StructShape | undefined): Readonly<Record<string, string>>[] {
  if (!shape) return [];
  const { value: fitted, misfits } = fitStruct(value ?? {}, shape);
  return misfits.length === 0 ? [fitted as Readonly<Record<string, string>>] : [];
}

/** The types of properties that ask for other bundles. */
export const REQUIRING: ReadonlySet<string> = new Set([
  'olm.gvk.required',
  'olm.package.required',
  'olm.label.required',
  'olm.constraint',
]);

/**
 * The requirements of a bundle, in the order of its properties.
 *
 * @throws RequirementError
 */
export function requirementsOf(properties: readonly Property[], cel: Cel | undefined): Requirement[] {
  return properties.filter(({ type }) => REQUIRING.has(type)).map((property) => requirementOf(property, cel));
}

/** The requirement that a bundle's property or constraint states. @throws RequirementError if OLM cannot read it */
export function requirementOf({ type, value }: Property, cel: Cel | undefined): Requirement {
  switch (type) {
    case 'olm.gvk.required':
      return gvkRequired(decode(value, GVK));
    case 'olm.package.required':
      return packageRequired(decode(value, PACKAGE_REQUIRED));
    case 'olm.label.required':
      return labelRequired(decode(value, LABEL));
    default:
      return constraintRequired(value, cel);
  }
}

/**
 * The fields of a property as Go decodes them.
 *
 * @throws RequirementError in Go's words
 */
function decode(value: unknown, shape: StructShape): Readonly<Record<string, string>> {
  const { value: fitted, misfits } = fitStruct(value ?? {}, shape);
  const [misfit] = misfits;
  if (misfit) throw new RequirementError(misfit.go);
  return fitted as Readonly<Record<string, string>>;
}

function gvkRequired({ group = '', version = '', kind = '' }: Readonly<Record<string, string>>): Requirement {
  const key = gvkKey(group, version, kind);
  const text = `providing an API with group: ${group}, version: ${version}, kind: ${kind}`;
  return requirement(text, ({ gvks }) => has(gvks, key), { key: `gvk ${key}` });
}

/** The requirement of a package in a range of versions. @throws RequirementError for a range that OLM cannot read */
function packageRequired(fields: Readonly<Record<string, string>>): Requirement {
  const { packageName = '', versionRange = '' } = fields;
  try {
    const range = parseRange(versionRange);
    const crash = crashIn(range);
    if (crash !== undefined) throw new RequirementError(crash);
    const text = `with package: ${packageName} and with version in range: ${versionRange}`;
    return requirement(
      text,
      ({ packages, versions }) =>
        has(packages, packageName) && versions.some((version) => satisfies(version, range)),
      { key: `${PACKAGE}${packageName}`, packages: [packageName] },
    );
  } catch (error) {
    if (error instanceof VersionError) throw new RequirementError(error.message);
    throw error;
  }
}

function labelRequired({ label = '' }: Readonly<Record<string, string>>): Requirement {
  return requirement(`with label: ${label}`, ({ labels }) => has(labels, label), { key: `label ${label}` });
}

/** Largest olm.constraint that OLM reads, in bytes of JSON. */
const MAX_CONSTRAINT = 131072;

/**
 * The requirement of an `olm.constraint`.
 *
 * @throws RequirementError for one that is too long, or cannot be read
 */
function constraintRequired(value: unknown, cel: Cel | undefined): Requirement {
  if (new TextEncoder().encode(JSON.stringify(value ?? null)).length > MAX_CONSTRAINT) {
    throw new RequirementError(
      `parse olm.constraint: olm.constraint value is greater than max constraint size ${MAX_CONSTRAINT} bytes`,
    );
  }
  return constraint(value, cel);
}

const CONSTRAINT_FIELDS = ['failureMessage', 'cel', 'package', 'gvk', 'all', 'any', 'not'] as const;

/** The requirement in an `olm.constraint`. @throws RequirementError if OLM cannot read it */
function constraint(value: unknown, cel: Cel | undefined): Requirement {
  const fields = strictFields(value, CONSTRAINT_FIELDS);
  // The first of these that is there counts, as in the resolver.
  if (fields['gvk'] !== undefined) return gvkRequired(texts(fields['gvk'], ['group', 'kind', 'version']));
  if (fields['package'] !== undefined) {
    return packageRequired(texts(fields['package'], ['packageName', 'versionRange']));
  }
  for (const [name, combine] of COMPOUND) {
    if (fields[name] !== undefined) return combine(members(fields[name], cel));
  }
  if (fields['cel'] !== undefined) {
    const { rule = '' } = texts(fields['cel'], ['rule']);
    const { failureMessage = '' } = texts({ failureMessage: fields['failureMessage'] ?? '' }, [
      'failureMessage',
    ]);
    return celRequired({ rule, failureMessage }, cel);
  }
  throw new RequirementError('convert olm.constraint to resolver predicate: constraint is empty');
}

const COMPOUND: readonly (readonly [string, (parts: readonly Requirement[]) => Requirement])[] = [
  [
    'all',
    (parts) =>
      requirement(joinedText(parts, 'and'), (offer) => parts.every((part) => part.decide(offer)), {
        key: allKey(parts),
        packages: parts.find(({ packages }) => packages.length > 0)?.packages ?? [],
      }),
  ],
  [
    'any',
    (parts) =>
      requirement(joinedText(parts, 'or'), (offer) => parts.some((part) => part.decide(offer)), {
        packages: parts.every(({ packages }) => packages.length > 0)
          ? parts.flatMap(({ packages }) => packages)
          : [],
      }),
  ],
  [
    'not',
    (parts) =>
      requirement(`not (${joinedText(parts, 'or')})`, (offer) => !parts.some((part) => part.decide(offer))),
  ],
];

/** The key of what meets all parts: the package that one of them names, if any does, because `isHere` asks for that. */
function allKey(parts: readonly Requirement[]): string | undefined {
  const ofPackage = parts.find((part) => packageIn(part) !== undefined);
  return (ofPackage ?? parts.find(({ key }) => key !== undefined))?.key;
}

function joinedText(parts: readonly Requirement[], word: 'and' | 'or'): string {
  return parts.map(({ text }) => text).join(` ${word} `);
}

/**
 * The constraints in a compound one.
 *
 * @throws RequirementError
 */
function members(value: unknown, cel: Cel | undefined): Requirement[] {
  const { constraints } = strictFields(value, ['constraints']);
  if (constraints === undefined) return [];
  if (!Array.isArray(constraints))
    throw new RequirementError('parse olm.constraint: constraints must be a list');
  return constraints.map((member) => constraint(member, cel));
}

/** The requirement that a CEL rule states. @throws RequirementError, `undecided` if the rule cannot be evaluated here */
function celRequired(
  { rule, failureMessage }: { readonly rule: string; readonly failureMessage: string },
  cel: Cel | undefined,
): Requirement {
  if (!cel) throw new RequirementError('CEL rules are not evaluated here', 'undecided');
  const words = `with constraint: ${JSON.stringify(rule)} and message: ${JSON.stringify(failureMessage)}`;
  try {
    const holds = cel.compile(rule);
    if (!holds)
      throw new RequirementError(
        `the rule is too expensive, or uses what is not evaluated here: ${rule}`,
        'undecided',
      );
    return requirement(words, ({ properties }) => evaluateWithinBudget(rule, () => holds(properties)));
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw new RequirementError(`convert olm.constraint to resolver predicate: ${error.message}`);
  }
}

/** Evaluates a rule within the budget. @throws RequirementError `undecided` for a rule that costs too much */
function evaluateWithinBudget(rule: string, holds: () => boolean): boolean {
  try {
    return holds();
  } catch (error) {
    if (!(error instanceof StepsError)) throw error;
    throw new RequirementError(`${error.message}: ${rule}`, 'undecided');
  }
}

/** Members of an object whatever the case of their keys; null ones left out, unknown ones refused. */
function strictFields(value: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {};
  if (!isObject(value)) throw new RequirementError('parse olm.constraint: expected an object');
  const fields: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const name = nameLike(names, key);
    if (name === undefined) {
      throw new RequirementError(`parse olm.constraint: json: unknown field ${JSON.stringify(key)}`);
    }
    if (member !== null) fields.push([name, member]);
  }
  return Object.fromEntries(fields);
}

/**
 * The fields of a constraint, which must all be text.
 *
 * @throws RequirementError
 */
function texts(value: unknown, names: readonly string[]): Readonly<Record<string, string>> {
  const fields = strictFields(value, names);
  for (const [name, field] of Object.entries(fields)) {
    if (typeof field !== 'string') throw new RequirementError(`parse olm.constraint: ${name} must be text`);
  }
  return fields as Readonly<Record<string, string>>;
}
