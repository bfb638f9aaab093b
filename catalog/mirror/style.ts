/**
 * Styles: whose names a mirror follows. Ours keeps the whole path of the source; the
 * others are those of the tools that people come from.
 */
import { hashedName, labelName, objectName } from '../names.ts';
import { parseReference, type Reference, repositoryName, tryParseReference } from '../reference.ts';
import { nestedNaming, ocMirrorNaming, type Target } from './destination-names.ts';
import { InvalidOption } from './invalid-option.ts';
import { type OcReference, ocNaming, parseOcReference } from './oc.ts';
import type { Destination, ImageRole, Naming } from './placement.ts';
import type { Scope } from './scope.ts';

export type Style = 'nested' | 'oc' | 'oc-mirror';

export const STYLES: readonly Style[] = ['nested', 'oc', 'oc-mirror'];

/** Where a mirror is: a host with its port and perhaps a path, or files in oc's layout. */
export interface MirrorHome {
  readonly transport: 'registry' | 'file';
  readonly registry: string;
  /** Path below the host; may be empty. */
  readonly path: string;
}

/**
 * Reads where a mirror is to be: `HOST[:PORT][/PATH]`, with `docker://` before it or not,
 * or `file://PATH`. A tag is ignored.
 *
 * @throws InvalidOption
 */
