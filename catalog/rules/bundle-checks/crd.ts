/**
 * What the Kubernetes API server demands of CRDs, but for their
 * schemas, and how they belong to the ClusterServiceVersion.
 *
 * @see https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.0/pkg/apis/apiextensions/validation/validation.go
 */
import {
  crdShape,
  type Fields,
  type Inspected,
  type InspectedCrd,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
} from '../../bundle/inspect.ts';
import type { BundleObject } from '../../bundle/registry-bundle.ts';
import { repeatedPlaces } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { fitStruct, type Misfit, type Path } from '../../go/shape.ts';
import { jsonText } from '../../json.ts';
import { isDnsSubdomain } from '../../names.ts';
import type { Report } from '../rule.ts';
import { csvCheck, isBelowMiscased, ownedApis } from './csv.ts';

/** A CRD with Kubernetes' defaults in the places of what was left out. */
export interface DefaultedCrd {
  readonly object: BundleObject;
  readonly spec: Fields;
  /** Whether it is of v1beta1, else of v1. */
  readonly isBeta: boolean;
  /** Those of `spec.versions`; without any in v1beta1, the one that `spec.version` names, served and stored. */
  readonly versions: readonly Fields[];
  /** `spec.names`; empty if it is missing. */
  readonly names: Fields;
  /** Reports at a path; the message follows the name of the field. */
  readonly say: (path: Path, message: string, hint?: string) => void;
}

export type Check = (bundle: Inspected, report: Report) => void;

/** Makes a check out of one that looks at one CRD. */
export function eachCrd(check: (crd: DefaultedCrd) => void): Check {
  return ({ crds }, report) => {
    for (const object of crds) {
      const spec = memberObject(object.value, 'spec');
      const isBeta = object.version === 'v1beta1';
      // Another rule reports CRDs of other versions.
      if (!isBeta && object.version !== 'v1') continue;
      const listed = memberObjects(spec, 'versions');
      const single = memberText(spec, 'version');
      const versions =
        isBeta && listed.length === 0 && single !== ''
          ? [{ name: single, served: true, storage: true }]
          : listed;
      const say: DefaultedCrd['say'] = (path, message, hint) => {
        const field = path
          .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
          .join('')
          .slice(1);
        report(
          `CRD ${JSON.stringify(object.name)}: ${field} ${message}`,
          object.document.locate(path),
          hint === undefined ? {} : { hint },
        );
      };
      check({ object, spec, isBeta, versions, names: memberObject(spec, 'names'), say });
    }
  };
}

export const checkCrdType: Check = ({ crds }, report) => {
  for (const crd of crds) {
    const { name, document } = crd;
    for (const misfit of misfitsOf(crd)) {
      const { path, expected, found } = misfit;
      // Another rule reports these, because operator-sdk accepts them.
      if (isUnquotedInSchema(misfit)) continue;
      const message = `CRD ${JSON.stringify(name)}: ${path.join('.')} must be ${expected}, found ${found}`;
      report(message, document.locate(path));
    }
  }
};

/** Where a CRD of a known version does not fit its type; two rules ask. */
const misfitsOf = onceFor((crd: InspectedCrd): readonly Misfit[] => {
  const { written, version } = crd;
  return version === 'v1' || version === 'v1beta1' ? fitStruct(written, crdShape(crd)).misfits : [];
});

/** Whether a number or a boolean stands in the place of text of a schema, and operator-sdk makes text of it. */
function isUnquotedInSchema({ path, expected, found }: Misfit): boolean {
  return expected === 'a string' && (found === 'number' || found === 'bool') && isReadAsText(path);
}

/** Keywords of schemas whose values are read by code of their own, which makes no text of numbers. */
const OWN_READERS = /^(?:items|additionalItems|additionalProperties|dependencies|default|enum|example)$/;

/** Keywords of schemas that hold schemas by name or in a list. */
const HOLDERS = /^(?:properties|patternProperties|allOf|oneOf|anyOf)$/;

/** Whether Go reads what a path of a schema leads to as text; names of members, behind a holder, do not count as keywords. */
function isReadAsText(path: Path): boolean {
  const root = path.indexOf('openAPIV3Schema');
  if (root < 0) return false;
  for (let i = root + 1; i < path.length; i += HOLDERS.test(String(path[i])) ? 2 : 1)
    if (OWN_READERS.test(String(path[i]))) return false;
  return true;
}

