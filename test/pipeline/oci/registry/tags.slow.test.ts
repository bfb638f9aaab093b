import { describe, expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { reply, startHost, testClient } from '../../../fakes/host.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const at = (host: string) => ({ registry: host, repository: 'a' });

async function all(tags: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const tag of tags) found.push(tag);
  return found;
}

/** A registry whose pages of tags are made by the test from the query. */
const listing = (page: (query: URLSearchParams) => { tags?: unknown; link?: string }) =>
  startHost((request, response) => {
    const url = new URL(request.url, 'http://x');
    if (!url.pathname.endsWith('/tags/list')) return reply(response, 200);
    const { tags, link } = page(url.searchParams);
    reply(response, 200, JSON.stringify({ tags }), link ? { link } : {});
  });

describe('tags', () => {
  test('of a repository, and of none', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    for (const tag of ['v2', 'v1', 'Z']) {
      await pushImage(client, parseReference(`${host}/a:${tag}`), { image: sampleImage() });
    }
    expect(await all(client.listTags(at(host)))).toEqual(['Z', 'v1', 'v2']);
    expect(await all(client.listTags({ registry: host, repository: 'none' }))).toEqual([]);
  });

  test('page after page, by the link', async () => {
    const pages: Record<string, { tags: string[]; link?: string }> = {
      '': { tags: ['a', 'b'], link: '</v2/a/tags/list?n=2&page=2>; rel="next"' },
      2: { tags: ['c'], link: '<list?n=2&page=3>; title="x"; rel=next' },
      3: { tags: ['d'], link: '<list?n=2&page=4>; title="a, b; rel=last"; rel="last next"' },
      4: { tags: ['e'], link: '<list>; rel=first; rel=next, <list?n=2&page=5>; x; REL = Next' },
      5: { tags: [], link: '<list?n=2&page=6>; rev="next"' },
      6: { tags: ['f'] },
    };
    const { host } = await listing((query) => pages[query.get('page') ?? ''] ?? {});
    expect(await all(testClient([host]).listTags(at(host)))).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('page after page where there is no link', async () => {
    const names = Array.from({ length: 2300 }, (_, i) => `t${String(i).padStart(5, '0')}`);
    const { host, asked } = await listing((query) => {
      const rest = names.filter((name) => name > (query.get('last') ?? ''));
      return { tags: rest.slice(0, Number(query.get('n'))) };
    });
    expect(await all(testClient([host]).listTags(at(host)))).toEqual(names);
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  test('pages that go in a circle end', async () => {
    const { host } = await listing(() => ({ tags: ['x'], link: '</v2/a/tags/list?again=1>; rel="next"' }));
    expect(await all(testClient([host]).listTags(at(host)))).toEqual(['x', 'x']);
    const names = Array.from({ length: 1000 }, (_, i) => `t${i}`);
    const deaf = await listing(() => ({ tags: names }));
    expect(await all(testClient([deaf.host]).listTags(at(deaf.host)))).toEqual(names);
  });

  test.each([
    ['without a tag', []],
    ['of many tags', Array.from({ length: 50_000 }, (_, i) => `t${i}`)],
  ])('pages %s that never end are given up', async (_, tags) => {
    let page = 0;
    const { host } = await listing(() => ({
      tags,
      link: `</v2/a/tags/list?page=${++page}>; rel="next"`,
    }));
    await expect(all(testClient([host]).listTags(at(host)))).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringContaining(`${host}/a has too many tags`),
    });
  });

  test('a next page at another host is not fetched', async () => {
    const other = await listing(() => ({ tags: ['stolen'] }));
    const { host } = await listing(() => ({
      tags: ['x'],
      link: `<${other.url}/v2/a/tags/list>; rel="next"`,
    }));
    const listed = all(testClient([host, other.host]).listTags(at(host)));
    await expect(listed).rejects.toMatchObject({ code: 'bad-answer' });
    expect(other.asked).toEqual([]);
  });

  test('what is not a tag is left out, what is not a list is a bad answer', async () => {
    const odd = await listing(() => ({ tags: ['ok', '../x', '', 7, null, 'a b', '-x', 'x'.repeat(129)] }));
    expect(await all(testClient([odd.host]).listTags(at(odd.host)))).toEqual(['ok']);
    const none = await listing(() => ({ tags: null }));
    expect(await all(testClient([none.host]).listTags(at(none.host)))).toEqual([]);
    const text = await listing(() => ({ tags: 'a,b' }));
    await expect(all(testClient([text.host]).listTags(at(text.host)))).rejects.toMatchObject({
      code: 'bad-answer',
    });
  });
});
