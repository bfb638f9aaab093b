import { memberObject } from '../../bundle/inspect.ts';
import { isForOpenshift, OPENSHIFT_VERSIONS } from '../../bundle/openshift-range.ts';
import {
  type OperatorBundle,
  type OperatorFile,
  type OperatorFolder,
  packageOf,
} from '../../bundle/operator-folder.ts';
import { formatMinor, type Minor } from '../../fbc/openshift.ts';
import { knownPlatforms } from '../../fbc/platform.ts';
import type { Location, Severity } from '../../finding.ts';
import { isObject } from '../../go/shape.ts';
import { jsonText } from '../../json.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'operator/name',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a bundle whose annotations, ClusterServiceVersion and folder name different operators',
    opm: [
      'Bundle does not define the operator name in annotations.yaml',
      'Operator name from annotations.yaml (N) does not match the name defined in the CSV (M)',
      "Operator name from annotations.yaml (N) does not match the operator's directory name (M)",
      'Operator name from the CSV (N) does not match the name defined in other bundles (M)',
    ],
    operator(operator, report) {
      for (const bundle of operator.changed) checkNames(bundle, operator, report);
    },
  },
  {
    id: 'operator/version-folder',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a bundle whose folder is not named after the version of its ClusterServiceVersion',
    opm: [
      "Bundle directory name 'O/V' does not match the expected operator CSV version 'W'",
      'CSV file for O/V not found',
    ],
    operator({ name, path, changed }, report) {
      for (const { folder, csv, csvFile } of changed) {
        if (!csvFile) {
          const message = `the bundle ${quoted(`${name}/${folder}`)} has no file manifests/*.clusterserviceversion.yaml`;
          const place = { file: `${path}/${folder}/manifests`, line: 1, column: 1 };
          report(message, place, { package: name, hint: `manifests/${name}.clusterserviceversion.yaml` });
          continue;
        }
        const version = memberObject(csv, 'spec')['version'];
        if (csvFile.defect) {
          const message = `the ClusterServiceVersion cannot be read: ${csvFile.defect.message}`;
          report(message, csvFile.defect.location, { package: name });
        } else if (version !== folder) {
          const found = version === undefined ? 'no version' : `the version ${jsonText(version)}`;
          const message = `the folder is named ${quoted(folder)}, but its ClusterServiceVersion has ${found}`;
          const hint =
            typeof version === 'string' ? `rename the folder to ${version}` : `version: '${folder}'`;
          report(message, csvFile.locate('spec', 'version'), { package: name, hint });
        }
      }
    },
  },
  {
    id: 'operator/replaces',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports a bundle that replaces a bundle which is not there, or which is for fewer versions of OpenShift',
    opm: [
      'B attempts to replace itself.',
      "B attempts to replace version 'V' which does not exist in the submitted PR branch.",
      'Replaces bundle B V does not support the same OCP versions as bundle C W.',
    ],
    operator(operator, report) {
      if (usesCatalogs(operator)) return;
      for (const bundle of operator.changed) checkReplaces(bundle, operator, report);
    },
  },
];

const KEY = 'operators.operatorframework.io.bundle.package.v1';

type Say = (message: string, location: Location, severity: Severity, hint: string) => void;

/** Checks that the annotations and the ClusterServiceVersion of a bundle have names, and then compares these. */
function checkNames(bundle: OperatorBundle, operator: OperatorFolder, report: Report): void {
  const { annotationsFile: file, csvFile, folder } = bundle;
  const name = packageOf(bundle);
  const start = { file: `${operator.path}/${folder}/metadata/annotations.yaml`, line: 1, column: 1 };
  const place = file?.locate('annotations', KEY) ?? start;
  const say: Say = (message, location, severity, hint) =>
    report(message, location, { package: operator.name, severity, hint });
  if (name === '') {
    const why = file?.defect ? `: ${file.defect.message}` : '';
    say(
      `annotations.yaml of ${quoted(folder)} does not name the package${why}`,
      place,
      'error',
      `${KEY}: ${operator.name}`,
    );
    return;
  }
  const csvPlace = csvFile?.locate('metadata', 'name');
  // Another rule reports bundles without a ClusterServiceVersion.
  if (!csvPlace) return;
  if (!bundle.name) {
    say(
      'the name of the ClusterServiceVersion is not OPERATOR.VERSION',
      csvPlace,
      'error',
      `name: ${name}.v${folder}`,
    );
    return;
  }
  compareNames(operator, bundle, { name, csvName: bundle.name, place, csvPlace }, say);
}

interface PlacedNames {
  /** The package in the annotations. */
  readonly name: string;
  readonly csvName: { readonly operator: string; readonly version: string };
  readonly place: Location;
  readonly csvPlace: Location;
}

