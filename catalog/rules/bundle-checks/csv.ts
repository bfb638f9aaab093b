/** OLM's requirements for a ClusterServiceVersion. */
import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import { kindOf } from '../../bundle/manifest.ts';
import { foldedMember } from '../../bundle/registry-bundle.ts';
import { repeatedPlaces } from '../../go/grouped.ts';
import { readJson } from '../../go/json.ts';
import { onceFor } from '../../go/once.ts';
import { foldCase, isObject, type Path } from '../../go/shape.ts';
import { isDnsSubdomain } from '../../names.ts';
import { InvalidReference, parseReference, tryParseReference } from '../../reference.ts';
import { tryParseVersion } from '../../version/version.ts';
import type { Report } from '../rule.ts';

type Check = (bundle: Inspected, report: Report) => void;

/** Makes a check that only runs where there is a ClusterServiceVersion. */
export function csvCheck(check: (csv: TypedCsv, report: Report, bundle: Inspected) => void): Check {
  return (bundle, report) => {
    if (bundle.csv) check(bundle.csv, report, bundle);
  };
}

/** Names a ClusterServiceVersion as messages do. */
export function csvText({ name }: TypedCsv): string {
  return `ClusterServiceVersion ${JSON.stringify(name)}`;
}

/** Makes a check of the types of fields. @param fits which fields, by the path to each */
function typeCheck(fits: (csv: TypedCsv, path: Path) => boolean): Check {
  return csvCheck((first, report, { laterCsvs }) => {
    // opm reads all of them.
    for (const csv of [first, ...laterCsvs])
      for (const { path, found, expected, text: written } of csv.misfits) {
        if (!fits(csv, path)) continue;
        const what = written === undefined ? found : JSON.stringify(written);
        report(`${csvText(csv)}: ${path.join('.')} must be ${expected}, found ${what}`, csv.at(...path));
      }
  });
}

/** Fields that opm reads of owned and required APIs; the case of their keys does not matter. */
const DEFINITION_KEY =
  /^spec\.(?:customresourcedefinitions|apiservicedefinitions)\.(?:owned|required)\.\d+\.(?:name|group|version|kind)$/i;

/**
 * Whether opm reads this field of an owned or required API in whatever case. The section itself must be spelled in
 * lower case.
 */
function isDefinitionKey(path: Path): boolean {
  const isExact = path[0] === 'spec' && path[1] === String(path[1]).toLowerCase();
  return isExact && DEFINITION_KEY.test(path.map((step) => foldCase(String(step))).join('.'));
}

/** Whether a part of a path differs by case from the field that it means, so that opm ignores it. */
function isMiscased(csv: TypedCsv, path: Path): boolean {
  if (isDefinitionKey(path)) return false;
  // The case of these keys does not matter to opm either.
  if (/^(?:apiversion|kind|metadata)$/.test(foldCase(String(path[0])))) return false;
  return isBelowMiscased(csv, path);
}

type WithMiscased = Pick<TypedCsv, 'miscased'>;

const miscasedPaths = onceFor(
  ({ miscased }: WithMiscased) => new Set(miscased.map(({ path }) => JSON.stringify(path))),
);

/** Whether a path leads to a key that is spelled in another case than its field, or to what is below one. */
export function isBelowMiscased(object: WithMiscased, path: Path): boolean {
  const keys = miscasedPaths(object);
  return keys.size > 0 && path.some((_, i) => keys.has(JSON.stringify(path.slice(0, i + 1))));
}

export const checkCsvType: Check = typeCheck((csv, path) => !isMiscased(csv, path));

const checkMiscasedFields: Check = typeCheck(isMiscased);

export const checkMiscasedType: Check = (bundle, report) => {
  checkMiscasedFields(bundle, report);
  checkLastTypeMeta(bundle, report);
};

