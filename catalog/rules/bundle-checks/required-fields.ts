/**
 * The fields that OperatorHub requires, as operator-pipelines checks them in the community repositories.
 *
 * @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/main/operator-pipeline-images/operatorcert/static_tests/community/bundle.py
 */
import { type Fields, type Inspected, list, member, type TypedCsv, text } from '../../bundle/inspect.ts';
import type { Path } from '../../go/path.ts';
import { base64Defect } from '../../go/shape.ts';
import { tryParseVersion } from '../../version/version.ts';
import type { Report } from '../rule.ts';
import { called, ofCsv } from './csv.ts';

interface Field {
  readonly path: Path;
  /** What must be there, in words. */
  readonly expected: string;
  readonly isGood: (csv: TypedCsv) => boolean;
  /** The pipelines only warn of it. */
  readonly isMild?: true;
}

function annotation(name: string, expected: string, pattern: RegExp, isMild?: true): Field {
  return {
    path: ['metadata', 'annotations', name],
    expected,
    isGood: ({ annotations }) => pattern.test(annotations[name] ?? ''),
    ...(isMild ? { isMild } : {}),
  };
}

function inSpec(name: string, expected: string, isGood: (spec: Fields) => boolean): Field {
  return { path: ['spec', name], expected, isGood: ({ spec }) => isGood(spec) };
}

const CAPABILITIES = /^(?:Basic Install|Seamless Upgrades|Full Lifecycle|Deep Insights|Auto Pilot)$/;
const DATE =
  /^\d{4}-?\d{2}-?\d{2}(?:[T ]\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/svg+xml']);

function hasAll(values: readonly Fields[], names: readonly string[]): boolean {
  return values.length > 0 && values.every((one) => names.every((name) => text(one, name) !== ''));
}

const FIELDS: readonly Field[] = [
  annotation(
    'capabilities',
    'one of Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights and Auto Pilot',
    CAPABILITIES,
  ),
  annotation('categories', 'categories, comma-separated', /\S/, true),
  annotation('containerImage', 'registry/repository/image:tag or @digest', /^[^/]+\/[^/]+\/[^/:]+:.+/),
  annotation('createdAt', 'a date of ISO 8601', DATE),
  annotation('repository', 'a URL that begins with http', /^https?:\/\/./, true),
  annotation('support', 'at least 3 characters', /^.{3}/s),
  annotation('alm-examples', 'at least 30 characters', /^.{30}/s),
  annotation('description', 'at least 10 characters', /^.{10}/s, true),
  inSpec('displayName', 'at least 3 characters', (spec) => /^.{3}/.test(text(spec, 'displayName'))),
  inSpec('description', 'at least 20 characters', (spec) => /^.{20}/s.test(text(spec, 'description'))),
  inSpec(
    'icon',
    'an icon with base64data and the mediatype image/png, image/jpeg, image/gif or image/svg+xml',
    (spec) => {
      const icons = list(spec, 'icon');
      const isImage = (icon: Fields): boolean =>
        text(icon, 'base64data').length >= 4 &&
        base64Defect(text(icon, 'base64data')) < 0 &&
        IMAGES.has(text(icon, 'mediatype'));
      return icons.length > 0 && icons.every(isImage);
    },
  ),
  inSpec('version', 'a semantic version', (spec) => tryParseVersion(text(spec, 'version')) !== undefined),
  inSpec('maintainers', 'a maintainer with name and email', (spec) =>
    hasAll(list(spec, 'maintainers'), ['name', 'email']),
  ),
  inSpec('provider', 'a name of at least 3 characters', (spec) =>
    /^.{3}/.test(text(member(spec, 'provider'), 'name')),
  ),
  inSpec('links', 'a link with name and url', (spec) => hasAll(list(spec, 'links'), ['name', 'url'])),
  inSpec('keywords', 'a keyword', (spec) => list(spec, 'keywords').length > 0),
];

export const checkRequiredForStore: (bundle: Inspected, report: Report) => void = ofCsv((csv, report) => {
  for (const { path, expected, isGood, isMild } of FIELDS) {
    if (isGood(csv)) continue;
    const message = `${called(csv)}: OperatorHub requires ${path.join('.')}: ${expected}`;
    report(message, csv.at(...path), isMild ? { severity: 'warning' } : {});
  }
});
