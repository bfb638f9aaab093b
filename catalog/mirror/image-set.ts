/**
 * oc-mirror's ImageSetConfiguration (v2alpha1), as far as it speaks of catalogs and of
 * single images.
 *
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/api/v2alpha1/type_config.go
 */
import { OffsetDocument, type SourceDocument } from '../fbc/document.ts';
import type { Finding } from '../finding.ts';
import type { Path } from '../go/path.ts';
import {
  any,
  bool,
  fitStruct,
  int64,
  isObject,
  listOf,
  type StructShape,
  struct,
  text,
} from '../go/shape.ts';
import { REPOSITORY } from '../reference.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { YamlError } from '../yaml/tree.ts';
import type { AdditionalImage } from './plan-request.ts';
import { parseBound } from './version-bound.ts';

/** The parts of catalogs and the additional images that belong to a mirror. */
export interface ImageSet {
  readonly catalogs: readonly CatalogSelection[];
  readonly additional: readonly AdditionalImage[];
  /** Images that stay out: patterns for a reference or a destination. */
  readonly blocked: readonly RegExp[];
}

export interface CatalogSelection {
  /** Reference of the index image, or `oci://DIRECTORY`. */
  readonly catalog: string;
  /** All versions of what is selected, not only the heads of channels. */
  readonly full: boolean;
  readonly targetCatalog?: string;
  readonly targetTag?: string;
  /** File with a CatalogSource to begin from. */
  readonly targetCatalogSourceTemplate?: string;
  /** Empty: every package. */
  readonly packages: readonly PackageSelection[];
}

export interface PackageSelection extends VersionSelection {
  readonly name: string;
  readonly defaultChannel?: string;
  /** Empty: every channel. */
  readonly channels: readonly ChannelSelection[];
}

export interface ChannelSelection extends VersionSelection {
  readonly name: string;
}

export interface VersionSelection {
  readonly minVersion?: string;
  readonly maxVersion?: string;
}

/** What was read of an ImageSetConfiguration; undefined when it cannot be followed. */
export interface ImageSetRead {
  readonly imageSet: ImageSet | undefined;
  readonly findings: readonly Finding[];
}

const PLATFORM_FILTER = listOf(struct('InstancePlatformFilter', { os: text, architecture: text }));
const VERSIONS = { minVersion: text, maxVersion: text };
const OPERATOR = struct('Operator', {
  packages: listOf(
    struct('IncludePackage', {
      name: text,
      channels: listOf(struct('IncludeChannel', { name: text, ...VERSIONS })),
      defaultChannel: text,
      ...VERSIONS,
    }),
  ),
  catalog: text,
  targetCatalog: text,
  targetTag: text,
  full: bool,
  skipDependencies: bool,
  targetCatalogSourceTemplate: text,
  platforms: PLATFORM_FILTER,
});
const IMAGE_SET = struct('ImageSetConfiguration', {
  kind: text,
  apiVersion: text,
  archiveSize: int64,
  mirror: struct('Mirror', {
    platform: any,
    operators: listOf(OPERATOR),
    additionalImages: listOf(
      struct('AdditionalImage', {
        name: text,
        targetRepo: text,
        targetTag: text,
        platforms: PLATFORM_FILTER,
      }),
    ),
    helm: any,
    blockedImages: listOf(struct('BlockedImage', { name: text })),
    samples: any,
  }),
});

const API_VERSION = 'mirror.openshift.io/v2alpha1';
const DEPTH = 100;

/** Reads an ImageSetConfiguration; every defect is a finding. */
export function readImageSet(content: string, file: string): ImageSetRead {
  const findings: Finding[] = [];
  try {
    const { value, duplicates, locate } = compose(readTree(content, { depth: DEPTH }).root);
    const document = new OffsetDocument(file, content, 1, locate);
    const reader = new Reader(document, findings);
    for (const { key, again } of duplicates) reader.report(`duplicate key "${key}"`, document.place(again));
    const imageSet = reader.read(value);
    return {
      imageSet: findings.some(({ severity }) => severity === 'error') ? undefined : imageSet,
      findings,
    };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const place = new OffsetDocument(file, content, 1, () => 0).place(error.offset);
    findings.push({
      rule: 'mirror/image-set',
      severity: 'error',
      message: `not YAML: ${error.message}`,
      location: place,
    });
    return { imageSet: undefined, findings };
  }
}

type Fields = Readonly<Record<string, unknown>>;

class Reader {
  readonly #document: SourceDocument;
  readonly #findings: Finding[];

  constructor(document: SourceDocument, findings: Finding[]) {
    this.#document = document;
    this.#findings = findings;
  }

  report(message: string, at: Path | Finding['location'], severity: Finding['severity'] = 'error'): void {
    const location = 'file' in at ? at : this.#document.locate(at);
    this.#findings.push({ rule: 'mirror/image-set', severity, message, location });
  }

  read(value: unknown): ImageSet {
    this.#unknownFields(value, IMAGE_SET, []);
    const { value: fields, misfits } = fitStruct(value, IMAGE_SET);
    for (const { path, expected, found } of misfits) this.report(`must be ${expected}, found ${found}`, path);
    const { kind, apiVersion } = fields;
    if (kind !== 'ImageSetConfiguration')
      this.report(`kind must be ImageSetConfiguration, found ${JSON.stringify(kind)}`, ['kind']);
    if (apiVersion !== API_VERSION)
      this.report(`apiVersion must be ${API_VERSION}, found ${JSON.stringify(apiVersion)}`, ['apiVersion']);
    const mirror = fields['mirror'];
    if (!isObject(mirror)) this.report('the mirror section is missing', []);
    return this.#mirror(isObject(mirror) ? mirror : {});
  }