/** Among keys that differ by case, operator-sdk reads the last in alphabetical order. */
const checkLastTypeMeta: Check = csvCheck((csv, report) => {
  const { value } = csv.object;
  for (const field of ['apiVersion', 'kind']) {
    const keys = Object.keys(value).filter((key) => foldCase(key) === foldCase(field));
    const last = keys.sort().at(-1);
    if (last === undefined || last === field || !(field in value)) continue;
    // Go leaves a field as it is for null.
    if (value[last] !== '') continue;
    const message = `${csvText(csv)}: ${last} is empty, and operator-sdk reads it in the place of ${field}`;
    report(message, csv.at(last));
  }
});

/** A value of a label of Kubernetes. The api validator applies it to names, which limits them to 63 characters. */
const LABEL_VALUE = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export const checkCsvName: Check = csvCheck((csv, report) => {
  const names: [string, string, readonly string[]][] = [['metadata.name', csv.name, ['metadata', 'name']]];
  const replaces = memberText(csv.spec, 'replaces');
  if (replaces !== '') names.push(['spec.replaces', replaces, ['spec', 'replaces']]);
  for (const [field, name, path] of names) {
    if (isDnsSubdomain(name) && LABEL_VALUE.test(name)) continue;
    const message = `${csvText(csv)}: ${field} ${JSON.stringify(name)} must be a lower-case DNS name of at most 63 characters`;
    report(message, csv.at(...path));
  }
});

export const checkCsvAnnotations: Check = csvCheck((csv, report) => {
  if (Object.keys(csv.annotations).length > 0) return;
  report(`${csvText(csv)} has no annotations`, csv.at('metadata'));
});

const EXAMPLES = ['alm-examples', 'olm.examples'] as const;

function examplesKey({ annotations }: TypedCsv): (typeof EXAMPLES)[number] | undefined {
  return EXAMPLES.find((key) => key in annotations);
}

export const checkExamplesPresent: Check = csvCheck((csv, report) => {
  // Another rule reports that there are no annotations at all.
  if (examplesKey(csv) || Object.keys(csv.annotations).length === 0) return;
  report(`${csvText(csv)} has no examples`, csv.at('metadata', 'annotations'), {
    hint: 'alm-examples: \'[{"apiVersion": …, "kind": …}]\'',
  });
});

export const checkExamplesOnce: Check = csvCheck((csv, report) => {
  if (!EXAMPLES.every((key) => key in csv.annotations)) return;
  report(
    `${csvText(csv)} has examples twice: olm.examples is not read`,
    csv.at('metadata', 'annotations', 'olm.examples'),
  );
});

/** The examples, or a text that explains why they cannot be read; undefined without the annotation. */
function examplesOf(csv: TypedCsv): readonly Fields[] | string | undefined {
  const key = examplesKey(csv);
  if (!key) return undefined;
  const json = csv.annotations[key] ?? '';
  if (json === '') return [];
  // The tools read it as YAML after they found it to be JSON.
  if (hasTabAround(json)) return 'begins or ends with a tab, which YAML does not allow';
  const examples = readJson(json);
  if ('defect' in examples) return `not JSON: ${examples.defect}`;
  if (examples.value === null) return [];
  if (!Array.isArray(examples.value)) return 'expected a list of objects';
  const bad = examples.value.findIndex((item) => !isObject(item) || !kindOf(item));
  return bad < 0 ? examples.value : `item ${bad} is not an object with a kind`;
}

/** Whether a tab is before the text, or behind it on another line. Patterns would take the square of its blanks. */
function hasTabAround(text: string): boolean {
  const before = text.slice(0, text.length - text.trimStart().length);
  const behind = text.slice(text.trimEnd().length);
  return before.includes('\t') || (behind.lastIndexOf('\t') > behind.indexOf('\n') && behind.includes('\n'));
}