/** Compares the names in a bundle with those in the other bundles, with each other, and with the operator's folder. */
function compareNames(
  operator: OperatorFolder,
  bundle: OperatorBundle,
  { name, csvName, place, csvPlace }: PlacedNames,
  say: Say,
): void {
  const others = operator.bundles.filter((other) => other !== bundle);
  // operator-pipelines fails these in an operator's first bundle, and warns of them in later ones.
  const mild = others.length > 0 ? 'warning' : 'error';
  const named = others.filter(({ annotationsFile }) => !isUnreadable(annotationsFile));
  reportOthers(name, named.map(packageOf), 'the package in annotations.yaml', (message, severity, hint) =>
    say(message, place, severity, hint),
  );
  const csvNames = others.flatMap((other) => (other.name ? [other.name.operator] : []));
  reportOthers(csvName.operator, csvNames, 'the ClusterServiceVersion', (message, severity, hint) =>
    say(message, csvPlace, severity, hint),
  );
  if (name !== csvName.operator) {
    const message = `the package is ${quoted(name)}, but the ClusterServiceVersion is named after ${quoted(csvName.operator)}`;
    say(message, csvPlace, mild, `name: ${name}.v${csvName.version}`);
  }
  if (name !== operator.name) {
    const message = `the package is ${quoted(name)}, but its folder is ${quoted(operator.name)}`;
    say(message, place, mild, `${KEY}: ${operator.name}`);
  }
}

/** Whether a file is there, and is not a mapping: the tools then leave the bundle out. */
function isUnreadable(file: OperatorFile | undefined): boolean {
  return file !== undefined && file.value !== null && !isObject(file.value);
}

/**
 * Reports that a name differs from that of all other bundles of the operator, or that these differ among themselves.
 */
function reportOthers(
  own: string,
  others: readonly string[],
  what: string,
  say: (message: string, severity: Severity, hint: string) => void,
): void {
  const names = [...new Set(others)];
  const [only] = names;
  if (only === undefined) return;
  const shown = names.map(quoted).join(', ');
  if (names.length > 1)
    say(`${what} is not named alike in all bundles: ${shown}`, 'warning', 'use one name in new bundles');
  else if (only !== own)
    say(`${what} is named ${quoted(own)}, but in all other bundles ${shown}`, 'error', `use ${only}`);
}

/**
 * Reports a bundle that replaces itself, or a version that has no folder, or one that is for fewer versions of
 * OpenShift.
 */
function checkReplaces(bundle: OperatorBundle, operator: OperatorFolder, report: Report): void {
  const replaces = memberObject(bundle.csv, 'spec')['replaces'];
  const place = bundle.csvFile?.locate('spec', 'replaces');
  if (!replaces || !place) return;
  const say = (message: string, hint: string): void =>
    report(`bundle ${quoted(bundle.folder)} ${message}`, place, { package: operator.name, hint });
  const version = versionIn(String(replaces));
  const versions = operator.bundles.flatMap(({ name }) => name?.version ?? []);
  if (version === undefined)
    say(`replaces ${quoted(String(replaces))}, which has no version`, `replaces: ${operator.name}.v…`);
  else if (version === bundle.name?.version) say('replaces itself', 'replaces: the previous version');
  else {
    // If two folders have one version, the later one counts.
    const replaced = operator.bundles.findLast(({ name }) => name?.version === version);
    if (!replaced)
      say(
        `replaces version ${quoted(version)}, which has no folder; there are ${versions.map(quoted).join(', ')}`,
        'rebase onto the base branch, or replace a version that is there',
      );
    else checkPlatforms(bundle, replaced, say);
  }
}

/** The version in the name of a ClusterServiceVersion, behind `.v` or the first dot. */
function versionIn(name: string): string | undefined {
  const delimiter = name.includes('.v') ? '.v' : '.';
  const at = name.indexOf(delimiter);
  return at < 0 ? undefined : name.slice(at + delimiter.length);
}

/** Reports a bundle for OpenShift versions that the bundle it replaces is not for. */
function checkPlatforms(
  bundle: OperatorBundle,
  replaced: OperatorBundle,
  say: (message: string, hint: string) => void,
): void {
  const [own, other] = [bundle, replaced].map(({ annotations }) => annotations[OPENSHIFT_VERSIONS]);
  if (own === other) return;
  const more = knownPlatforms().filter(
    (platform) => isFor(own, platform) && isFor(other, platform) === false,
  );
  if (more.length === 0) return;
  const shown = more.map(formatMinor).join(', ');
  say(
    `is also for OpenShift ${shown}, but replaces ${quoted(replaced.folder)}, which is not`,
    `${OPENSHIFT_VERSIONS}: ${other}`,
  );
}

function isFor(range: unknown, platform: Minor): boolean | undefined {
  return isForOpenshift(range === undefined ? undefined : String(range), platform);
}