export const checkCrdUnquoted: Check = ({ crds }, report) => {
  for (const crd of crds) {
    const { name, document } = crd;
    const inSchemas = misfitsOf(crd).filter(isUnquotedInSchema);
    for (const path of [...crd.unquoted, ...inSchemas.map((misfit) => misfit.path)]) {
      // opm does not look at a field that is spelled otherwise.
      if (isBelowMiscased(crd, path)) continue;
      const message = `CRD ${JSON.stringify(name)}: ${path.join('.')} is not a string: operator-sdk accepts it, but opm and OLM reject the bundle`;
      const key = path.at(-1);
      report(message, document.locate(path), { hint: typeof key === 'number' ? '- "…"' : `${key}: "…"` });
    }
  }
};

/** Fields that opm looks up only as Kubernetes spells them: without them, it does not find the CRD. */
const SOUGHT =
  /^(?:apiVersion|metadata(?:\.name)?|spec(?:\.(?:names(?:\.kind)?|versions(?:\.\d+\.name)?))?)$/i;
/** Those that only `opm render` looks up. */
const RENDERED = /^spec\.(?:group|names\.plural)$/i;

/** A key of a CRD that is spelled otherwise than Kubernetes does. */
interface MiscasedKey {
  readonly crd: InspectedCrd;
  readonly path: Path;
  readonly field: string;
  /** Whether the bundle owns the CRD, and the version if it is the name of one. */
  readonly isOwned: boolean;
  /** Whether the field is there, too. */
  readonly isSpelled: boolean;
}

/** Keys of CRDs that are spelled in another case than their fields, with what must be known of each. */
function miscasedKeys({ crds, csv }: Inspected): MiscasedKey[] {
  const listed = csv ? memberObjects(csv.spec, 'customresourcedefinitions', 'owned') : [];
  const owned = new Set(listed.map((one) => memberText(one, 'name')));
  const ownedVersions = new Set(
    listed.map((one) => JSON.stringify([memberText(one, 'name'), memberText(one, 'version')])),
  );
  return crds.flatMap((crd) =>
    crd.miscased.map(({ path, field }): MiscasedKey => {
      // `Object` takes what is not an object for one without keys.
      const parent = Object(path.slice(0, -1).reduce<unknown>((at, step) => Object(at)[step], crd.written));
      const isVersion = path[1] === 'versions' && path.length > 2;
      const version = parent[String(path.at(-1))];
      const isOwned = isVersion ? ownedVersions.has(jsonText([crd.name, version])) : owned.has(crd.name);
      return { crd, path, field, isOwned, isSpelled: field in parent };
    }),
  );
}

/** Whether opm render does not find an owned CRD because of this key. */
function isUnrendered({ path, isOwned, isSpelled }: MiscasedKey): boolean {
  return RENDERED.test(path.join('.')) && isOwned && !isSpelled;
}

/** OLM v0 reads keys of CRDs in any case, and writes them to the cluster as Kubernetes spells them. */
export const checkCrdFieldCase: Check = (bundle, report) => {
  for (const key of miscasedKeys(bundle)) {
    if (isUnrendered(key)) continue;
    const { crd, path, field, isOwned, isSpelled } = key;
    // The name of a version, `spec.versions.0.name`, matters only if the bundle owns that version.
    const isOfVersion = path.some((step) => typeof step === 'number');
    const isNeeded = SOUGHT.test(path.join('.')) && (isOwned || !isOfVersion) && !isSpelled;
    const message = `CRD ${JSON.stringify(crd.name)}: ${path.join('.')} must be spelled ${field}: OLM v0 reads it in any case, but OLM v1 and kubectl do not`;
    report(message, crd.document.locate(path), {
      hint: `${field}: …`,
      ...(isNeeded ? {} : { severity: 'warning' }),
    });
  }
};

export const checkOwnedCase: Check = (bundle, report) => {
  for (const key of miscasedKeys(bundle)) {
    if (!isUnrendered(key)) continue;
    const { crd, path, field } = key;
    const message = `CRD ${JSON.stringify(crd.name)}: ${path.join('.')} must be spelled ${field}: opm render does not find the CRD otherwise`;
    report(message, crd.document.locate(path), { hint: `${field}: …` });
  }
};

