/** Checks of `metadata/`: the annotations of a bundle and its dependencies. */

import { annotationsFiles, type Fields, type Inspected, memberText, PREFIX } from '../../bundle/inspect.ts';
import { firstValue, isJsonAlone, type ManifestFile } from '../../bundle/manifest.ts';
import { isDirect } from '../../bundle/read.ts';
import { foldedMember, propertiesIn, readInto, type WrittenProperty } from '../../bundle/registry-bundle.ts';
import { CelError } from '../../fbc/cel/cel.ts';
import { tryReadJson } from '../../go/json.ts';
import { compactJson } from '../../go/json-text.ts';
import {
  bool,
  fitStruct,
  isObject,
  listOf,
  mapOf,
  type StructShape,
  structShape,
  text as textShape,
} from '../../go/shape.ts';
import { tryParseRange } from '../../version/version.ts';
import type { Report } from '../rule.ts';

export function checkAnnotationsPresent({ annotations, files }: Inspected, report: Report): void {
  // Another rule reports a missing folder.
  if (annotations || files.metadata.length === 0) return;
  report(
    'metadata/ has no file with annotations',
    { file: 'metadata', line: 1, column: 1 },
    {
      hint: 'create metadata/annotations.yaml, for example with portolan bundle generate',
    },
  );
}

export function checkMetadataReadable({ files }: Inspected, report: Report): void {
  for (const file of files.metadata) {
    const { path, documents } = file;
    const [first] = documents;
    if (first?.kind === 'value' && path === USUAL_PATH && isJsonAlone(file))
      report(
        'the JSON is not YAML (surrogate pairs as escapes, or control characters): operator-sdk reads it as YAML, and fails',
        first.document.locate([]),
        { hint: 'write the characters themselves' },
      );
    if (first?.kind !== 'unread') continue;
    // The tools try other files too, and skip those that they cannot read.
    report(first.message, first.location, path === USUAL_PATH ? {} : { severity: 'warning' });
  }
}

const REQUIRED = ['mediatype', 'manifests', 'metadata', 'package', 'channels'] as const;

const USUAL_VALUES: Readonly<Record<(typeof REQUIRED)[number], string>> = {
  mediatype: 'registry+v1',
  manifests: 'manifests/',
  metadata: 'metadata/',
  package: '…',
  channels: '…',
};

export function checkAnnotationKeys({ annotations }: Inspected, report: Report): void {
  // Annotations that cannot be read are reported as such.
  if (!annotations || annotations.misfits.length > 0) return;
  for (const name of REQUIRED) {
    const key = `${PREFIX}${name}.v1`;
    if (key in annotations.values) continue;
    report(
      `the annotation ${JSON.stringify(key)} is missing`,
      annotations.document.locate([annotations.key]),
      { hint: `${key}: ${USUAL_VALUES[name]}` },
    );
  }
}

export function checkAnnotatedFolders({ annotations }: Inspected, report: Report): void {
  for (const name of annotations ? (['manifests', 'metadata'] as const) : []) {
    const key = `${PREFIX}${name}.v1`;
    const found = annotations?.values[key];
    // `./manifests/`, `/manifests` and `manifests/.` are the same folder.
    if (!annotations || typeof found !== 'string' || found.replaceAll(/^\.?\/|\/\.?$/g, '') === name)
      continue;
    const isRead = name === 'manifests';
    const who = isRead
      ? 'opm and OLM always read manifests/, operator-sdk reads the annotated folder'
      : 'all tools read metadata/';
    const message = `the annotation ${JSON.stringify(key)} must be ${name}/, found ${JSON.stringify(found)}: ${who}`;
    report(message, annotations.document.locate([annotations.key, key]), {
      hint: `${key}: ${name}/`,
      ...(isRead ? {} : { severity: 'warning' }),
    });
  }
}

/** The operator-sdk reads annotations from this file first. */
const USUAL_PATH = 'metadata/annotations.yaml';

export function checkAnnotationTypes({ annotations, files }: Inspected, report: Report): void {
  const read = annotationsFiles(files).filter(
    ({ path }) => path === annotations?.path || path === USUAL_PATH,
  );
  for (const { values, misfits, document, key } of read) {
    for (const name of misfits) {
      const found = compactJson(values[name]);
      const message = `the annotation ${JSON.stringify(name)} must be text, found ${found}: opm and operator-sdk cannot read the annotations`;
      report(message, document.locate([key, name]), { hint: `${name}: '${found.replaceAll("'", "''")}'` });
    }
  }
}