export const checkExamples: Check = csvCheck((csv, report) => {
  const examples = examplesOf(csv);
  if (typeof examples !== 'string') return;
  const key = examplesKey(csv) ?? '';
  report(`${csvText(csv)}: ${key}: ${examples}`, csv.at('metadata', 'annotations', key));
});

/** `group/version, Kind=kind` */
function gvk(group: string, version: string, kind: string): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** The APIs that a ClusterServiceVersion lists as owned, each with its location. */
export function ownedApis({ spec }: TypedCsv): Map<string, readonly (string | number)[]> {
  const apis = new Map<string, readonly (string | number)[]>();
  for (const [i, crd] of memberObjects(spec, 'customresourcedefinitions', 'owned').entries()) {
    const dot = memberText(crd, 'name').indexOf('.');
    if (dot < 0) continue;
    const path = ['spec', 'customresourcedefinitions', 'owned', i];
    apis.set(
      gvk(memberText(crd, 'name').slice(dot + 1), memberText(crd, 'version'), memberText(crd, 'kind')),
      path,
    );
  }
  for (const [i, api] of memberObjects(spec, 'apiservicedefinitions', 'owned').entries()) {
    apis.set(gvk(memberText(api, 'group'), memberText(api, 'version'), memberText(api, 'kind')), [
      'spec',
      'apiservicedefinitions',
      'owned',
      i,
    ]);
  }
  return apis;
}

/** opm reads pointers there, and ends with a panic where one is missing. */
export const checkNullApis: Check = csvCheck((csv, report) => {
  for (const section of ['customresourcedefinitions', 'apiservicedefinitions'])
    for (const which of ['owned', 'required']) {
      const apis = memberObject(csv.object.value, 'spec', section)[which];
      for (const [i, api] of (Array.isArray(apis) ? apis : []).entries()) {
        if (api !== null) continue;
        const path = ['spec', section, which, i];
        report(
          `${csvText(csv)}: ${path.join('.')} is null, for which opm ends with a panic`,
          csv.at(...path),
        );
      }
    }
});

export const checkCrdNames: Check = csvCheck((csv, report) => {
  for (const which of ['owned', 'required']) {
    for (const [i, crd] of memberObjects(csv.spec, 'customresourcedefinitions', which).entries()) {
      if (memberText(crd, 'name').includes('.')) continue;
      const message = `${csvText(csv)}: the ${which} CRD ${JSON.stringify(memberText(crd, 'name'))} must be named <plural>.<group>`;
      report(message, csv.at('spec', 'customresourcedefinitions', which, i, 'name'));
    }
  }
});

/** The kinds of objects among the examples; undefined where the examples cannot be read. */
function exampleApis(csv: TypedCsv): Set<string> | undefined {
  const examples = examplesOf(csv);
  if (!Array.isArray(examples)) return undefined;
  return new Set(
    examples.map((example) => {
      const kind = kindOf(example);
      return gvk(kind?.group ?? '', kind?.version ?? '', kind?.kind ?? '');
    }),
  );
}

export const checkExampleApis: Check = csvCheck((csv, report) => {
  const owned = ownedApis(csv);
  for (const api of exampleApis(csv) ?? []) {
    if (owned.has(api)) continue;
    const key = examplesKey(csv) ?? '';
    report(
      `${csvText(csv)} has an example of ${api}, which it does not own`,
      csv.at('metadata', 'annotations', key),
    );
  }
});

export const checkApiExamples: Check = csvCheck((csv, report) => {
  const examples = exampleApis(csv);
  for (const [api, path] of examples ? ownedApis(csv) : []) {
    if (examples?.has(api)) continue;
    report(`${csvText(csv)} has no example of ${api}, which it owns`, csv.at(...path));
  }
});

export const checkInstallModes: Check = csvCheck((csv, report) => {
  const modes = memberObjects(csv.spec, 'installModes');
  const supported = modes.filter((mode) => mode['supported'] === true);
  if (supported.length > 0) return;
  const found = modes.length === 0 ? 'has no install modes' : 'supports none of its install modes';
  report(`${csvText(csv)} ${found}`, csv.at('spec', 'installModes'), {
    hint: 'installModes: [{type: AllNamespaces, supported: true}]',
  });
});

