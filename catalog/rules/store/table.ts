/**
 * The fields that OperatorHub requires, as operator-pipelines checks them in the community repositories.
 *
 * @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/main/operatorcert/static_tests/community/bundle.py
 */
import {
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import { compactJson } from '../../go/json-text.ts';
import { base64Defect, isObject, type Path } from '../../go/shape.ts';
import { tryParseVersion } from '../../version/version.ts';
import { csvCheck, csvText } from '../bundle-checks/csv.ts';
import { CATEGORIES } from '../bundle-checks/store.ts';
import type { Report, Rule } from '../rule.ts';

interface Field {
  readonly path: Path;
  /** The required value, in words. */
  readonly expected: string;
  readonly isGood: (csv: TypedCsv) => boolean;
  /** The pipelines only warn of it. */
  readonly isMild?: true;
}

/** The pipelines only warn of annotations. */
function annotation(name: string, expected: string, isGood: (value: string) => boolean): Field {
  return {
    path: ['metadata', 'annotations', name],
    expected,
    isGood: ({ annotations }) => isGood(annotations[name] ?? ''),
    isMild: true,
  };
}

function matcherOf(pattern: RegExp): (value: string) => boolean {
  return (value) => pattern.test(value);
}

function inSpec(name: string, expected: string, isGood: (spec: Fields) => boolean): Field {
  return { path: ['spec', name], expected, isGood: ({ spec }) => isGood(spec) };
}

/** A field of the specification as it is written: the pipelines look at the text of any value. */
function asWritten(path: readonly string[], expected: string, isGood: (value: unknown) => boolean): Field {
  const found = ({ object }: TypedCsv): unknown =>
    memberObject(object.value, 'spec', ...path.slice(0, -1))[path.at(-1) ?? ''];
  return { path: ['spec', path[0] ?? ''], expected, isGood: (csv) => isGood(found(csv)) };
}

function hasText(pattern: RegExp): (value: unknown) => boolean {
  return (value) => pattern.test(typeof value === 'string' ? value : compactJson(value ?? ''));
}

const CAPABILITIES: readonly string[] = [
  'Basic Install',
  'Seamless Upgrades',
  'Full Lifecycle',
  'Deep Insights',
  'Auto Pilot',
];
/** The list of operator-pipelines is another one than that of the validators. */
const KNOWN_CATEGORIES: ReadonlySet<string> = new Set([
  ...CATEGORIES.filter((name) => name !== 'Observability'),
  'Drivers and plugins',
]);
const DATE =
  /^\d{4}-?\d{2}-?\d{2}(?:[T ]\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/svg+xml']);

/** Whether a value is a list of mappings that have all names, with texts that may be empty. */
function hasAll(values: unknown, names: readonly string[]): boolean {
  if (!Array.isArray(values) || values.length === 0) return false;
  return values.every((one) => isObject(one) && names.every((name) => typeof one[name] === 'string'));
}

/** Base64 may be wrapped. */
function bare(data: string): string {
  return data.replaceAll(/[ \t\n\r\v\f]/g, '');
}

const FIELDS: readonly Field[] = [
  annotation('capabilities', `one of ${CAPABILITIES.join(', ')}`, (value) => CAPABILITIES.includes(value)),
  annotation('categories', 'categories of OperatorHub, comma-separated', (value) =>
    value.split(',').every((one) => KNOWN_CATEGORIES.has(one.trim())),
  ),
  annotation(
    'containerImage',
    'registry/repository/image:tag or @digest',
    matcherOf(/^[^/]+\/(?:[^/]+\/)*[^/:]+:./),
  ),
  annotation('createdAt', 'a date of ISO 8601', matcherOf(DATE)),
  annotation('repository', 'a URL that begins with http', matcherOf(/^https?:\/\/./)),
  annotation('support', 'at least 3 characters', matcherOf(/^.{3}/s)),
  annotation('description', 'at least 10 characters', matcherOf(/^.{10}/s)),
  asWritten(['displayName'], 'at least 3 characters', hasText(/^.{3}/)),
  asWritten(['description'], 'at least 20 characters', hasText(/^.{20}/s)),
  inSpec(
    'icon',
    'an icon with base64data and the mediatype image/png, image/jpeg, image/gif or image/svg+xml',
    (spec) => {
      const icons = memberObjects(spec, 'icon');
      const isImage = (icon: Fields): boolean =>
        bare(memberText(icon, 'base64data')).length >= 4 &&
        base64Defect(bare(memberText(icon, 'base64data'))) < 0 &&
        IMAGES.has(memberText(icon, 'mediatype'));
      return icons.length > 0 && icons.every(isImage);
    },
  ),
  inSpec(
    'version',
    'a semantic version',
    (spec) => tryParseVersion(memberText(spec, 'version')) !== undefined,
  ),
  inSpec('maintainers', 'a maintainer with name and email', (spec) =>
    hasAll(spec['maintainers'], ['name', 'email']),
  ),
  asWritten(['provider', 'name'], 'a name of at least 3 characters', hasText(/^.{3}/)),
  inSpec('links', 'a link with name and url', (spec) => hasAll(spec['links'], ['name', 'url'])),
  {
    ...asWritten(['keywords'], 'a list of keywords', (keywords) => {
      return (
        Array.isArray(keywords) && keywords.length > 0 && keywords.every((one) => typeof one === 'string')
      );
    }),
    isMild: true,
  },
];

const checkRequiredForStore: (bundle: Inspected, report: Report) => void = csvCheck((csv, report) => {
  for (const { path, expected, isGood, isMild } of FIELDS) {
    if (isGood(csv)) continue;
    const message = `${csvText(csv)}: OperatorHub requires ${path.join('.')}: ${expected}`;
    report(message, csv.at(...path), isMild ? { severity: 'warning' } : {});
  }
});

export const rules: readonly Rule[] = [
  {
    id: 'store/required-field',
    severity: 'error',
    summary:
      'Reports ClusterServiceVersions without a field that OperatorHub requires, as operator-pipelines checks it',
    fix: 'add the field',
    inspect: checkRequiredForStore,
  },
];
