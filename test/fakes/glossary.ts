/** The glossary's concepts, and the terms that are retired. */
import { readFileSync } from 'node:fs';

export const CONCEPTS: string = readFileSync('docs/glossary.md', 'utf8');

/** The first column of a page's tables, without their heads. */
export function firstColumn(text: string): string[] {
  const rows = [...text.matchAll(/^\| ([^|]+?) \|/gm)].map(([, term = '']) => term);
  return rows.filter((term) => term !== 'term');
}

/** Each retired term with what replaces it: a line of the file, with a colon between them. */
export const RETIRED: ReadonlyMap<string, string> = new Map(
  readFileSync('test/fakes/retired-terms.txt', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
);

const PATTERNS = [...RETIRED].map(([term, instead]) => ({
  said: `${term} → ${instead}`,
  found: pattern(term),
}));

/** The retired terms in a text, each with what to write instead. */
export function retiredTerms(text: string): string[] {
  return PATTERNS.filter(({ found }) => found.test(text)).map(({ said }) => said);
}

/** Finds a retired term as words of their own; "there is no" and "is no longer" are English. */
export function pattern(term: string): RegExp {
  const flags = /^[A-Z]/.test(term) ? '' : 'i';
  const plural = /^[a-z]+$/.test(term) && !term.endsWith('s') ? 's?' : '';
  return new RegExp(`(?<!there )\\b${term}${plural}\\b(?! longer)`, flags);
}
