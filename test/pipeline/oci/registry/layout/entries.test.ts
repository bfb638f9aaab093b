import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Entry,
  formatIndex,
  parseIndex,
  REF_NAME,
  REPOSITORY,
  withManifest,
  withoutManifest,
  withoutTag,
} from '../../../../../pipeline/oci/registry/layout/entries.ts';
import type { Descriptor } from '../../../../../pipeline/ports.ts';

const digest = (n: number): string => `sha256:${String(n).padStart(64, '0')}`;
const manifest = (n: number): Descriptor => ({
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  digest: digest(n),
  size: n,
});
const none: ReadonlySet<string> = new Set();

const put = (entries: readonly Entry[], repository: string, tag: string | undefined, n: number, extra = {}) =>
  withManifest(entries, { repository, tag, descriptor: manifest(n), within: none, held: none, ...extra });
/** `repository:tag=number` of each entry, `-` for no tag. */
const told = (entries: readonly Entry[]): string[] =>
  entries.map(({ repository, tag, descriptor }) => `${repository}:${tag ?? '-'}=${descriptor.size}`);

function index(...manifests: readonly object[]) {
  return parseIndex(Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })), 'index.json');
}

describe('names in the file', () => {
  test.each([
    [{ [REF_NAME]: 'v1' }, '', 'v1'],
    [{ [REF_NAME]: 'a/b:v1' }, 'a/b', 'v1'],
    [{ [REF_NAME]: 'quay.io/org/app:v1' }, 'quay.io/org/app', 'v1'],
    [{}, '', undefined],
    [{ [REPOSITORY]: 'a/b' }, 'a/b', undefined],
    [{ [REF_NAME]: 'Not/A:name' }, undefined, undefined],
    [{ [REF_NAME]: 'a/b@sha256:x' }, undefined, undefined],
    [{ [REF_NAME]: '../../etc:v1' }, undefined, undefined],
    [{ [REF_NAME]: 'localhost:5000/a:v1' }, undefined, undefined],
  ])('%j', (annotations, repository, tag) => {
    expect(index({ ...manifest(1), annotations }).entries[0]).toMatchObject({ repository, tag });
  });

  test('what others wrote stays, wherever it stands', () => {
    const text = JSON.stringify({
      schemaVersion: 2,
      annotations: { theirs: 'x' },
      manifests: [
        {
          ...manifest(1),
          platform: { os: 'linux', architecture: 'amd64' },
          annotations: { [REF_NAME]: 'v1', more: 'y' },
        },
        { ...manifest(2), annotations: { [REF_NAME]: 'Un/Readable:x' }, unknown: [1] },
      ],
    });
    const read = parseIndex(Buffer.from(text), 'index.json');
    expect(JSON.parse(formatIndex(read))).toEqual(JSON.parse(text));
    const moved = JSON.parse(formatIndex({ ...read, entries: put(read.entries, '', 'v1', 3) }));
    expect(moved).toMatchObject({
      annotations: { theirs: 'x' },
      manifests: [
        { digest: digest(1), platform: { os: 'linux' }, annotations: { more: 'y' } },
        { digest: digest(2), annotations: { [REF_NAME]: 'Un/Readable:x' }, unknown: [1] },
        { digest: digest(3), annotations: { [REF_NAME]: 'v1' } },
      ],
    });
    expect(moved.manifests[0].annotations[REF_NAME]).toBeUndefined();
  });

  test.each([
    ['no JSON', '{'],
    ['no list', '{"manifests":{}}'],
    ['no digest', '{"manifests":[{}]}'],
  ])('%s is refused with the file named', (_, text) => {
    expect(() => parseIndex(Buffer.from(text), 'DIR/index.json')).toThrow(
      expect.objectContaining({ code: 'corrupt', message: expect.stringContaining('DIR/index.json') }),
    );
  });
});