export const checkInstallModesOnce: Check = csvCheck((csv, report) => {
  const modes = memberObjects(csv.spec, 'installModes').map((mode) => memberText(mode, 'type'));
  for (const i of repeatedPlaces(modes)) {
    report(
      `${csvText(csv)} has the install mode ${JSON.stringify(modes[i])} twice`,
      csv.at('spec', 'installModes', i),
    );
  }
});

/** OLM refuses a webhook that converts CRDs beside any install mode but AllNamespaces. */
export const checkConversionModes: Check = csvCheck((csv, report) => {
  const modes = memberObjects(csv.spec, 'installModes');
  const supported = modes
    .filter((mode) => mode['supported'] === true)
    .map((mode) => memberText(mode, 'type'));
  // There are four, and the message of each webhook names them.
  const found = JSON.stringify(supported.slice(0, 4));
  const onlyAll = modes.every(
    (mode) => (memberText(mode, 'type') === 'AllNamespaces') === (mode['supported'] === true),
  );
  for (const [i, webhook] of memberObjects(csv.spec, 'webhookdefinitions').entries()) {
    const converts = memberText(webhook, 'type') === 'ConversionWebhook';
    // OLM v1 decides by the type of the webhook, operator-framework/api by its conversionCRDs.
    const strict = converts && !(supported.length === 1 && supported[0] === 'AllNamespaces');
    const loose = memberTexts(webhook, 'conversionCRDs').length > 0 && !onlyAll;
    if (!strict && !loose) continue;
    const name = JSON.stringify(memberText(webhook, 'generateName'));
    const message = `${csvText(csv)}: with the conversion webhook ${name} AllNamespaces must be the only supported install mode, found ${found}`;
    report(message, csv.at('spec', 'webhookdefinitions', i));
  }
});

export const checkMinKubeVersionPresent: Check = csvCheck((csv, report) => {
  if (memberText(csv.spec, 'minKubeVersion').trim() !== '') return;
  report(`${csvText(csv)} has no minKubeVersion: it can be installed on any cluster`, csv.at('spec'), {
    hint: 'minKubeVersion: 1.28.0',
  });
});

/** OLM v0 reads blanks as a version that it cannot parse, so no cluster meets the requirement. */
export const checkMinKubeVersionBlank: Check = csvCheck((csv, report) => {
  const version = memberText(csv.spec, 'minKubeVersion');
  if (version === '' || version.trim() !== '') return;
  const message = `${csvText(csv)}: minKubeVersion is blank: on every cluster, the ClusterServiceVersion stays pending`;
  report(message, csv.at('spec', 'minKubeVersion'));
});

export const checkMinKubeVersion: Check = csvCheck((csv, report) => {
  const version = memberText(csv.spec, 'minKubeVersion');
  // Other rules report a version that is missing or blank.
  if (version.trim() === '' || tryParseVersion(version)) return;
  report(
    `${csvText(csv)}: minKubeVersion ${JSON.stringify(version)} is not a valid version, for example 1.28.0`,
    csv.at('spec', 'minKubeVersion'),
  );
});

/** Required fields and the path to each; what lies below one that is missing is not looked for. */
const REQUIRED: readonly (readonly string[])[] = [
  ['metadata'],
  ['spec'],
  ['spec', 'install'],
  ['spec', 'install', 'strategy'],
  ['spec', 'install', 'spec', 'deployments'],
  ['spec', 'displayName'],
];

