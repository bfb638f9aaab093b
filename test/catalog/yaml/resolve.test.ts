import { expect, test } from 'vitest';
import { readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { structShape, text } from '../../../catalog/go/shape.ts';
import { asText } from '../../../catalog/yaml/resolve.ts';

const SHAPE = structShape('test.Type', { name: text });

/** The text that sigs.k8s.io/yaml v1.6.0 makes of a plain scalar. */
const TEXTS: Readonly<Record<string, string>> = {
  '123456789': '123456789',
  '123456789.0': '1.2345679e+08',
  '1e19': '1e+19',
  '1e3': '1000',
  '0x7fffffffffffffff': '9223372036854775807',
  '-9223372036854775808': '-9223372036854775808',
  '-9223372036854775809': '-9.223372e+18',
  '18446744073709551615': '18446744073709551615',
  '18446744073709551616': '1.8446744e+19',
  true: 'true',
};

test.each(Object.entries(TEXTS))('%s as text', (written, expected) => {
  for (const [label, yaml] of [
    ['plain', `name: ${written}\n`],
    ['alias', `x: &x ${written}\nname: *x\n`],
  ] as const) {
    const [first] = readManifestFile('a.yaml', Buffer.from(yaml)).documents;
    if (first?.kind !== 'value') throw new Error('not read');
    expect(asText(first.value, SHAPE, first.tree()), label).toMatchObject({ name: expected });
  }
});