export const checkCrdApiVersion: Check = ({ objects }, report) => {
  for (const { kind, group, version, name, document } of objects) {
    if (kind !== 'CustomResourceDefinition') continue;
    if (group === 'apiextensions.k8s.io' && (version === 'v1' || version === 'v1beta1')) continue;
    const message = `CRD ${JSON.stringify(name)}: unknown apiVersion`;
    report(message, document.locate(['apiVersion']), { hint: 'apiVersion: apiextensions.k8s.io/v1' });
  }
};

export const checkCrdName: Check = eachCrd(({ object, spec, names, say }) => {
  const expected = `${memberText(names, 'plural')}.${memberText(spec, 'group')}`;
  if (object.name !== expected)
    say(['metadata', 'name'], `must be <plural>.<group>, ${JSON.stringify(expected)}`);
  else if (!isDnsSubdomain(object.name)) say(['metadata', 'name'], 'must be a lower-case DNS name');
  if (memberText(memberObject(object.value, 'metadata'), 'generateName') !== '')
    say(['metadata', 'generateName'], 'must not be set: a CRD needs a fixed name');
});

export const checkCrdGroup: Check = eachCrd(({ spec, say }) => {
  const group = memberText(spec, 'group');
  if (group === '') say(['spec', 'group'], 'is missing');
  else if (!isDnsSubdomain(group))
    say(['spec', 'group'], `${JSON.stringify(group)} must be a lower-case DNS name`);
  else if (!group.includes('.'))
    say(['spec', 'group'], `${JSON.stringify(group)} must be a domain with at least one dot`);
});

export const checkCrdScope: Check = eachCrd(({ spec, isBeta, say }) => {
  const scope = memberText(spec, 'scope');
  // The default of v1beta1 is Namespaced.
  if (scope === 'Namespaced' || scope === 'Cluster' || (isBeta && scope === '')) return;
  say(['spec', 'scope'], `must be Namespaced or Cluster, found ${JSON.stringify(scope)}`);
});

export const checkStorageVersion: Check = eachCrd(({ versions, say }) => {
  const stored = versions.filter((version) => version['storage'] === true).length;
  if (stored !== 1)
    say(['spec', 'versions'], `must have exactly one version with storage: true, found ${stored}`);
});

/** Names of RFC 1035. */
export const DNS_LABEL: RegExp = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
export const LABEL_TEXT = 'must be lower-case letters, digits and -, starting with a letter';

export const checkVersionNames: Check = eachCrd(({ spec, isBeta, versions, say }) => {
  const single = memberText(spec, 'version');
  if (isBeta && single !== '' && !DNS_LABEL.test(single))
    say(['spec', 'version'], `${JSON.stringify(single)} ${LABEL_TEXT}`);
  const names = versions.map((version) => memberText(version, 'name'));
  const repeated = repeatedPlaces(names);
  for (const [i, name] of names.entries()) {
    if (!DNS_LABEL.test(name)) say(['spec', 'versions', i, 'name'], `${JSON.stringify(name)} ${LABEL_TEXT}`);
    if (repeated.has(i)) say(['spec', 'versions', i, 'name'], `${JSON.stringify(name)} is a duplicate`);
  }
});

export const checkNames: Check = eachCrd(({ names, say }) => {
  const kind = memberText(names, 'kind');
  const listKind = memberText(names, 'listKind') || `${kind}List`;
  const plural = memberText(names, 'plural');
  const singular = memberText(names, 'singular') || kind.toLowerCase();
  const at = (field: string): Path => ['spec', 'names', field];
  if (plural === '') say(at('plural'), 'is missing');
  else if (!DNS_LABEL.test(plural)) say(at('plural'), `${JSON.stringify(plural)} ${LABEL_TEXT}`);
  if (singular !== '' && !DNS_LABEL.test(singular))
    say(at('singular'), `${JSON.stringify(singular)} ${LABEL_TEXT}`);
  if (kind === '') say(at('kind'), 'is missing');
  for (const [field, name] of [
    ['kind', kind],
    ['listKind', listKind],
  ] as const) {
    if (name !== '' && !DNS_LABEL.test(name.toLowerCase()))
      say(at(field), `${JSON.stringify(name)} must be letters, digits and -`);
  }
  if (kind !== '' && kind === listKind) say(at('listKind'), 'must differ from kind');
  for (const field of ['shortNames', 'categories']) {
    for (const [i, name] of memberTexts(names, field).entries()) {
      if (!DNS_LABEL.test(name)) say([...at(field), i], `${JSON.stringify(name)} ${LABEL_TEXT}`);
    }
  }
});