  #mirror(mirror: Fields): ImageSet {
    for (const section of ['platform', 'helm', 'samples']) {
      if (Object.hasOwn(mirror, section)) {
        this.report(
          `mirror.${section} does not belong to a catalog and is not in the plan`,
          ['mirror', section],
          'warning',
        );
      }
    }
    const catalogs = objects(mirror['operators']).map((operator, i) =>
      this.#catalog(operator, ['mirror', 'operators', i]),
    );
    this.#twice(catalogs.map(uniqueName), (i) => ['mirror', 'operators', i, 'catalog'], 'catalog');
    return {
      catalogs,
      additional: objects(mirror['additionalImages']).map((image, i) =>
        this.#additional(image, ['mirror', 'additionalImages', i]),
      ),
      blocked: objects(mirror['blockedImages']).flatMap((image, i) =>
        this.#blocked(image, ['mirror', 'blockedImages', i]),
      ),
    };
  }

  #catalog(operator: Fields, path: Path): CatalogSelection {
    if (string(operator['catalog']) === '') this.report('a catalog has no reference', path);
    this.#checkRepository(operator['targetCatalog'], [...path, 'targetCatalog']);
    const packages = objects(operator['packages']).map((one, i) =>
      this.#package(one, [...path, 'packages', i]),
    );
    this.#twice(
      packages.map(({ name }) => name),
      (i) => [...path, 'packages', i, 'name'],
      'package',
    );
    return {
      catalog: string(operator['catalog']),
      full: operator['full'] === true,
      ...texts(operator, ['targetCatalog', 'targetTag', 'targetCatalogSourceTemplate']),
      packages,
    };
  }

  #package(one: Fields, path: Path): PackageSelection {
    if (string(one['name']) === '') this.report('a package has no name', path);
    const channels = objects(one['channels']).map((channel, i) =>
      this.#channel(channel, one, [...path, 'channels', i]),
    );
    this.#twice(
      channels.map(({ name }) => name),
      (i) => [...path, 'channels', i, 'name'],
      'channel',
    );
    return {
      name: string(one['name']),
      ...texts(one, ['defaultChannel']),
      ...this.#versions(one, path),
      channels,
    };
  }

  #channel(channel: Fields, ofPackage: Fields, path: Path): ChannelSelection {
    if (string(channel['name']) === '') this.report('a channel has no name', path);
    const both = [channel, ofPackage].every(
      ({ minVersion, maxVersion }) => string(minVersion) + string(maxVersion) !== '',
    );
    if (both)
      this.report(
        'versions are selected for both the package and its channel: select them in one place',
        path,
      );
    return { name: string(channel['name']), ...this.#versions(channel, path) };
  }

  #versions(fields: Fields, path: Path): VersionSelection {
    const chosen = texts(fields, ['minVersion', 'maxVersion']);
    for (const [field, version] of Object.entries(chosen)) {
      if (!parseBound(version))
        this.report(`${field} must be a version, found ${JSON.stringify(version)}`, [...path, field]);
    }
    return chosen;
  }

  #additional(image: Fields, path: Path): AdditionalImage {
    const reference = string(image['name']);
    if (!/[:@][^/]*$/.test(reference)) {
      this.report(`${JSON.stringify(reference)} has neither a tag nor a digest`, [...path, 'name']);
    }
    this.#checkRepository(image['targetRepo'], [...path, 'targetRepo']);
    const repository = string(image['targetRepo']);
    const tag = string(image['targetTag']);
    return { reference, ...(repository === '' ? {} : { repository }), ...(tag === '' ? {} : { tag }) };
  }

  #blocked(image: Fields, path: Path): RegExp[] {
    try {
      return [new RegExp(string(image['name']))];
    } catch {
      this.report(`${JSON.stringify(image['name'])} is not a valid regular expression`, [...path, 'name']);
      return [];
    }
  }

  #checkRepository(value: unknown, path: Path): void {
    if (string(value) === '' || REPOSITORY.test(string(value))) return;
    this.report(`${JSON.stringify(value)} must be a repository without host, tag or digest`, path);
  }

  #twice(names: readonly string[], path: (index: number) => Path, what: string): void {
    for (const [i, name] of names.entries()) {
      if (names.indexOf(name) < i)
        this.report(`the ${what} ${JSON.stringify(name)} is listed twice`, path(i));
    }
  }

  /** oc-mirror refuses what it does not know: a misspelt field would select everything. */
  #unknownFields(value: unknown, shape: StructShape, path: Path): void {
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      const name = Object.keys(shape.fields).find((field) => field.toLowerCase() === key.toLowerCase());
      const field = name === undefined ? undefined : shape.fields[name];
      if (!field) {
        this.report(`unknown field "${key}", expected one of ${Object.keys(shape.fields).join(', ')}`, [
          ...path,
          key,
        ]);
      } else if (field.kind === 'struct') this.#unknownFields(member, field, [...path, key]);
      else if (field.kind === 'list' && field.items.kind === 'struct' && Array.isArray(member)) {
        for (const [i, item] of member.entries()) this.#unknownFields(item, field.items, [...path, key, i]);
      }
    }
  }
}

function uniqueName({ catalog, targetCatalog = '', targetTag = '' }: CatalogSelection): string {
  return targetCatalog + targetTag === '' ? catalog : `${catalog} as ${targetCatalog}:${targetTag}`;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function objects(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Those of the fields that hold text. */
function texts<K extends string>(fields: Fields, keys: readonly K[]): { [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key of keys) if (string(fields[key]) !== '') found[key] = string(fields[key]);
  return found;
}