export const checkRequiredFields: Check = csvCheck((csv, report) => {
  const root: Fields = { metadata: csv.metadata, spec: csv.spec };
  for (const path of REQUIRED) {
    const parents = path.slice(0, -1);
    const parent = parents.length === 0 ? root : memberObject(root, ...parents);
    const isParentThere = parents.length === 0 || !isZero(parent);
    if (!isParentThere || !isZero(parent[path.at(-1) ?? ''])) continue;
    report(`${csvText(csv)}: ${path.join('.')} is missing`, csv.at(...path));
  }
});

/** Whether a value is what Go has where nothing was written. */
function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true;
  return isObject(value) && Object.values(value).every(isZero);
}

const ANNOTATION_NAMES = [
  'olm.operatorGroup',
  'olm.operatorNamespace',
  'olm.targetNamespaces',
  'olm.providedAPIs',
  'olm.skipRange',
];

export const checkAnnotationCase: Check = (bundle, report) => {
  for (const { kind, name, value, document } of bundle.objects) {
    if (kind !== 'ClusterServiceVersion' && kind !== 'OperatorGroup') continue;
    for (const key of Object.keys(memberObject(value, 'metadata', 'annotations'))) {
      const proper = ANNOTATION_NAMES.find(
        (known) => known !== key && known.toLowerCase() === key.toLowerCase(),
      );
      if (proper === undefined) continue;
      const place = document.locate(['metadata', 'annotations', key]);
      report(
        `${kind} ${JSON.stringify(name)}: the annotation ${JSON.stringify(key)} must be spelled ${JSON.stringify(proper)}`,
        place,
      );
    }
  }
};

export const checkPropertiesAnnotation: Check = csvCheck((csv, report) => {
  if (!('olm.properties' in csv.annotations)) return;
  const message = `${csvText(csv)} has properties in the annotation olm.properties`;
  report(message, csv.at('metadata', 'annotations', 'olm.properties'), {
    hint: 'move them to metadata/properties.yaml',
  });
});

export const checkTypeMeta: Check = csvCheck((csv, report) => {
  const apiVersion = foldedMember(csv.object.value, 'apiVersion') ?? '';
  // Another rule reports values that are not text.
  if (typeof apiVersion !== 'string') return;
  if (apiVersion === '')
    report(`${csvText(csv)} has no apiVersion`, csv.at(), {
      hint: 'apiVersion: operators.coreos.com/v1alpha1',
    });
  else if (apiVersion !== 'operators.coreos.com/v1alpha1') {
    // The validators refuse only a missing one.
    report(
      `${csvText(csv)}: apiVersion must be operators.coreos.com/v1alpha1, found ${JSON.stringify(apiVersion)}`,
      csv.at('apiVersion'),
      {
        severity: 'warning',
      },
    );
  }
});

export const checkRelatedImages: Check = csvCheck((csv, report) => {
  for (const [i, related] of memberObjects(csv.spec, 'relatedImages').entries()) {
    const image = memberText(related, 'image');
    const defect = image === '' ? 'is empty' : referenceDefect(image);
    if (defect === undefined) continue;
    const shown = image === '' ? '' : ` ${JSON.stringify(image)}`;
    report(
      `${csvText(csv)}: relatedImages[${i}].image${shown} ${defect}`,
      csv.at('spec', 'relatedImages', i, 'image'),
    );
  }
});

/** Users see `containerImage`, and scanners read it: it names what the operator runs. */
export const checkContainerImage: Check = csvCheck((csv, report) => {
  const named = tryParseReference(String(csv.annotations['containerImage'] ?? ''));
  const deployed = deploymentsOf(csv)
    .flatMap(({ value }) => memberObjects(value, 'spec', 'template', 'spec', 'containers'))
    .map((container) => memberText(container, 'image'))
    .filter((image) => image !== '');
  const isSame = (image: string): boolean => {
    const one = tryParseReference(image);
    // What cannot be compared does not prove that the annotation is wrong.
    return !one || (one.registry === named?.registry && one.repository === named.repository);
  };
  if (!named || deployed.length === 0 || deployed.some(isSame)) return;
  const path = ['metadata', 'annotations', 'containerImage'];
  const message = `${csvText(csv)}: no deployment runs an image of ${named.registry}/${named.repository}, which the annotation containerImage names; they run ${deployed.map((image) => JSON.stringify(image)).join(', ')}`;
  report(message, csv.at(...path), {
    hint: 'name the image of the operator in both, from the registry that users pull from',
  });
});

