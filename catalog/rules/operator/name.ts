import {
  type OperatorBundle,
  type OperatorFile,
  type OperatorFolder,
  packageOf,
} from '../../bundle/operator-folder.ts';
import type { Location, Severity } from '../../finding.ts';
import { isObject } from '../../go/shape.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
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
};

const KEY = 'operators.operatorframework.io.bundle.package.v1';

function checkNames(bundle: OperatorBundle, operator: OperatorFolder, report: Report): void {
  const { annotationsFile: file, csvFile, folder } = bundle;
  const name = packageOf(bundle);
  const start = { file: `${operator.path}/${folder}/metadata/annotations.yaml`, line: 1, column: 1 };
  const place = file?.locate('annotations', KEY) ?? start;
  const say = (message: string, location: Location, severity: Severity, hint: string): void =>
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
  const others = operator.bundles.filter((other) => other !== bundle);
  // operator-pipelines fails these in an operator's first bundle, and warns of them in later ones.
  const mild = others.length > 0 ? 'warning' : 'error';
  const named = others.filter(({ annotationsFile }) => !isUnreadable(annotationsFile));
  reportOthers(name, named.map(packageOf), 'the package in annotations.yaml', (message, severity, hint) =>
    say(message, place, severity, hint),
  );
  const csvName = bundle.name.operator;
  const csvNames = others.flatMap((other) => (other.name ? [other.name.operator] : []));
  if (others.length > 0)
    reportOthers(csvName, csvNames, 'the ClusterServiceVersion', (message, severity, hint) =>
      say(message, csvPlace, severity, hint),
    );
  if (name !== csvName) {
    const message = `the package is ${quoted(name)}, but the ClusterServiceVersion is named after ${quoted(csvName)}`;
    say(message, csvPlace, mild, `name: ${name}.v${bundle.name.version}`);
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

/** The names of the operator's other bundles. */
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