export const checkPreserveUnknown: Check = eachCrd(({ spec, isBeta, say }) => {
  const preserves = spec['preserveUnknownFields'] ?? isBeta;
  if (preserves !== true) return;
  const how =
    spec['preserveUnknownFields'] === true
      ? 'must not be true'
      : 'must be false: the default in v1beta1 is true';
  say(
    ['spec', 'preserveUnknownFields'],
    how,
    'preserveUnknownFields: false, and x-kubernetes-preserve-unknown-fields: true in the schema where it is needed',
  );
});

export const checkDeprecationWarning: Check = eachCrd(({ versions, say }) => {
  for (const [i, version] of versions.entries()) {
    const warning = version['deprecationWarning'];
    if (typeof warning !== 'string') continue;
    const at: Path = ['spec', 'versions', i, 'deprecationWarning'];
    const { length } = new TextEncoder().encode(warning);
    if (version['deprecated'] !== true) say(at, 'can only be set on a version with deprecated: true');
    else if (length === 0 || length > 256) say(at, `must have 1 to 256 bytes, found ${length}`);
    else if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(warning)) say(at, 'must be printable');
  }
});

export const checkSingleVersion: Check = eachCrd(({ spec, isBeta, versions, say }) => {
  const single = memberText(spec, 'version');
  const first = memberText(versions[0] ?? {}, 'name');
  if (isBeta && single !== '' && single !== first)
    say(['spec', 'version'], `must be the first of spec.versions, ${JSON.stringify(first)}`);
  if (isBeta && versions.length === 0) say(['spec', 'versions'], 'is missing');
});

const APPROVAL = 'api-approved.kubernetes.io';

export const checkProtectedGroup: Check = eachCrd(({ object, spec, say }) => {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(memberText(spec, 'group'))) return;
  const approval = memberText(memberObject(object.value, 'metadata', 'annotations'), APPROVAL);
  // Kubernetes accepts a link, or text that begins with unapproved.
  if (/^https?:\/\/[^/]+|^unapproved/.test(approval)) return;
  say(
    ['metadata', 'annotations', APPROVAL],
    'must link to the approval: the group belongs to Kubernetes',
    `${APPROVAL}: https://github.com/kubernetes/enhancements/pull/…`,
  );
});

/** `group/version, Kind=kind` of every version of a CRD, with the CRD. */
function definedApis({ crds }: Inspected): [string, BundleObject][] {
  return crds.flatMap((object) => {
    const spec = memberObject(object.value, 'spec');
    const listed = memberObjects(spec, 'versions').map((version) => memberText(version, 'name'));
    const versions =
      listed.length === 0 && object.version === 'v1beta1' ? [memberText(spec, 'version')] : listed;
    const kind = memberText(memberObject(spec, 'names'), 'kind');
    return versions.map((version): [string, BundleObject] => [
      `${memberText(spec, 'group')}/${version}, Kind=${kind}`,
      object,
    ]);
  });
}

/**
 * Reports CRDs that stand twice, by name or by API. Names are those of all documents, which OLM v1 applies; APIs only those
 * of each file's first document, as opm reads no other.
 */
export const checkCrdOnce: Check = (bundle, report) => {
  const apis = new Set<string>();
  const names = new Set<string>();
  for (const { name, document } of bundle.allObjects.filter(
    ({ kind }) => kind === 'CustomResourceDefinition',
  )) {
    if (names.has(name))
      report(`the bundle has the CRD ${JSON.stringify(name)} twice`, document.locate(['metadata', 'name']));
    names.add(name);
  }
  for (const [api, { document }] of definedApis(bundle)) {
    if (apis.has(api)) report(`the bundle defines ${api} twice`, document.locate(['spec', 'versions']));
    apis.add(api);
  }
};

function isName(path: Path): boolean {
  return path.join('.') === 'metadata.name';
}