/** The metadata of a chart with the types that opm reads: a file with other types does not make a chart. */
const CHART = structShape('bundle.Metadata', {
  ...Object.fromEntries(
    [
      'name',
      'home',
      'version',
      'description',
      'icon',
      'apiVersion',
      'condition',
      'tags',
      'appVersion',
      'kubeVersion',
      'type',
    ].map((field) => [field, textShape]),
  ),
  sources: listOf(textShape),
  keywords: listOf(textShape),
  deprecated: bool,
  annotations: mapOf(textShape),
});

/** Whether a file makes Helm's chart of its folder: one that has a name. */
function isChart(file: ManifestFile): boolean {
  const first = file.path === 'manifests/Chart.yaml' ? firstValue(file) : undefined;
  const { value, misfits } = fitStruct(first && readInto(CHART, first), CHART);
  return misfits.length === 0 && (value['name'] ?? '') !== '';
}

export function checkMediaType({ annotations, csv, manifests }: Inspected, report: Report): void {
  if (!annotations || manifests.length === 0) return;
  const key = `${PREFIX}mediatype.v1`;
  // In the order in which opm looks: a chart with a ClusterServiceVersion is still a chart.
  const expected = manifests.some(isChart) ? 'helm+v1' : csv ? 'registry+v1' : 'plain+v0';
  const found = memberText(annotations.values, key);
  // Annotations that cannot be read are reported as such.
  if (found === expected || annotations.misfits.length > 0) return;
  const message = `the annotation ${JSON.stringify(key)} must be ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
  report(message, annotations.document.locate([annotations.key, key]), { hint: `${key}: ${expected}` });
}

export function checkAnnotationsFilled({ annotations }: Inspected, report: Report): void {
  if (!annotations) return;
  for (const [key, isOptional] of [
    [`${PREFIX}channels.v1`, false],
    [`${PREFIX}channel.default.v1`, true],
  ] as const) {
    const value = annotations.values[key] ?? '';
    // Annotations that cannot be read are reported as such.
    if (annotations.misfits.length > 0 || value !== '' || (isOptional && !(key in annotations.values)))
      continue;
    report(
      `the annotation ${JSON.stringify(key)} is empty`,
      annotations.document.locate([annotations.key, key]),
      {
        hint: `${key}: stable`,
      },
    );
  }
}

export function checkDefaultChannel({ annotations, channels }: Inspected, report: Report): void {
  const key = `${PREFIX}channel.default.v1`;
  const name = annotations ? memberText(annotations.values, key) : '';
  // Another rule reports empty channels.
  if (!annotations || name === '' || channels.includes(name) || channels.join('') === '') return;
  const message = `the default channel ${JSON.stringify(name)} is not one of the channels ${JSON.stringify(channels)}`;
  report(message, annotations.document.locate([annotations.key, key]));
}

const DEPENDENCIES: ReadonlyMap<string, StructShape> = new Map([
  [
    'olm.gvk',
    structShape('registry.GVKDependency', { group: textShape, kind: textShape, version: textShape }),
  ],
  ['olm.package', structShape('registry.PackageDependency', { packageName: textShape, version: textShape })],
  ['olm.label', structShape('registry.LabelDependency', { label: textShape })],
  [
    'olm.constraint',
    structShape('registry.CelConstraint', {
      failureMessage: textShape,
      cel: structShape('constraints.Cel', { rule: textShape }),
    }),
  ],
]);

/**
 * The dependencies of a bundle with their fields; undefined fields where the value does not fit the type. As opm does, it
 * takes those of the first file that has any.
 */
function dependenciesOf({ files }: Inspected): { dependency: WrittenProperty; fields: Fields | undefined }[] {
  for (const file of files.metadata.filter(isDirect)) {
    const found = propertiesIn(file, 'dependencies') ?? [];
    if (found.length > 0) return found.map((dependency) => ({ dependency, fields: fieldsOf(dependency) }));
  }
  return [];
}

/** The fields of a dependency; undefined for one of an unknown type, or whose value does not fit its type. */
function fieldsOf({ type, json }: WrittenProperty): Fields | undefined {
  const shape = DEPENDENCIES.get(type);
  if (!shape || json === '') return undefined;
  const value = tryReadJson(json);
  // Go leaves a struct as it is for null.
  if (value === null) return {};
  const { value: fields, misfits } = fitStruct(value, shape);
  return misfits.length === 0 ? fields : undefined;
}

type DependencyCheck = (
  fields: Fields,
  say: (message: string, hint?: string) => void,
  bundle: Inspected,
) => void;

/** Makes the check of one type of dependency. */
function dependencyCheck(type: string, check: DependencyCheck): (bundle: Inspected, report: Report) => void {
  return (bundle, report) => {
    for (const { dependency, fields } of dependenciesOf(bundle)) {
      // A dependency without fields is reported for its type: see checkDependencyTypes.
      if (dependency.type !== type || !fields) continue;
      const say = (message: string, hint?: string): void =>
        report(`dependency ${type}: ${message}`, dependency.location, hint === undefined ? {} : { hint });
      check(fields, say, bundle);
    }
  };
}

export const checkGvkDependency: (bundle: Inspected, report: Report) => void = dependencyCheck(
  'olm.gvk',
  (fields, say) => {
    for (const field of ['group', 'version', 'kind'])
      if (memberText(fields, field) === '') say(`${field} is empty`);
  },
);

export const checkLabelDependency: (bundle: Inspected, report: Report) => void = dependencyCheck(
  'olm.label',
  (fields, say) => {
    if (memberText(fields, 'label') === '') say('label is empty');
  },
);

export const checkPackageDependency: (bundle: Inspected, report: Report) => void = dependencyCheck(
  'olm.package',
  (fields, say) => {
    if (memberText(fields, 'packageName') === '') say('packageName is empty');
    const version = memberText(fields, 'version');
    if (version === '') say('version is empty');
    else if (!tryParseRange(version)) {
      say(
        `version ${JSON.stringify(version)} is not a valid range of semantic versions`,
        'version: ">=1.0.0 <2.0.0"',
      );
    }
  },
);

/** Keys of constraints that OLM resolves besides `cel`. */
const COMPOUND = ['all', 'any', 'not', 'none', 'package', 'gvk'];

export const checkConstraint: (bundle: Inspected, report: Report) => void = (bundle, report) => {
  for (const { dependency, fields } of dependenciesOf(bundle)) {
    if (dependency.type !== 'olm.constraint' || !fields) continue;
    const message = constraintDefect(dependency, fields, bundle);
    if (message)
      report(`dependency olm.constraint: ${message.text}`, dependency.location, {
        severity: message.severity,
      });
  }
};

/** What is wrong with the constraint of a dependency; undefined if opm accepts it. */
function constraintDefect(
  { json }: WrittenProperty,
  fields: Fields,
  { cel }: Inspected,
): { text: string; severity: 'error' | 'warning' } | undefined {
  const rule = fields['cel'];
  if (!isObject(rule)) {
    const value = tryReadJson(json);
    const isCompound = isObject(value) && COMPOUND.some((key) => foldedMember(value, key) !== undefined);
    // OLM resolves compound constraints; only opm's check of a bundle does not know them.
    return isCompound
      ? { text: 'opm validates only CEL rules; OLM supports this one', severity: 'warning' }
      : { text: 'cel is missing', severity: 'error' };
  }
  const expression = memberText(rule, 'rule');
  if (expression === '') return { text: 'cel.rule is empty', severity: 'error' };
  try {
    cel?.compile(expression);
    return undefined;
  } catch (error) {
    if (error instanceof CelError)
      return { text: `cel.rule is not a valid rule: ${error.message}`, severity: 'error' };
    throw error;
  }
}

export function checkDependencyTypes(bundle: Inspected, report: Report): void {
  for (const { dependency, fields } of dependenciesOf(bundle)) {
    if (fields) continue;
    const known = DEPENDENCIES.has(dependency.type);
    const message = known
      ? `the value of the dependency ${dependency.type} has the wrong type`
      : `unknown type of dependency ${JSON.stringify(dependency.type)}`;
    report(message, dependency.location, { hint: `types: ${[...DEPENDENCIES.keys()].join(', ')}` });
  }
}
