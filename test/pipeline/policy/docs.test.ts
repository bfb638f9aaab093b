import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { readPolicy } from '../../../pipeline/policy/read-policy.ts';
import schema from '../../../pipeline/policy.schema.json' with { type: 'json' };

const text = ['docs/policy.md', 'docs/policy-reference.md', 'docs/policy-engines.md']
  .map((page) => readFileSync(page, 'utf8'))
  .join('\n');
const blocks = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block);
const HEAD = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';
const whole = (block: string): Uint8Array =>
  new TextEncoder().encode(block.includes('apiVersion') ? block : HEAD + block);

test('the schema is one, by the rules of its own schema', () => {
  expect(() => new Ajv({ strict: true, allErrors: true }).compile(schema)).not.toThrow();
});

describe('the documentation of the policy', () => {
  test.each(blocks.map((block) => [block.split('\n').slice(0, 4).join(' '), block]))('%s', (_, block) => {
    expect(readPolicy(whole(block)).findings).toEqual([]);
  });

  test('shows the defaults that hold', () => {
    const block = blocks.find((one) => one.includes('branches:')) ?? '';
    const written = readPolicy(whole(block)).policy;
    const defaults = readPolicy(undefined).policy;
    const plain = (policy: typeof defaults): unknown => ({
      ...policy,
      layout: policy?.layout.patterns.map(({ kind, pattern }) => [kind, pattern]),
    });
    expect(plain(written)).toEqual(plain(defaults));
  });

  test('names every key', () => {
    const keys = new Set<string>();
    const collect = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      if ('properties' in node && typeof node.properties === 'object' && node.properties !== null) {
        for (const key of Object.keys(node.properties)) keys.add(key);
      }
      for (const value of Object.values(node)) collect(value);
    };
    collect(schema);
    const missing = [...keys].filter((key) => !new RegExp(`(?:\`|\\b)${key}(?:\`|:)`).test(text));
    expect(missing).toEqual([]);
  });
});
