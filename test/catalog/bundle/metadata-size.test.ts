import { expect, test } from 'vitest';
import { judgeArchive } from '../../fakes/rule-fixture.ts';

/** Findings on an object whose annotations have so many bytes, keys and values together. */
async function found(bytes: number): Promise<string[]> {
  const note = { a: 'ü'.repeat(100), b: 'b'.repeat(bytes - 202) };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', annotations: note } };
  const findings = await judgeArchive(new Map([['manifests/a.yaml', JSON.stringify(object)]]));
  return findings.filter(({ rule }) => rule === 'manifest/metadata').map(({ message }) => message);
}

test('the annotations of an object have at most 256 KiB, as the API server takes them', async () => {
  expect(await found(256 * 1024)).toEqual([]);
  expect(await found(256 * 1024 + 1)).toEqual(['ConfigMap "a": metadata.annotations has more than 256 KiB']);
});