export function parseHome(text: string): MirrorHome {
  const rest = text.replace(/^docker:\/\//, '').replace(/\/+$/, '');
  // oc would take the port of a host alone for a tag.
  if (/^[^/]*:\d+$/.test(rest)) return checkHost({ transport: 'registry', registry: rest, path: '' }, text);
  const parsed = parseOcHome(rest);
  const path = [parsed.namespace, parsed.name].filter((part) => part !== '').join('/');
  const transport = parsed.transport === 'file' ? 'file' : 'registry';
  return checkHost({ transport, registry: parsed.registry, path }, text);
}

/**
 * A destination as oc reads it.
 *
 * @throws InvalidOption
 */
function parseOcHome(text: string): OcReference {
  try {
    const parsed = parseOcReference(text);
    // oc also reads `s3://` and digests, but a mirror is not in a bucket, nor below a digest.
    if (parsed.transport !== 's3' && parsed.digest === '') return parsed;
  } catch {
    // Said below, in the words of the option.
  }
  throw homeError(text);
}

/**
 * The place of a mirror, whose host must be one to nodes as well.
 *
 * @throws InvalidOption
 */
function checkHost(home: MirrorHome, text: string): MirrorHome {
  if (home.transport === 'registry' && tryParseReference(`${home.registry}/a`)?.registry !== home.registry) {
    throw homeError(text);
  }
  return home;
}

function homeError(text: string): InvalidOption {
  return new InvalidOption(
    `the destination is ${JSON.stringify(text)}, expected HOST[:PORT][/PATH] where the host has a dot or a port, or file://PATH`,
  );
}

/** What decides about names. */
interface NamingRequest {
  readonly style: Style;
  readonly home: MirrorHome;
  /** Most components of a destination's path; 0 for no limit; absent: the style's own. */
  readonly maxComponents: number | undefined;
  /** References of the index images. */
  readonly indexes: readonly string[];
  /** What is to be named otherwise, by reference; for the style oc-mirror. */
  readonly targets: ReadonlyMap<string, Target>;
}

/** How oc shortens paths by default. */
const OC_COMPONENTS = 2;

/** How a style names images in the mirror. @throws InvalidOption for options that the style does not support */
export function namingOf({ style, home, maxComponents, indexes, targets }: NamingRequest): Naming {
  const isCount = maxComponents === undefined || (Number.isInteger(maxComponents) && maxComponents >= 0);
  if (!isCount) {
    throw new InvalidOption(`--max-components is ${maxComponents}, expected a whole number from 0`);
  }
  if (style === 'oc') return ocNamingOf(home, maxComponents ?? OC_COMPONENTS, indexes);
  if (home.transport === 'file') {
    throw new InvalidOption(`the style ${style} does not support file://: use --style oc`);
  }
  const place = { registry: home.registry, path: home.path, maxComponents: maxComponents ?? 0 };
  return style === 'nested' ? nestedNaming(place) : ocMirrorNaming(place, targets);
}

/** How `oc adm catalog mirror` names images. @throws InvalidOption if oc refuses the options */
function ocNamingOf(home: MirrorHome, maxComponents: number, indexes: readonly string[]): Naming {
  const [index] = indexes;
  if (index === undefined || indexes.length > 1) {
    throw new InvalidOption(`the style oc mirrors one catalog at a time, not ${indexes.length}`);
  }
  // oc refuses it, too.
  if (maxComponents === 1 && home.transport === 'registry') {
    throw new InvalidOption('--max-components must be 0 (no limit) or greater than 1 with --style oc');
  }
  const [namespace = '', ...name] = home.path.split('/');
  const to: OcReference = { ...home, namespace, name: name.join('/'), tag: '', digest: '' };
  return ocNaming({ index: parseOcReference(index), to, maxComponents });
}

/** The default scope of mirror entries: oc-mirror's are for namespaces, which a path that is shortened does not keep. */
export function defaultScope(style: Style, maxComponents: number | undefined): Scope {
  return style === 'oc-mirror' && (maxComponents ?? 0) === 0 ? 'namespace' : 'repository';
}

/** Checks the scope of mirror entries against the style. @throws InvalidOption for a scope that a style does not know */
export function checkScope(style: Style, scope: Scope): void {
  if (style === 'oc' && scope === 'namespace') {
    throw new InvalidOption('--style oc supports the scopes repository and registry, not namespace');
  }
}

/** Names of the objects of one catalog, the same on every run. */
export interface CatalogNames {
  readonly catalogSource: string;
  readonly clusterCatalog: string;
}

/**
 * The names of the CatalogSource and ClusterCatalog of an index image.
 *
 * @param index the index image as it was named
 * @param given a name that somebody chose instead
 */
export function catalogNames(
  style: Style,
  index: string,
  destination: Destination,
  given?: string,
): CatalogNames {
  if (given !== undefined) {
    if (labelName(given) === given) return { catalogSource: given, clusterCatalog: given };
    throw new InvalidOption(
      `${JSON.stringify(given)} is not a valid catalog name; use for example ${labelName(given)}`,
    );
  }
  if (style === 'oc') {
    const name = objectName(parseOcReference(index).name.replaceAll('/', '-'));
    return { catalogSource: name, clusterCatalog: name };
  }
  if (style === 'oc-mirror') {
    const name = ocMirrorSuffix(destination);
    return { catalogSource: labelName(`cs-${name}`), clusterCatalog: labelName(`cc-${name}`) };
  }
  const name = identityName(parseReference(index));
  return { catalogSource: name, clusterCatalog: name };
}

/** Characters of the tag that oc-mirror puts into names. */
const SUFFIX = 12;

/**
 * What oc-mirror puts into the names of a catalog's objects: the end of its repository and the beginning of its tag.
 */
function ocMirrorSuffix({ repository, tag }: Destination): string {
  const last = repository.slice(repository.lastIndexOf('/') + 1);
  const suffix = tag
    .slice(0, SUFFIX)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-');
  return `${last}-${suffix}`.replaceAll('.', '-');
}

/** A name from the repository and tag of an index; the same for every digest that the tag had. */
function identityName(index: Reference): string {
  const last = index.repository.slice(index.repository.lastIndexOf('/') + 1);
  const tag = index.tag === undefined ? '' : `-${index.tag}`;
  return hashedName(last + tag, `${repositoryName(index)}${tag}`);
}

/** Name of the objects with the mirrors of a group of images; numbers are put behind it. */
interface MirrorSetNames {
  readonly icsp: string;
  readonly idms: string;
  readonly itms: string;
}

/** Images whose mirrors are in separate objects. */
export type MirrorGroup = 'operator' | 'generic';

/** The groups that a style keeps apart. */
export function groupOf(style: Style, role: ImageRole): MirrorGroup {
  return style === 'oc-mirror' && role === 'additional' ? 'generic' : 'operator';
}

/**
 * The names of the objects with the mirrors of a group: oc-mirror's own, or that of the catalog. Several catalogs share
 * one made of their names.
 */
export function mirrorSetNames(
  style: Style,
  names: readonly CatalogNames[],
  group: MirrorGroup,
): MirrorSetNames {
  if (style === 'oc-mirror') {
    return { icsp: `icsp-${group}`, idms: `idms-${group}`, itms: `itms-${group}` };
  }
  const all = names.map(({ catalogSource }) => catalogSource);
  const name = all.length === 1 ? (all[0] ?? '') : hashedName('catalogs', all.join(' '));
  return { icsp: name, idms: name, itms: name };
}
