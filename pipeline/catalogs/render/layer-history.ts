/**
 * Which layers of an index image can hold its catalog: what the image's history says of each
 * layer tells those apart that only bring a server or a cache.
 *
 * The history is the builder's word, not a proof. What it does not clearly place elsewhere is
 * read.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/config.md
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { MADE_BY } from '../../oci/image/image.ts';

/**
 * For each layer, the lowest first, whether it may hold something below a folder.
 *
 * @param history of the image's configuration, as it stands there
 * @param count how many layers the image has
 * @param folder with a slash before it, such as `/configs`
 */
export function layersFor(history: unknown, count: number, folder: string): readonly boolean[] {
  if (folder === '/') return new Array<boolean>(count).fill(true);
  const steps = stepsOf(history, count);
  // Portolan builds catalogs only on bases without one, so the layers below its own hold none. Those above its own are
  // of another build, and count as everywhere.
  const lowest = steps.findIndex(isOurs);
  return steps.map((step, at) => {
    // Portolan writes the folder of its layer behind its name.
    if (isOurs(step)) return overlap(step.split(' ', 2)[1] ?? '', folder);
    if (at < lowest) return false;
    const destination = copiedTo(step);
    return destination === undefined || overlap(destination, folder);
  });
}

/** Whether Portolan made a layer. */
function isOurs(step: string): boolean {
  return step.startsWith(`${MADE_BY} /`);
}

/** What made each layer; the empty string where the history does not say. */
function stepsOf(history: unknown, count: number): readonly string[] {
  const made = (Array.isArray(history) ? history : [])
    .filter((step) => !isObject(step) || step['empty_layer'] !== true)
    .map((step) => (isObject(step) && typeof step['created_by'] === 'string' ? step['created_by'] : ''));
  if (made.length === count) return made;
  // The history of a base may have gaps, so the steps do not tell which layer is whose. Steps at the end are those of
  // the top layers all the same; only Portolan's own are trusted there, and only if all of its steps are at the end.
  const top = made.slice(made.findLastIndex((step) => !isOurs(step)) + 1).slice(-count);
  const own = made.filter(isOurs).length > top.length ? [] : top;
  return [...new Array<string>(count - own.length).fill(''), ...own];
}

/**
 * Where a COPY or ADD of a Dockerfile puts things; undefined when it is not such a step, or not clear: quotes, lists, escapes
 * and variables are not followed.
 */
function copiedTo(step: string): string | undefined {
  const said = step
    .trimEnd()
    .replace(/ # buildkit$/, '')
    .trimEnd();
  const [, words = ''] = /^(?:\/bin\/sh -c #\(nop\) +)?(?:COPY|ADD) ([^[\]"'\\]*)$/.exec(said) ?? [];
  const destination = words.slice(words.lastIndexOf(' ') + 1);
  return /^\/[^$]*$/.test(destination) && !destination.includes('..') ? destination : undefined;
}

/** Whether one of two folders is the other, or above it. */
function overlap(a: string, b: string): boolean {
  // With a slash at its end, `/configs` is not above `/configs-old`.
  const withSlashes = (path: string): string =>
    ['', ...path.split('/').filter((part) => part !== ''), ''].join('/');
  const one = withSlashes(a);
  const other = withSlashes(b);
  return one.startsWith(other) || other.startsWith(one);
}
