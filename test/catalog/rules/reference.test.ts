import { expect, test } from 'vitest';
import { tryParseReference } from '../../../catalog/reference.ts';
import { isPlainReference } from '../../../catalog/rules/bundle/reference.ts';

const DIGEST = `@sha256:${'0123456789abcdef'.repeat(4)}`;
const WORDS = [
  'quay.io',
  'registry.example-1.com',
  'docker.io',
  'index.docker.io',
  'localhost',
  'a.b',
  '1.2',
];
const PARTS = [
  'a',
  'my-operator',
  'a_b',
  'a__b',
  'x.y',
  'UP',
  '-a',
  'a-',
  '',
  'a'.repeat(31),
  `${'a-'.repeat(20)}z`,
];

test('whatever looks like a plain reference is one', () => {
  let plain = 0;
  for (const host of WORDS) {
    for (const first of PARTS) {
      for (const second of ['', ...PARTS.map((part) => `/${part}`)]) {
        for (const end of [DIGEST, '', ':v1', `:v1${DIGEST}`, DIGEST.slice(1), `${DIGEST}0`, `${DIGEST}\n`]) {
          const text = `${host}/${first}${second}${end}`;
          if (!isPlainReference(text)) continue;
          plain++;
          expect(tryParseReference(text), text).toBeDefined();
        }
      }
    }
  }
  expect(plain).toBeGreaterThan(50);
});

test('a name longer than Docker allows is not plain', () => {
  const part = 'a'.repeat(30);
  expect(
    isPlainReference(`a.io/${[part, part, part].join('-')}/${[part, part, part].join('-')}${DIGEST}`),
  ).toBe(false);
});