export const checkOwnedPresent: Check = csvCheck((csv, report, bundle) => {
  const apis = definedApis(bundle);
  const served = new Set(apis.map(([api]) => api));
  // A name that is not text is another rule's.
  const unnamed = new Set(
    bundle.crds.filter(({ unquoted }) => unquoted.some(isName)).map(({ document }) => document),
  );
  const apisWithoutName = new Set(
    apis.flatMap(([api, { document }]) => (unnamed.has(document) ? [api] : [])),
  );
  const names = new Set(bundle.crds.map(({ name }) => name));
  const seen = new Set<string>();
  for (const [i, crd] of memberObjects(csv.spec, 'customresourcedefinitions', 'owned').entries()) {
    const name = memberText(crd, 'name');
    const dot = name.indexOf('.');
    const api = `${dot < 0 ? name : name.slice(dot + 1)}/${memberText(crd, 'version')}, Kind=${memberText(crd, 'kind')}`;
    // That only the name differs is another rule's.
    if (served.has(api) && !names.has(name) && !apisWithoutName.has(api)) continue;
    if (served.has(api)) {
      if (seen.has(api)) {
        const message = `ClusterServiceVersion ${JSON.stringify(csv.name)} lists ${api} as owned twice: tools treat the second as another CRD, which the bundle lacks`;
        report(message, csv.at('spec', 'customresourcedefinitions', 'owned', i), {
          hint: 'remove one of the two',
        });
      }
      seen.add(api);
      continue;
    }
    const message = `ClusterServiceVersion ${JSON.stringify(csv.name)} owns ${api} (${name}), which the bundle does not define`;
    report(message, csv.at('spec', 'customresourcedefinitions', 'owned', i), {
      hint: 'add the CRD to manifests/',
    });
  }
});

/** opm compares the name of an owned CRD, and the group that it may carry, with the CRD. */
export const checkOwnedGroup: Check = csvCheck((csv, report, bundle) => {
  const named = new Map(definedApis(bundle).map(([api, { name }]) => [api, name]));
  const names = new Set(bundle.crds.map(({ name }) => name));
  const owned = memberObjects(csv.spec, 'customresourcedefinitions', 'owned').map((crd) =>
    memberText(crd, 'name'),
  );
  for (const [api, path] of ownedApis(csv)) {
    // API services are among the owned APIs, and have no CRD.
    const name = named.get(api);
    // The path ends with the position in the list of owned CRDs.
    const own = owned[Number(path.at(-1))];
    if (path[1] !== 'customresourcedefinitions' || name === undefined || own === undefined || names.has(own))
      continue;
    const message = `ClusterServiceVersion ${JSON.stringify(csv.name)} owns a CRD ${JSON.stringify(own)}, but it is named ${JSON.stringify(name)}: opm does not find it`;
    report(message, csv.at(...path, 'name'), { hint: `name: ${name}` });
  }
  // As written: the type of a ClusterServiceVersion does not have the field.
  for (const [i, crd] of memberObjects(
    csv.object.value,
    'spec',
    'customresourcedefinitions',
    'owned',
  ).entries()) {
    if (crd['group'] === undefined) continue;
    const path = ['spec', 'customresourcedefinitions', 'owned', i, 'group'];
    const message = `ClusterServiceVersion ${JSON.stringify(csv.name)}: an owned CRD must not have the field group, otherwise opm does not find it`;
    report(message, csv.at(...path), { hint: 'remove the field: the name contains the group' });
  }
});

export const checkNotOwned: Check = csvCheck((csv, report, bundle) => {
  const owned = new Set(ownedApis(csv).keys());
  // Owning one version of a kind is enough.
  const kinds = new Set(
    definedApis(bundle)
      .filter(([api]) => owned.has(api))
      .map(([api]) => kindKey(api)),
  );
  for (const [api, { document }] of new Map(definedApis(bundle))) {
    if (owned.has(api) || kinds.has(kindKey(api))) continue;
    const message = `the bundle defines ${api}, which ClusterServiceVersion ${JSON.stringify(csv.name)} does not own`;
    report(message, document.locate(['metadata', 'name']), {
      hint: 'add it to spec.customresourcedefinitions.owned',
    });
  }
});

/** Group and kind without the version: `a.com Kind=B` of `a.com/v1, Kind=B`. */
function kindKey(api: string): string {
  return api.replace(/\/[^/,]*, /, ' ');
}