describe('changes', () => {
  test('a tag that moves leaves its manifest under its digest', () => {
    const one = put([], 'a', 'v1', 1);
    expect(told(put(one, 'a', 'v1', 2))).toEqual(['a:-=1', 'a:v1=2']);
    expect(told(put(put(one, 'a', 'v2', 1), 'a', 'v1', 2))).toEqual(['a:v2=1', 'a:v1=2']);
  });

  test('a manifest that has a name needs no entry without one', () => {
    expect(told(put(put([], 'a', undefined, 1), 'a', 'v1', 1))).toEqual(['a:v1=1']);
    expect(told(put(put([], 'a', 'v1', 1), 'a', undefined, 1))).toEqual(['a:v1=1']);
    expect(told(put(put([], 'a', 'v1', 1), 'b', undefined, 1))).toEqual(['a:v1=1', 'b:-=1']);
  });

  test('the manifests of a list need none either', () => {
    const children = put(put([], 'a', undefined, 1), 'a', undefined, 2);
    expect(told(put(children, 'a', 'v1', 3, { within: new Set([digest(1), digest(2)]) }))).toEqual([
      'a:v1=3',
    ]);
    expect(told(put([], 'a', undefined, 1, { held: new Set([digest(1)]) }))).toEqual([]);
    const was = put([], 'a', 'v1', 1);
    expect(told(put(was, 'a', 'v1', 3, { within: new Set([digest(1)]) }))).toEqual(['a:v1=3']);
  });

  test('nothing to change gives back the same entries', () => {
    const entries = put([], 'a', 'v1', 1);
    expect(put(entries, 'a', 'v1', 1)).toBe(entries);
    expect(put(entries, 'a', undefined, 1)).toBe(entries);
  });

  test('removing', () => {
    const entries = put(put(put([], 'a', 'v1', 1), 'a', 'v2', 1), 'b', 'v1', 1);
    expect(told(withoutTag(entries, 'a', 'v1'))).toEqual(['a:v2=1', 'b:v1=1']);
    expect(told(withoutTag(withoutTag(entries, 'a', 'v1'), 'a', 'v2'))).toEqual(['a:-=1', 'b:v1=1']);
    const removed = withoutManifest(entries, { repository: 'a', digest: digest(1), orphans: [manifest(7)] });
    expect(told(removed)).toEqual(['b:v1=1', 'a:-=7']);
  });
});

test('whatever is done, tags name what was put last, and every manifest is found once', () => {
  const step = fc.record({
    kind: fc.constantFrom('put', 'untag', 'remove'),
    repository: fc.constantFrom('', 'a', 'a/b'),
    tag: fc.option(fc.constantFrom('v1', 'v2'), { nil: undefined }),
    n: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let entries: readonly Entry[] = [];
      const tags = new Map<string, number>();
      const held = new Set<string>();
      for (const { kind, repository, tag, n } of steps) {
        const key = `${repository}:${tag}`;
        if (kind === 'put') {
          entries = put(entries, repository, tag, n);
          if (tag !== undefined) tags.set(key, n);
          held.add(`${repository}=${n}`);
        } else if (kind === 'untag' && tag !== undefined) {
          entries = withoutTag(entries, repository, tag);
          tags.delete(key);
        } else if (kind === 'remove') {
          entries = withoutManifest(entries, { repository, digest: digest(n), orphans: [] });
          for (const [name, value] of tags)
            if (value === n && name.startsWith(`${repository}:`)) tags.delete(name);
          held.delete(`${repository}=${n}`);
        }
        const { entries: read } = parseIndex(Buffer.from(formatIndex({ entries, rest: {} })), 'x');
        expect(told(read)).toEqual(told(entries));
        const named = read.filter((entry) => entry.tag !== undefined);
        expect(
          new Map(named.map((entry) => [`${entry.repository}:${entry.tag}`, entry.descriptor.size])),
        ).toEqual(tags);
        expect(named).toHaveLength(tags.size);
        expect(new Set(read.map((entry) => `${entry.repository}=${entry.descriptor.size}`))).toEqual(held);
        const nameless = read.filter((entry) => entry.tag === undefined).map((entry) => told([entry])[0]);
        expect(new Set(nameless).size).toBe(nameless.length);
      }
    }),
  );
});
