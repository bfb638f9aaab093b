/** Whether a bundle can be mirrored into a network without the internet. */
import { type Inspected, memberObjects, memberText } from '../../bundle/inspect.ts';
import { InvalidReference, parseReference } from '../../reference.ts';
import { namedImages, type UsedImage } from '../../references/csv.ts';
import { isAnnotated } from '../bundle-checks/console.ts';
import { csvCheck, csvText } from '../bundle-checks/csv.ts';
import type { Report, Rule } from '../rule.ts';

type Check = (bundle: Inspected, report: Report) => void;

const checkImagesListed: Check = csvCheck((csv, report) => {
  const listed = new Set(
    memberObjects(csv.spec, 'relatedImages').map((related) => memberText(related, 'image')),
  );
  const images = namedImages(csv.object.value);
  // What is pulled counts before what is only named.
  for (const { image, place, path } of [...images.filter(isVariable), ...images]) {
    if (place === 'relatedImages' || listed.has(image)) continue;
    listed.add(image);
    const what = `${csvText(csv)}: the image ${JSON.stringify(image)} (${place}) is not in relatedImages`;
    const hint = `relatedImages: - {name: …, image: ${image}}`;
    // opm lists images of containers itself, and clusters do not pull what an annotation names.
    if (/^(?:container|the annotation) /.test(place))
      report(`${what}: certification requires it`, csv.at(...path), { hint, severity: 'info' });
    else report(`${what}, so it is not mirrored`, csv.at(...path), { hint });
  }
});

function isVariable({ place }: UsedImage): boolean {
  return place.startsWith('RELATED_IMAGE_');
}

const checkImagesPinned: Check = csvCheck((csv, report) => {
  const seen = new Set<string>();
  for (const { image, place, path } of namedImages(csv.object.value)) {
    if (seen.has(image) || isPinned(image)) continue;
    seen.add(image);
    const message = `${csvText(csv)}: the image ${JSON.stringify(image)} (${place}) has no digest: on disconnected clusters, mirrors serve images by digest only`;
    report(message, csv.at(...path), { hint: 'find the digest of a tag with portolan resolve' });
  }
});

/** Text that is not a reference has its own finding. */
function isPinned(image: string): boolean {
  try {
    return parseReference(image).kind === 'digest';
  } catch (error) {
    if (error instanceof InvalidReference) return true;
    throw error;
  }
}

const checkDisconnectedClaim: Check = csvCheck((csv, report) => {
  if (!isAnnotated(csv, 'disconnected')) return;
  const related = memberObjects(csv.spec, 'relatedImages');
  const images = namedImages(csv.object.value);
  const lacking = [
    ...(related.length === 0 ? ['relatedImages'] : []),
    ...(images.some(isVariable) ? [] : ['a variable RELATED_IMAGE_… in a container']),
    ...(related.every((image) => isPinned(memberText(image, 'image')))
      ? []
      : ['digests in all relatedImages']),
  ];
  if (lacking.length === 0) return;
  const message = `${csvText(csv)} declares support for disconnected clusters but lacks ${lacking.join(', ')}`;
  report(message, csv.at('metadata', 'annotations'));
});

export const rules: readonly Rule[] = [
  {
    id: 'disconnected/claim',
    severity: 'warning',
    summary:
      'Reports operators for disconnected clusters that do not list their images by digest or read them from environment variables',
    fix: 'list images by digest in relatedImages, and pass them in environment variables RELATED_IMAGE_…',
    inspect: checkDisconnectedClaim,
  },
  {
    id: 'disconnected/listed',
    severity: 'warning',
    summary: 'Reports images of a ClusterServiceVersion that are not in its relatedImages',
    inspect: checkImagesListed,
  },
  {
    id: 'disconnected/pinned',
    severity: 'warning',
    summary: 'Reports images that a ClusterServiceVersion does not reference by digest',
    inspect: checkImagesPinned,
  },
];
