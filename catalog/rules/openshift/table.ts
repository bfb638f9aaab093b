/** The requirements of Red Hat's catalogs for bundles that use APIs which Kubernetes 1.22 removed. */
import {
  type AnnotationsFile,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import { firstValue } from '../../bundle/manifest.ts';
import { parseTolerantIfValid, versionRange } from '../../bundle/openshift-range.ts';
import { foldedMember } from '../../bundle/registry-bundle.ts';
import { compareMinors, type Minor, minorOf } from '../../fbc/openshift.ts';
import { lastBefore } from '../../fbc/platform.ts';
import type { Location } from '../../finding.ts';
import { readJson } from '../../go/json.ts';
import { isObject } from '../../go/shape.ts';
import { jsonText } from '../../json.ts';
import { formatVersion, parseTolerant, type Version } from '../../version/version.ts';
import { csvCheck, csvText } from '../bundle-checks/csv.ts';
import { podSecurityUses, usesOf } from '../bundle-checks/removed-api.ts';
import type { Report, Rule } from '../rule.ts';

type Check = (bundle: Inspected, report: Report) => void;

/** The OpenShift that lacks the APIs. */
const WITHOUT: Minor = { major: 4, minor: 9 };

/** How the message about a list begins that cannot be read. */
const UNREAD = 'the annotation olm.properties is not';

/** The annotated value of `olm.maxOpenShiftVersion`, or why there is none. */
function maxVersion(csv: TypedCsv): { readonly value: unknown } | { readonly defect: string } {
  const json = csv.annotations['olm.properties'] ?? '';
  if (json === '') return { defect: 'the annotation olm.properties is missing' };
  const read = readJson(json);
  if ('defect' in read) return { defect: `${UNREAD} JSON: ${read.defect}` };
  const properties = read.value ?? [];
  if (!Array.isArray(properties) || !properties.every(isObject))
    return { defect: `${UNREAD} a list of properties` };
  const property = properties.find((item) => foldedMember(item, 'type') === 'olm.maxOpenShiftVersion');
  return property
    ? { value: foldedMember(property, 'value') }
    : { defect: 'olm.properties does not contain it' };
}

function propertiesPlace(csv: TypedCsv): Location {
  return csv.at('metadata', 'annotations', 'olm.properties');
}

/** Compares versions of OpenShift as OLM does: without patches, and 5.0 equals 4.23. */
function compareReleases(a: Version, b: Version): number {
  return compareMinors(minorOf(a), minorOf(b));
}

const checkMaxVersion: Check = csvCheck((csv, report) => {
  const found = maxVersion(csv);
  if ('defect' in found) {
    // Another rule reports where the property is needed and missing.
    if (found.defect.startsWith(UNREAD)) report(`${csvText(csv)}: ${found.defect}`, propertiesPlace(csv));
    return;
  }
  const { value } = found;
  const written = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const version = parseTolerantIfValid(written);
  if (typeof value !== 'string') {
    const message = `${csvText(csv)}: olm.maxOpenShiftVersion must be a string: the validators refuse a number, and opm reads 4.20 as 4.2`;
    report(message, propertiesPlace(csv), { hint: '"value": "4.20"', severity: 'warning' });
  }
  if (!version) {
    report(
      `${csvText(csv)}: olm.maxOpenShiftVersion ${jsonText(value)} is not a valid version, for example 4.16`,
      propertiesPlace(csv),
    );
  } else if (formatVersion(version) !== `${version.major}.${version.minor}.0`) {
    const message = `${csvText(csv)}: olm.maxOpenShiftVersion ${JSON.stringify(written)} is read as ${version.major}.${version.minor}`;
    report(message, propertiesPlace(csv), { severity: 'warning' });
  }
});

/** The last version of OpenShift that has what a release of Kubernetes removed. */
const LAST: readonly (readonly [kubernetes: string, openshift: string])[] = [22, 25, 26].map((minor) => [
  `1.${minor}`,
  lastBefore({ major: 1, minor }),
]);

const checkMaxVersionForRemoved: Check = csvCheck((csv, report, bundle) => {
  const [removedIn, last] =
    LAST.find(
      ([release]) =>
        usesOf(bundle, release).length > 0 || (release === '1.25' && podSecurityUses(bundle).length > 0),
    ) ?? [];
  if (last === undefined) return;
  const found = maxVersion(csv);
  const version = 'value' in found ? parseTolerantIfValid(String(found.value)) : undefined;
  if (version && compareReleases(version, parseTolerant(last)) <= 0) return;
  const why = 'defect' in found ? found.defect : `it is ${jsonText(found.value)}`;
  const message = `${csvText(csv)} uses APIs that OpenShift supports up to ${last}, so olm.maxOpenShiftVersion must be at most ${last}: ${why}`;
  // The tools know only the APIs that 1.22 removed, and stop at a version with a patch.
  const isTheirs = removedIn === '1.22' && (!version || Number(version.patch) === 0);
  report(message, propertiesPlace(csv), {
    ...(isTheirs ? {} : { severity: 'warning' }),
    hint: `olm.properties: '[{"type": "olm.maxOpenShiftVersion", "value": "${last}"}]'`,
  });
});

const LABEL = 'com.redhat.openshift.versions';

const checkVersionsLabel: Check = csvCheck((csv, report, bundle) => {
  if (usesOf(bundle, '1.22').length === 0) return;
  const { dockerfile } = bundle.options;
  const hint = `LABEL ${LABEL}="v4.6-v4.8"`;
  if (!dockerfile) {
    const message = `${csvText(csv)} uses APIs that OpenShift 4.9 removed, and no Dockerfile declares the supported versions`;
    report(message, csv.at(), { severity: 'warning', hint });
    return;
  }
  const lines = dockerfile.text?.split('\n') ?? [];
  const index = lines.findIndex((line) => line.includes(LABEL));
  const location = { file: dockerfile.path, line: Math.max(index, 0) + 1, column: 1 };
  const defect = dockerfile.text === undefined ? 'the Dockerfile cannot be read' : labelDefect(lines[index]);
  if (defect !== undefined)
    report(`${csvText(csv)} uses APIs that OpenShift 4.9 removed: ${defect}`, location, { hint });
});

/**
 * The defect of a Dockerfile's line with the OpenShift versions of a bundle; undefined if it keeps the bundle from versions
 * without the APIs. The line is `LABEL …=v4.6-v4.8` or, for one version alone, `LABEL …==v4.8`.
 */
function labelDefect(line: string | undefined): string | undefined {
  if (line === undefined) return `the Dockerfile has no label ${LABEL}`;
  if (!line.includes('=')) return `the label ${LABEL} has no value`;
  const [, first = '', exact = ''] = line.split('=').map((part) => part.replaceAll(/["'v]/g, '').trim());
  const last = exact !== '' ? exact : first.split('-')[1];
  if (exact === '' && first.length <= 1) return `the label ${LABEL} has no value`;
  if (last === undefined)
    return `the label ${LABEL}=${first} has no upper bound, so it includes 4.9 and later`;
  const version = parseTolerantIfValid(last);
  if (!version) return `the label ${LABEL} ends with ${JSON.stringify(last)}, which is not a valid version`;
  return compareMinors(minorOf(version), WITHOUT) >= 0 ? `the label ${LABEL} ends with ${last}` : undefined;
}

/** Whether an annotation is written as a number, of which YAML drops zeros at the end: 4.10 is 4.1. */
function isNumber({ files }: Inspected, { path, key }: AnnotationsFile): boolean {
  const file = files.metadata.find((each) => each.path === path);
  const annotations = file && memberObject(firstValue(file)?.value, key);
  return typeof annotations?.[LABEL] === 'number';
}

const checkVersionsRange: Check = csvCheck((csv, report, bundle) => {
  const { annotations } = bundle;
  const label = annotations ? memberText(annotations.values, LABEL) : '';
  if (!annotations || label === '') return;
  const location = annotations.document.locate([annotations.key, LABEL]);
  const range = versionRange(label);
  if (!range) {
    const message = `the annotation ${LABEL} ${JSON.stringify(label)} is not a valid range of OpenShift versions: certification rejects the bundle`;
    report(message, location, { hint: `${LABEL}: v4.12-v4.16` });
    return;
  }
  if (isNumber(bundle, annotations)) {
    const message = `the annotation ${LABEL} is a number, which tools read as ${JSON.stringify(label)}: 4.10 becomes 4.1`;
    report(message, location, { severity: 'warning', hint: `${LABEL}: v4.12` });
  }
  if (range.last && compareReleases(range.first, range.last) > 0) {
    const message = `the annotation ${LABEL} ${JSON.stringify(label)} ends before it begins: no catalog contains the bundle`;
    report(message, location, { hint: `${LABEL}: v4.12-v4.16` });
    return;
  }
  const found = maxVersion(csv);
  const max = 'value' in found ? parseTolerantIfValid(String(found.value)) : undefined;
  if (!max) return;
  if (compareReleases(range.first, max) > 0) {
    const message = `the annotation ${LABEL} ${JSON.stringify(label)} begins after olm.maxOpenShiftVersion ${max.major}.${max.minor}: clusters that install ${csvText(csv)} cannot be upgraded`;
    report(message, location, { hint: `begin the range with v${max.major}.${max.minor} or earlier` });
    return;
  }
  if (range.last && compareReleases(range.last, max) < 0) {
    const message = `the annotation ${LABEL} ends with ${range.last.major}.${range.last.minor}, but olm.maxOpenShiftVersion lets clusters upgrade to ${max.major}.${max.minor}, where the catalog lacks ${csvText(csv)}: certification rejects the bundle`;
    report(message, location, { hint: `end the range with v${max.major}.${max.minor}` });
    return;
  }
  if (range.last && compareReleases(range.last, max) === 0) return;
  const end = range.last ? `up to ${range.last.major}.${range.last.minor}` : 'to every later version';
  const message = `the annotation ${LABEL} offers ${csvText(csv)} ${end}, but olm.maxOpenShiftVersion keeps clusters that have it at ${max.major}.${max.minor}`;
  report(message, location, { severity: 'warning', hint: `end the range with v${max.major}.${max.minor}` });
});

const checkScc: Check = csvCheck((csv, report) => {
  for (const [i, permission] of memberObjects(csv.spec, 'install', 'spec', 'clusterPermissions').entries()) {
    for (const [j, rule] of memberObjects(permission, 'rules').entries()) {
      const isAbout = memberTexts(rule, 'resources').includes('securitycontextconstraints');
      if (!isAbout || !memberTexts(rule, 'apiGroups').includes('security.openshift.io')) continue;
      const names = memberTexts(rule, 'resourceNames');
      const which = names.length === 0 ? 'any security context constraints' : names.join(', ');
      const path = ['spec', 'install', 'spec', 'clusterPermissions', i, 'rules', j];
      report(
        `${csvText(csv)} needs more than the restricted security context constraints of OpenShift: ${which}`,
        csv.at(...path),
        {
          hint: 'run without them, or explain in the description why the operator needs them',
        },
      );
    }
  }
});

export const rules: readonly Rule[] = [
  {
    id: 'openshift/max-version-needed',
    severity: 'error',
    summary:
      'Reports bundles with removed APIs that do not keep clusters on an OpenShift version that still has them',
    opm: [
      'csv.Annotations not specified olm.maxOpenShiftVersion for an OCP version < 4.9. …',
      'olm.maxOpenShiftVersion csv.Annotations not specified with an OCP version lower than 4.9. …',
    ],
    inspect: checkMaxVersionForRemoved,
  },
  {
    id: 'openshift/max-version',
    severity: 'error',
    summary: 'Reports values of olm.maxOpenShiftVersion that are not an OpenShift minor version',
    fix: '"value": "4.16"',
    opm: [
      'csv.Annotations.olm.properties has an invalid value. …',
      'csv.Annotations has an invalid value specified for olm.properties. …',
    ],
    inspect: checkMaxVersion,
  },
  {
    id: 'openshift/scc',
    severity: 'info',
    summary: 'Reports bundles that need OpenShift security context constraints',
    opm: ['securityConstraint: N'],
    inspect: checkScc,
  },
  {
    id: 'openshift/versions-label',
    severity: 'error',
    summary:
      'Reports bundles with APIs that OpenShift 4.9 removed that are not labelled for earlier versions',
    opm: [
      'invalid syntax (L) for (com.redhat.openshift.versions)',
      'unable to get the range informed on com.redhat.openshift.versions',
    ],
    inspect: checkVersionsLabel,
  },
  {
    id: 'openshift/versions-range',
    severity: 'error',
    summary:
      'Reports OpenShift versions of a bundle that are not a valid range, or disagree with olm.maxOpenShiftVersion',
    opm: [
      'unable to parse the version: malformed range: R',
      'unable to parse the value (V) on (R): …',
      'the olm.maxOpenShiftVersion annotation with the value V to block the cluster upgrade is incompatible with the versions where this solutions should be distributed',
    ],
    inspect: checkVersionsRange,
  },
];
