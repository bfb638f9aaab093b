import { describe, expect, test } from 'vitest';
import {
  any,
  base64Defect,
  bool,
  bytes,
  fitStruct,
  int32,
  listOf,
  mapOf,
  structShape,
  text,
} from '../../../catalog/go/shape.ts';

const INNER = structShape('x.Inner', { name: text, skips: listOf(text) });
const SHAPE = structShape('x.Outer', {
  title: text,
  flag: bool,
  count: int32,
  data: bytes,
  anything: any,
  labels: mapOf(text),
  inner: listOf(INNER),
});

describe('fitStruct', () => {
  test('reads the second of two objects for one field into the first, as Go does', () => {
    const value = { labels: { a: '1', b: '2' }, Labels: { a: '3' }, anything: { a: 1 }, Anything: { b: 2 } };
    const fitted = { labels: { a: '1', b: '2' }, anything: { a: 1 } };
    expect(fitStruct(value, SHAPE).value).toEqual(fitted);
    expect(fitStruct({ labels: { a: '1' }, labelſ: {} }, SHAPE).value).toEqual({ labels: { a: '1' } });
  });

  test('gives back a value that fits, itself', () => {
    const value = { title: 'a', inner: [{ name: 'b', skips: ['c'] }], anything: { x: 1 } };
    expect(fitStruct(value, SHAPE).value).toBe(value);
  });

  test('renames keys of another case, leaves out unknown ones and nulls', () => {
    const { value, misfits } = fitStruct(
      { TITLE: 'a', unknown: 1, flag: null, Inner: [{ NAME: 'b' }] },
      SHAPE,
    );
    expect(misfits).toEqual([]);
    expect(value).toEqual({ title: 'a', inner: [{ name: 'b' }] });
  });

  test('keeps null where any JSON may stand', () => {
    expect(fitStruct({ anything: null, unknown: 1 }, SHAPE).value).toEqual({ anything: null });
  });

  test('of keys that differ by case the last in byte order wins', () => {
    expect(fitStruct({ title: 'lower', Title: 'upper' }, SHAPE).value).toEqual({ title: 'lower' });
  });

  test('finds every misfit, with the path to it and the words of Go', () => {
    const { misfits } = fitStruct(
      { title: 1, flag: 'yes', count: 1.5, labels: { a: true }, inner: [{ name: [] }, 'x', { skips: 'y' }] },
      SHAPE,
    );
    expect(misfits.map(({ path, go }) => `${path.join('.')}: ${go}`)).toEqual([
      'title: json: cannot unmarshal number into Go struct field Outer.title of type string',
      'flag: json: cannot unmarshal string into Go struct field Outer.flag of type bool',
      'count: json: cannot unmarshal number into Go struct field Outer.count of type int32',
      'labels.a: json: cannot unmarshal bool into Go struct field Outer.labels of type string',
      'inner.0.name: json: cannot unmarshal array into Go struct field Inner.inner.name of type string',
      'inner.1: json: cannot unmarshal string into Go struct field Outer.inner of type x.Inner',
      'inner.2.skips: json: cannot unmarshal string into Go struct field Inner.inner.skips of type []string',
    ]);
  });

  test('a value that is not an object at all', () => {
    expect(fitStruct('x', SHAPE).misfits).toMatchObject([
      { go: 'json: cannot unmarshal string into Go value of type x.Outer' },
    ]);
  });
});

test.each([
  ['', -1],
  ['aGk=', -1],
  ['aG\nk=\n', -1],
  ['***', 0],
  ['aGVsbG', 4],
  ['aG==x', 4],
  ['aG=x', 3],
  ['a===', 1],
])('base64Defect(%j) is %i', (value, offset) => expect(base64Defect(value)).toBe(offset));
