/** The glossary's tables: concepts, and the terms that it has retired. */
import { readFileSync } from 'node:fs';

const [concepts = '', retired = ''] = readFileSync('docs/glossary.md', 'utf8').split('## Retired terms');

/** The glossary without its table of retired terms. */
export const CONCEPTS: string = concepts;

/** The first column of a page's tables, without their heads. */
export function firstColumn(text: string): string[] {
  const rows = [...text.matchAll(/^\| ([^|]+?) \|/gm)].map(([, term = '']) => term);
  return rows.filter((term) => term !== 'term' && term !== 'retired');
}

export const RETIRED: readonly string[] = firstColumn(retired);

/** Finds a retired term as words of their own; "there is no" and "is no longer" are English. */
export function pattern(term: string): RegExp {
  const flags = /^[A-Z]/.test(term) ? '' : 'i';
  const plural = /^[a-z]+$/.test(term) && !term.endsWith('s') ? 's?' : '';
  return new RegExp(`(?<!there )\\b${term}${plural}\\b(?! longer)`, flags);
}
