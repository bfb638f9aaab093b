/** The exported cases say all that is needed to run them: read back from JSON, they are judged as the tests judge them. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Finding } from '../catalog/finding.ts';
import { type CaseSuite, casesFile } from '../scripts/release/cases.ts';
import { folder } from './fakes/folder.ts';
import { judgeChange, judgeFiles, judgeState } from './fakes/rule-fixture.ts';

const suite: CaseSuite = JSON.parse(casesFile.text());
type ValidatorCase = CaseSuite['validators'][number];

async function judge({ kind, file = '', before = '', files, context }: ValidatorCase) {
  if (kind === 'folder')
    return judgeFiles(new Map(Object.entries(files)), JSON.stringify(context?.['options'] ?? {}));
  const at = folder(files);
  return kind === 'change' ? judgeChange(at, before) : judgeState(at, file);
}

function shown({ location, rule, message }: Finding): string {
  return `${location.file.split('/').at(-1)}:${location.line}: ${rule}: ${message}`;
}

describe.each([...new Set(suite.validators.map(({ rule }) => rule))])('%s', (rule) => {
  test('cases give what they expect', async () => {
    for (const one of suite.validators.filter((all) => all.rule === rule)) {
      const watched = new Set([rule, ...one.expected.map((expected) => expected.rule)]);
      const found = (await judge(one)).filter((finding) => watched.has(finding.rule));
      const rest = [...found];
      for (const { file, line, rule: of, message } of one.expected) {
        const at = rest.findIndex(
          ({ location, rule: its, message: text }) =>
            its === of && location.line === line && text.includes(message) && location.file.endsWith(file),
        );
        expect(at, `${one.id}: ${file}:${line}: ${of}`).toBeGreaterThanOrEqual(0);
        rest.splice(at, 1);
      }
      expect(rest.map(shown), one.id).toEqual([]);
    }
  });
});

test('every case has an id of its own, and every fixture a case', () => {
  const all = [...suite.resolvers, ...suite.validators].map(({ id }) => id);
  expect(new Set(all).size).toBe(all.length);
  const fixtures = readdirSync('test/rules', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.txtar') || name.endsWith('.head.yaml'),
  );
  const sources = new Set(suite.validators.map(({ source }) => source));
  for (const name of fixtures) expect(sources).toContain(`test/rules/${name}`);
  const lines = readFileSync('test/catalog/olm/fixtures/resolved.jsonl', 'utf8').trim().split('\n');
  expect(
    suite.resolvers.map(({ olm, input, expected }) => ({ engine: olm, ...input, answer: expected })),
  ).toEqual(lines.map((line) => JSON.parse(line)));
});
