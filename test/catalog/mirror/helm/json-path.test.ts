/** JSONPath as kubectl reads it. */
import { expect, test } from 'vitest';
import { JsonPathError, parseJsonPath, textsAt } from '../../../../catalog/mirror/helm/json-path.ts';

const OBJECT = {
  spec: {
    image: 'a',
    'image.name': 'dotted',
    containers: [
      { name: 'one', image: 'b', port: 80 },
      { name: 'two', image: 'c', port: 8080 },
      { name: 'three', port: 443 },
    ],
    nested: { deeper: { image: 'd' } },
  },
};

// Results as `kubectl get -o jsonpath` prints them.
test.each([
  ['{.spec.image}', ['a']],
  ['{$.spec.image}', ['a']],
  ['{spec.image}', ['a']],
  ['{.spec.containers[*].image}', ['b', 'c']],
  ['{.spec.containers[0].image}', ['b']],
  ['{.spec.containers[-2].image}', ['c']],
  ['{.spec.containers[0:2].name}', ['one', 'two']],
  ['{.spec.containers[::2].name}', ['one', 'three']],
  ['{.spec.containers[0,2].name}', ['one', 'three']],
  ["{.spec['image']}", ['a']],
  ["{.spec['image','nothing']}", ['a']],
  ['{.spec.image\\.name}', ['dotted']],
  ['{..image}', ['a', 'b', 'c', 'd']],
  ['{.spec.containers[?(@.name=="two")].image}', ['c']],
  ["{.spec.containers[?(@.name!='two')].image}", ['b']],
  ['{.spec.containers[?(@.port>100)].name}', ['two', 'three']],
  ['{.spec.containers[?(@.name==@.name)].name}', ['one', 'two', 'three']],
  ['{.spec.containers[?(@.none==@.none)].name}', []],
  ['{.spec.containers[?(@.name!=@.none)].name}', []],
  ['{.spec.containers[?(@.image)].name}', ['one', 'two']],
  ['{.spec.nested.*.image}', ['d']],
  ['{.spec.image} {.spec.nested.deeper.image}', ['a', 'd']],
  ['{.metadata.image}', []],
  ['{.spec.containers[7].image}', []],
  ['{.spec.containers}', []],
])('%s', (path, found) => {
  expect(textsAt(OBJECT, parseJsonPath(path))).toEqual(found);
});

test.each([
  ['.spec.image', 'has no path in braces'],
  ['', 'has no path in braces'],
  ['{.spec.image', 'has a brace that is not closed'],
  ['{.spec.containers[*.image}', 'has a bracket that is not closed'],
  ['{.spec.containers[a]}', 'cannot be read at "[a]"'],
  ['{.spec.containers[::0]}', 'cannot be read at'],
  ['{.spec image}', 'cannot be read at " image"'],
  ['{range .items[*]}{.x}{end}', 'uses range'],
  ['{.a[?(@.b == )]}', 'has a filter that cannot be read'],
])('%s is refused', (path, why) => {
  expect(() => parseJsonPath(path)).toThrow(JsonPathError);
  expect(() => parseJsonPath(path)).toThrow(why);
});

test('a path that is too long is refused', () => {
  expect(() => parseJsonPath(`{.${'a'.repeat(1000)}}`)).toThrow('is longer than 1000 characters');
});

test('43: a path that finds more and more values is ended', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ a: { b: [i] } }));
  expect(() => textsAt(many, parseJsonPath(`{${'..*'.repeat(200)}}`))).toThrow(
    'finds more than 1000000 values',
  );
  expect(() => textsAt(many, parseJsonPath(`{$[?(${'@..*'}${'..*'.repeat(100)})]}`))).toThrow(JsonPathError);
  expect(textsAt(many, parseJsonPath('{..b[*]}'))).toEqual([]);
});
