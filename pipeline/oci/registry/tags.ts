/** The tags of a repository, page by page. */

import { parseJson } from '../../../catalog/json.ts';
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Repository } from '../../ports.ts';
import type { Endpoint } from './endpoint.ts';
import type { Answer } from './http/exchange.ts';
import { isTag } from './name.ts';
import { failureOf, headerOf, readAll } from './response.ts';

/** Tags to ask for in one page. */
const PAGE = 1000;
/** Bytes of a page at most: some registries send all tags in one. */
const PAGE_BYTES = 8 * 1024 * 1024;
/** Pages, and tags, of one repository at most: there is always a next page where a registry means harm. */
const MOST_PAGES = 5000;
const MOST_TAGS = 1_000_000;

/** Tags as the registry lists them; a repository that does not exist has none. */
export async function* listTags(endpoint: Endpoint, of: Repository): AsyncGenerator<string, void, undefined> {
  const count = endpoint.quirks.largestPage ?? PAGE;
  const first = new URL(`/v2/${of.repository}/tags/list?n=${count}`, endpoint.base);
  const seen = new Set<string>();
  let tags = 0;
  let last: string | undefined;
  for (let url: URL | undefined = first; url !== undefined; ) {
    // A registry whose next page is an earlier one would be read for ever.
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const page: Page = await readPage(endpoint, of, url);
    // A registry that does not know `last` gives its first page again.
    if (page.next === undefined && last !== undefined && page.tags.at(-1) === last) return;
    last = page.tags.at(-1);
    tags += page.tags.length;
    if (seen.size > MOST_PAGES || tags > MOST_TAGS) {
      throw new PipelineError(
        'too-large',
        `${repositoryName(of)} has too many tags, the limit is ${MOST_TAGS} in ${MOST_PAGES} pages`,
      );
    }
    yield* page.tags.filter(isTag);
    url = page.next ?? guessNextPage(page, first, count);
  }
}

interface Page {
  readonly tags: readonly string[];
  readonly next: URL | undefined;
}

/** One page of tags; an empty one for a repository that does not exist. */
function readPage(endpoint: Endpoint, of: Repository, url: URL): Promise<Page> {
  const what = `the tags of ${repositoryName(of)}`;
  return endpoint.attempt(async (budget) => {
    const access = { repository: of.repository, actions: 'pull' } as const;
    const answer = await endpoint.ask({ method: 'GET', to: url, access, what }, budget);
    if (answer.status === 404) {
      await answer.discard();
      return { tags: [], next: undefined };
    }
    if (answer.status !== 200) throw await failureOf(answer, what);
    const next = nextPage(endpoint, answer, what);
    return { tags: tagsOf(await readAll(answer, PAGE_BYTES, what), endpoint.registry), next };
  });
}

/** A full page without a link: registries of before the link existed go on after the last tag. */
function guessNextPage({ tags }: Page, first: URL, count: number): URL | undefined {
  const last = tags.at(-1);
  if (tags.length !== count || last === undefined) return undefined;
  const url = new URL(first);
  url.searchParams.set('last', last);
  return url;
}

/** The tags in a page's body. @throws PipelineError `bad-answer` for anything but a list */
function tagsOf(body: Buffer, registry: string): string[] {
  let tags: unknown;
  try {
    tags = Object(parseJson(body)).tags ?? [];
  } catch {
    tags = undefined;
  }
  if (!Array.isArray(tags)) throw new PipelineError('bad-answer', `${registry} returned an invalid tag list`);
  return tags.filter((tag): tag is string => typeof tag === 'string');
}

/**
 * The page that a `Link` header names; undefined without one.
 *
 * @throws PipelineError `bad-answer` for a page on another host
 * @see https://www.rfc-editor.org/rfc/rfc8288
 */
export function nextPage(endpoint: Endpoint, answer: Answer, what: string): URL | undefined {
  const link = nextLink(headerOf(answer, 'link') ?? '');
  if (link === undefined) return undefined;
  const url = endpoint.follow(link, answer.url);
  if (url.origin === endpoint.base.origin) return url;
  throw new PipelineError(
    'bad-answer',
    `${endpoint.registry} continues ${what} at another host, ${url.host}`,
  );
}

/** A link with its parameters, whose values may have commas and semicolons between quotes. */
const LINK = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s",;]*))?)*)/g;
/** Each parameter; quotes belong to a value. */
const PARAMETER = /;\s*([^\s=;,"]+)(?:\s*=\s*(?:"([^"]*)"|([^\s",;]*)))?/g;

/** The address with the relation `next` in a `Link` header. Of several `rel`, the first counts. */
function nextLink(header: string): string | undefined {
  for (const [, address, parameters = ''] of header.matchAll(LINK)) {
    const rel = Array.from(parameters.matchAll(PARAMETER)).find(([, name]) => name?.toLowerCase() === 'rel');
    const [, , quoted, plain = ''] = rel ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes('next')) return address;
  }
  return undefined;
}