/** Why a text is not an image reference, in words that follow it; undefined if it is one. */
function referenceDefect(image: string): string | undefined {
  try {
    parseReference(image);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidReference) return `is not a valid image reference: ${error.message}`;
    throw error;
  }
}

export const checkReleaseName: Check = csvCheck((csv, report, bundle) => {
  const release = memberText(csv.spec, 'release');
  if (release === '') return;
  if (!/^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*$/.test(release)) {
    const message = `${csvText(csv)}: release ${JSON.stringify(release)} must be letters, digits and -, separated by dots`;
    report(message, csv.at('spec', 'release'), { hint: "release: '1'" });
  }
  const expected = `${bundle.package}-v${memberText(csv.spec, 'version')}-${release}`;
  if (csv.name === expected) return;
  report(
    `${csvText(csv)} has a release, so it must be named ${JSON.stringify(expected)}`,
    csv.at('metadata', 'name'),
  );
});

export const checkServiceAccounts: Check = csvCheck((csv, report, { objects }) => {
  const used = new Set(
    deploymentsOf(csv).map(({ value }) =>
      memberText(memberObject(value, 'spec', 'template', 'spec'), 'serviceAccountName'),
    ),
  );
  for (const { kind, group, version, name, document } of objects) {
    if (kind !== 'ServiceAccount' || group !== '' || version !== 'v1' || !used.has(name)) continue;
    const message = `OLM creates the service account ${JSON.stringify(name)} for a deployment of ${csvText(csv)}`;
    report(message, document.locate(['metadata', 'name']), {
      hint: 'remove the manifest, or rename one of the two',
    });
  }
});

export const checkSubstitutes: Check = csvCheck((csv, report) => {
  const substitutes = csv.annotations['olm.substitutesFor'];
  if (substitutes === undefined || memberText(csv.spec, 'release') === '') return;
  const message = `${csvText(csv)} has a release and substitutes for ${JSON.stringify(substitutes)}; it can have only one of the two`;
  report(message, csv.at('metadata', 'annotations', 'olm.substitutesFor'));
});

export const checkUnquoted: Check = csvCheck((csv, report) => {
  for (const path of csv.unquoted) {
    if (isMiscased(csv, path)) continue;
    const field = path.join('.');
    const message = `${csvText(csv)}: ${field} is not a string: operator-sdk accepts it, but opm and OLM v1 reject the bundle`;
    report(message, csv.at(...path), { hint: `${String(path.at(-1))}: "…"` });
  }
});

/** Fields beside the required ones without which OLM does not install. */
const NEEDED: readonly (readonly string[])[] = [
  ['apiVersion'],
  ['metadata'],
  ['metadata', 'name'],
  ['spec', 'installModes'],
];

export const checkFieldCase: Check = csvCheck((csv, report) => {
  for (const { path, field } of csv.miscased) {
    const message = `${csvText(csv)}: ${path.join('.')} is spelled ${field}, so clusters ignore the field`;
    // `Object` takes what is not an object for one without keys.
    const parent = path.slice(0, -1).reduce<unknown>((at, step) => Object(at)[step], csv.object.value);
    const isRequired =
      !(field in Object(parent)) &&
      [...REQUIRED, ...NEEDED].some(
        (required) => required.join('.') === [...path.slice(0, -1), field].join('.'),
      );
    report(message, csv.at(...path), {
      hint: `${field}: …`,
      ...(isRequired ? {} : { severity: 'warning' }),
    });
  }
});
