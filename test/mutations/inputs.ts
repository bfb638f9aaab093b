/** Defences of what reads foreign input: files that name people, codecs, expressions, requests. */
import type { Mutation } from './mutation.ts';

const PATTERN = 'pipeline/policy/owners/code-owners-pattern.ts';
const PATTERN_TEST = 'test/pipeline/policy/owners/code-owners-pattern.test.ts';
const OWNERS_TEST = 'test/pipeline/policy/owners/owners.test.ts';

export const INPUT_MUTATIONS: readonly Mutation[] = [
  {
    attack: 41,
    without: '`**` that stands for any number of names',
    file: PATTERN,
    text: "name === '**' ? 'any' : nameMatcher(name)",
    instead: "name === '**' ? anyItem : nameMatcher(name)",
    test: PATTERN_TEST,
  },
  {
    attack: 41,
    without: 'taking what an unknown pattern may match from the lines before it',
    file: PATTERN,
    text: 'return (path) => path.startsWith(literal);',
    instead: 'return (path) => path === literal;',
    test: PATTERN_TEST,
  },
  {
    attack: 42,
    without: 'errors for duplicate keys',
    file: 'pipeline/settings.ts',
    text: 'settings: findings.length > 0 ? undefined : settings',
    instead: 'settings',
    test: OWNERS_TEST,
  },
  {
    attack: 42,
    without: 'errors for tags, anchors and aliases',
    file: 'catalog/yaml/parser.ts',
    text: 'if (this.#plain) refuseUnlessPlain(first);',
    instead: '',
    test: OWNERS_TEST,
  },
];
