/** The glossary: each concept once, and pages without the terms that it has retired. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CONCEPTS, firstColumn, pattern, RETIRED, retiredTerms } from './fakes/glossary.ts';

/** Pages that are written with the glossary's terms. Add a page when it is rewritten; take none away. */
const PAGES = [
  'CHANGELOG.md',
  'README.md',
  'SECURITY.md',
  'docs/action.md',
  'docs/adoption.md',
  'docs/advisories.md',
  'docs/architecture.md',
  'docs/bundle-differences.md',
  'docs/cases.md',
  'docs/comparison.md',
  'docs/compatibility.md',
  'docs/crd-safety.md',
  'docs/disconnected.md',
  'docs/editor.md',
  'docs/faq.md',
  'docs/fleet.md',
  'docs/from-konflux.md',
  'docs/from-oc-mirror.md',
  'docs/from-operator-pipelines.md',
  'docs/functions.md',
  'docs/glossary.md',
  'docs/index-image.md',
  'docs/kubernetes.md',
  'docs/monitor.md',
  'docs/opm.md',
  'docs/performance.md',
  'docs/policy-engines.md',
  'docs/policy.md',
  'docs/references.md',
  'docs/releasing.md',
  'docs/rings.md',
  'docs/runbook.md',
  'docs/start-contributor.md',
  'docs/start-maintainer.md',
  'docs/start-release-engineer.md',
  'docs/suggest-graph.md',
  'docs/threat-model.md',
];

/** A page's lines without code, links' targets and what the page quotes as retired. */
function prose(page: string): string[] {
  const text = page === 'docs/glossary.md' ? CONCEPTS : readFileSync(page, 'utf8');
  const blank = (code: string): string => code.replaceAll(/[^\n]+/g, '');
  return text
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    .replaceAll(/`[^`\n]*`/g, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split('\n');
}

test('each concept is in the glossary once', () => {
  const terms = firstColumn(CONCEPTS).flatMap((row) => row.split(', '));
  expect(terms.length).toBeGreaterThan(50);
  expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
  expect(terms.filter((term) => RETIRED.has(term))).toEqual([]);
});

describe('pages have none of the retired terms', () => {
  test.each(PAGES)('%s', (page) => {
    expect(RETIRED.get('road')).toBe('upgrade path');
    const found = prose(page).flatMap((line, index) =>
      retiredTerms(line).map((term) => `${page}:${index + 1}: ${term}`),
    );
    expect(found).toEqual([]);
  });
});

test.each([
  ['its road ends here', 'road', true],
  ['the roadmap', 'road', false],
  ['this is no verdict', 'is no', true],
  ['there is no registry', 'is no', false],
  ['it is no longer served', 'is no', false],
  ['Turn by turn', 'Turn', true],
  ['in turn', 'Turn', false],
])('%s: %s %s', (line, term, found) => expect(pattern(term).test(line)).toBe(found));
