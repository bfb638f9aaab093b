/** Places that the policy gives to more than one catalog: each publish would take the tag from the other. */

import type { Finding, Location } from '../../catalog/finding.ts';
import { appendToGroup } from '../../catalog/go/grouped.ts';
import { compareText } from '../../catalog/go/text.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from '../git/objects.ts';
import { entryAt } from '../git/tree.ts';
import { formatLocation, oneSpelling, parseLocation } from '../oci/registry/image-location.ts';
import { readPolicyDocument } from '../policy/document.ts';
import { type Policy, type PublishPolicy, withTag } from '../policy/policy.ts';
import { POLICY_PATH } from '../policy/read-policy.ts';
import { matchesGlob } from '../text.ts';
import { catalogUnits } from './unit.ts';

type Path = readonly (string | number)[];

/** A place of a catalog, and where the policy says so. */
interface Written {
  readonly catalog: string;
  /** What the catalog has there, in words. */
  readonly what: string;
  readonly place: string;
  readonly path: Path;
}

/**
 * A finding for each place that several catalogs of a tree have in common, or several images of one; it names them.
 *
 * @param tree id of a tree or commit
 */
export async function sharedPlaces(
  objects: ObjectReader,
  tree: string,
  policy: Pick<Policy, 'layout' | 'publish'>,
): Promise<Finding[]> {
  if (policy.publish.catalogs.length === 0) return [];
  const units = await catalogUnits(objects, tree, policy.layout);
  const names = [...new Set([...units.values()].map(({ catalog }) => catalog))].sort(compareText);
  const byPlace = new Map<string, Written[]>();
  for (const written of names.flatMap((catalog) => placesOf(policy.publish, catalog))) {
    appendToGroup(byPlace, written.place, written);
  }
  const found: Finding[] = [];
  for (const [place, all] of byPlace) {
    const catalogs = [...new Set(all.map(({ catalog }) => catalog))];
    const said = catalogs.length > 1 ? sharedByCatalogs(catalogs, place) : sharedByImages(all);
    // The last one takes the tag.
    const path = all.at(-1)?.path;
    if (!said || !path) continue;
    const location = await policyLocation(objects, tree, path);
    found.push({ rule: 'policy/shared-place', severity: 'error', ...said, location, catalogs });
  }
  return found;
}

type FindingText = Pick<Finding, 'message'> & { readonly hint: string };

function sharedByCatalogs(catalogs: readonly string[], place: string): FindingText {
  return {
    message: `${catalogs.join(' and ')} are all published to ${place}, expected a different image for each`,
    hint: 'use the placeholder {catalog}, for example quay.io/my-org/catalog:{catalog}',
  };
}

/** What is wrong with the places of one catalog; undefined where the same image goes to one place twice. */
function sharedByImages(all: readonly Written[]): FindingText | undefined {
  const [first] = all;
  const whats = [...new Set(all.map(({ what }) => what))];
  if (!first || whats.length < 2) return undefined;
  return {
    message: `${first.catalog} is published to ${first.place} as ${whats.join(' and as ')}: the last one takes the tag`,
    hint: 'give each a tag of its own, for example quay.io/my-org/catalog:{catalog}-slim',
  };
}

/** Each place that a catalog is published to, with the policy's field that names it. */
function placesOf({ catalogs }: PublishPolicy, catalog: string): Written[] {
  const target = catalogs.find(({ pattern }) => matchesGlob(pattern, catalog));
  if (!target) return [];
  const { pattern, image, also, slim, rings } = target;
  const written = (what: string, text: string, ...keys: Path): Written => {
    const place = placeName(text.replaceAll('{catalog}', catalog));
    return { catalog, what, place, path: ['publish', 'catalogs', pattern, ...keys] };
  };
  return [
    written('its image', image, 'image'),
    ...also.map((text, i) => written('its image', text, 'also', i)),
    ...(slim === undefined ? [] : [written('its image for OLM v1', slim, 'slim')]),
    // The last ring is the image itself.
    ...rings.slice(0, -1).map(({ tag }, i) => written('its image', withTag(image, tag), 'rings', i, 'tag')),
  ];
}

/** A text that is equal for two spellings of one place. One that cannot be read stays: the publish reports it. */
function placeName(text: string): string {
  try {
    return oneSpelling(formatLocation(parseLocation(text)));
  } catch (error) {
    if (error instanceof PipelineError) return text;
    throw error;
  }
}

/** Where a commit's policy says something. @param path of keys */
export async function policyLocation(objects: ObjectReader, tree: string, path: Path): Promise<Location> {
  const entry = await entryAt(objects, tree, POLICY_PATH);
  const bytes = entry && (await objects.read(entry.id)).bytes;
  const { settings } = bytes ? readPolicyDocument(POLICY_PATH, bytes) : {};
  return settings?.locate(path) ?? { file: POLICY_PATH, line: 1, column: 1 };
}
