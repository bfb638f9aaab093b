/** What a bundle of a catalog says in its ClusterServiceVersion, as far as the catalog holds that. */
import { manifestOfKind, objectData } from '../fbc/bundle-object.ts';
import type { Bundle } from '../fbc/model.ts';
import { isObject, type Path } from '../go/shape.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The ClusterServiceVersion among the manifests of a bundle; undefined for those that carry metadata only, or none. */
export function csvOf({ properties }: Bundle): Fields | undefined {
  for (const { type, value } of properties) {
    if (type !== 'olm.bundle.object') continue;
    const manifest = manifestOfKind('ClusterServiceVersion', objectData(value) ?? '');
    if (manifest) return manifest;
  }
  return undefined;
}

/** Labels of the ClusterServiceVersion; undefined where the catalog holds nothing of it. */
function labelsOf(bundle: Bundle): Fields | undefined {
  const metadata = bundle.properties.find(({ type }) => type === 'olm.csv.metadata')?.value;
  if (isObject(metadata)) return fieldOf(metadata, 'labels');
  const csv = csvOf(bundle);
  return csv && fieldOf(fieldOf(csv, 'metadata'), 'labels');
}

const ARCHITECTURE = 'operatorframework.io/arch.';
const SYSTEM = 'operatorframework.io/os.';

/**
 * The platforms (`os/architecture`) on which a bundle says that it runs: every pair of its labels,
 * linux and amd64 where it has none.
 *
 * @returns undefined where the catalog holds nothing of the ClusterServiceVersion
 * @see https://olm.operatorframework.io/docs/advanced-tasks/ship-operator-supporting-multiarch/
 */
export function supportedPlatforms(bundle: Bundle): readonly string[] | undefined {
  const labels = labelsOf(bundle);
  if (!labels) return undefined;
  const named = (prefix: string, usual: string): readonly string[] => {
    const supported = Object.entries(labels).filter(
      ([key, value]) => key.startsWith(prefix) && value === 'supported',
    );
    return supported.length === 0 ? [usual] : supported.map(([key]) => key.slice(prefix.length)).sort();
  };
  const architectures = named(ARCHITECTURE, 'amd64');
  return named(SYSTEM, 'linux').flatMap((system) => architectures.map((one) => `${system}/${one}`));
}

/** An image that a ClusterServiceVersion uses, and where. */
export interface UsedImage {
  readonly image: string;
  /** Such as `container "manager" of deployment "x"`. */
  readonly place: string;
  readonly path: Path;
}

const RELATED_IMAGE = /^RELATED_IMAGE_/;
const DEPLOYMENTS = ['spec', 'install', 'spec', 'deployments'];
const POD = ['spec', 'template', 'spec'];

/** Images that the deployments run, and those in their `RELATED_IMAGE_…` variables. */
export function usedImages(csv: Fields): UsedImage[] {
  return imagesIn(csv, imagesOfContainer);
}

/** Images that arguments and other variables of the deployments' containers mention. */
export function mentionedImages(csv: Fields): UsedImage[] {
  return imagesIn(csv, mentionedInContainer);
}

type ImagesOf = (container: Fields, place: string, path: Path) => UsedImage[];

/** What `imagesOf` finds in the containers of all deployments. */
function imagesIn(csv: Fields, imagesOf: ImagesOf): UsedImage[] {
  return listAt(csv, DEPLOYMENTS).flatMap(({ item: deployment, path: at }) =>
    ['initContainers', 'containers'].flatMap((kind) =>
      listAt(deployment, [...POD, kind]).flatMap(({ item, path }) => {
        const place = `container ${quotedName(item['name'])} of deployment ${quotedName(deployment['name'])}`;
        return imagesOf(item, place, [...at, ...path]);
      }),
    ),
  );
}

/** What can hardly be anything else: the host of a registry, a path, and a tag or a digest. */
const IMAGE =
  /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,9}(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){1,9}(?::\w[\w.-]{0,127}|(?::\w[\w.-]{0,127})?@sha256:[a-f0-9]{64})$/;

/**
 * Images in a container's command and arguments, also behind a flag such as `--image=`, and in its variables other than
 * `RELATED_IMAGE_…`.
 */
function mentionedInContainer(container: Fields, place: string, path: Path): UsedImage[] {
  const words = ['command', 'args'].flatMap((key) => {
    const list = container[key];
    return (Array.isArray(list) ? list : []).map((text, i) => ({
      text: String(text).replace(/^--?[\w.-]{1,128}=/, ''),
      what: `an argument of ${place}`,
      at: [key, i],
    }));
  });
  const variables = listAt(container, ['env'])
    .filter(({ item }) => !RELATED_IMAGE.test(String(item['name'])))
    .map(({ item, path: at }) => ({
      text: String(item['value']),
      what: `${String(item['name'])} in ${place}`,
      at: [...at, 'value'],
    }));
  return [...words, ...variables]
    .filter(({ text }) => IMAGE.test(text))
    .flatMap(({ text, what, at }) => usedImage(text, what, [...path, ...at]));
}

/** The image that a container runs, and those in its `RELATED_IMAGE_…` variables. */
function imagesOfContainer(container: Fields, place: string, path: Path): UsedImage[] {
  const variables = listAt(container, ['env'])
    .filter(({ item }) => RELATED_IMAGE.test(String(item['name'])))
    .flatMap(({ item, path: at }) =>
      usedImage(item['value'], `${String(item['name'])} in ${place}`, [...path, ...at, 'value']),
    );
  return [...usedImage(container['image'], place, [...path, 'image']), ...variables];
}

/** Every image that a ClusterServiceVersion names: those it uses, lists, and is annotated with. */
export function namedImages(csv: Fields): UsedImage[] {
  const annotations = fieldOf(fieldOf(csv, 'metadata'), 'annotations');
  const annotated = ['metadata', 'annotations', 'containerImage'];
  const listed = listAt(csv, ['spec', 'relatedImages']).flatMap(({ item, path }) =>
    usedImage(item['image'], 'relatedImages', [...path, 'image']),
  );
  const annotation = usedImage(annotations['containerImage'], 'the annotation containerImage', annotated);
  return [...annotation, ...listed, ...usedImages(csv)];
}

/** One image in a list; an empty list where there is no text. */
function usedImage(image: unknown, place: string, path: Path): UsedImage[] {
  return typeof image === 'string' && image !== '' ? [{ image, place, path }] : [];
}

/** A name in quotes, for messages. */
function quotedName(name: unknown): string {
  return JSON.stringify(typeof name === 'string' ? name : '');
}

/** The object in a field; an empty one for another kind of value. */
function fieldOf(fields: Fields, key: string): Fields {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return isObject(value) ? value : {};
}

/** The items of a list of objects, each with its path. */
function listAt(fields: Fields, path: readonly string[]): { readonly item: Fields; readonly path: Path }[] {
  const folder = path.slice(0, -1).reduce(fieldOf, fields);
  const key = path.at(-1) ?? '';
  const value = Object.hasOwn(folder, key) ? folder[key] : undefined;
  if (!Array.isArray(value)) return [];
  return value.map((item, i) => ({ item: isObject(item) ? item : {}, path: [...path, i] }));
}
