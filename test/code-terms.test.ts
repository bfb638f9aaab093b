/** Code without the words that the glossary has retired: in names, comments and texts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { retiredTerms } from './fakes/glossary.ts';

/** Written by `npm run generate` from files that have their own tests, or made by tools for tools. */
const GENERATED = ['pipeline/report/page/script.ts', 'pipeline/policy/setup/workflows.ts'];

/** Public names, which stay, and what other tools and formats write: a line with one of them is not looked at. */
const QUOTED: readonly RegExp[] = [
  /\bfates\b/, // docs/check-report.schema.json
  /\broads\b/, // the answer of `portolan next --format json`
  /'not judged'/, // authority.decision in docs/check-report.schema.json
  /setOutput\('judged'/, // an output of the Action
  /\binTurn\b/, // one after the other
  /(?:resource|service|webhook)\S*?definitions/i, // fields of a ClusterServiceVersion, and their types in Go
  /registry\.definitions|APIService definitions|definitions: mapOf\(JSON_SCHEMA\)|'patternProperties'/, // operator-registry, library-olm, JSON Schema
];

/** Words that a name is made of: `readRoadOf` has `read`, `Road` and `Of`. */
function words(line: string): string {
  return line.replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ').replaceAll('_', ' ');
}

/** The lines of a text that have a retired term, each with the term. */
function retiredIn(text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    if (QUOTED.some((quoted) => quoted.test(line))) return [];
    return retiredTerms(words(line)).map((term) => `${index + 1}: ${term}`);
  });
}

const FILES = ['catalog', 'pipeline', 'functions', 'playground'].flatMap((layer) =>
  readdirSync(layer, { recursive: true, encoding: 'utf8' })
    .map((file) => join(layer, file))
    .filter((file) => file.endsWith('.ts') && !GENERATED.includes(file)),
);

test.each(['catalog', 'pipeline', 'functions', 'playground'])(
  '%s/ has none of the retired terms',
  (layer) => {
    const files = FILES.filter((file) => file.startsWith(`${layer}/`));
    expect(files.length).toBeGreaterThan(5);
    const found = files.flatMap((file) => [
      ...retiredTerms(file.replaceAll(/[-/.]/g, ' ')).map((term) => `${file}: named after ${term}`),
      ...retiredIn(readFileSync(file, 'utf8')).map((at) => `${file}:${at}`),
    ]);
    expect(found).toEqual([]);
  },
);

describe('a retired term is found in', () => {
  test.each([
    ['a function', 'function roadOf(): void {}', '1: road → upgrade path'],
    ['a constant', 'const MOST_ROADWORKS = 1, LAST_ROAD = 2;', '1: road → upgrade path'],
    ['a comment', '/** The fate of an installation. */', '1: fate → upgrade impact'],
    ['a text', "throw new Error('this is no version');", '1: is no → is not a'],
  ])('%s', (_, line, found) => expect(retiredIn(line)).toEqual([found]));

  test.each(['const broadcast = 1;', '// There is no version.', 'const { roads } = answer;'])(
    'not in %s',
    (line) => expect(retiredIn(line)).toEqual([]),
  );
});
