/**
 * oc-mirror's ImageSetConfiguration and DeleteImageSetConfiguration: the catalogs and the
 * single images. What Portolan does not mirror is named, never left out in silence.
 *
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/api/v2alpha1/type_config.go
 * @see https://github.com/openshift/oc-mirror/blob/main/v1/pkg/api/v1alpha2/types_config.go
 */
import { OffsetDocument, type SourceDocument } from '../fbc/document.ts';
import type { Finding } from '../finding.ts';
import { compileGoRegexp } from '../go/regexp.ts';
import {
  any,
  bool,
  fitStruct,
  int64,
  isObject,
  listOf,
  objectsIn,
  type Path,
  type StructShape,
  structShape,
  text,
  textOf,
} from '../go/shape.ts';
import { MOST_STEPS, type Steps, withinSteps } from '../go/steps.ts';
import { REPOSITORY } from '../reference.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { fieldOf } from '../yaml/resolve.ts';
import { YamlError } from '../yaml/tree.ts';
import { type ChartSelection, helmShape, readCharts } from './helm/chart-selection.ts';
import type { AdditionalImage, BlockedImages } from './plan-request.ts';
import { isPlatform, platformsOf, withPlatforms } from './platforms.ts';
import { type PlatformSelection, platformShape, readPlatform } from './release/release-selection.ts';
import { isWithin, parseBound } from './version-bound.ts';

/** The parts of catalogs and the additional images that belong to a mirror. */
export interface ImageSet {
  /** Whether these images are to be deleted from the mirror. */
  readonly deletes?: boolean;
  readonly catalogs: readonly CatalogSelection[];
  readonly additional: readonly AdditionalImage[];
  /** Helm charts whose images belong to the mirror. */
  readonly charts?: readonly ChartSelection[];
  /** The OpenShift or OKD releases that belong to the mirror. */
  readonly platform?: PlatformSelection;
  /** GiB of each file of an archive. */
  readonly archiveSize?: number;
  /** Images that stay out: patterns for a reference or a destination. */
  readonly blocked: readonly BlockedImages[];
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
  /** Platforms of the index image and of what the bundles need; absent: all. */
  readonly platforms?: readonly string[];
}

export interface PackageSelection extends VersionSelection {
  readonly name: string;
  readonly defaultChannel?: string;
  /** Empty: every channel. */
  readonly channels: readonly ChannelSelection[];
}

interface ChannelSelection extends VersionSelection {
  readonly name: string;
}

export interface VersionSelection {
  readonly minVersion?: string;
  readonly maxVersion?: string;
}

/** What was read of an ImageSetConfiguration; undefined when it cannot be followed. */
interface ImageSetRead {
  readonly imageSet: ImageSet | undefined;
  readonly findings: readonly Finding[];
}

const PLATFORM_FILTER = listOf(structShape('InstancePlatformFilter', { os: text, architecture: text }));
const VERSIONS = { minVersion: text, maxVersion: text };
const OPERATOR = {
  catalog: text,
  targetCatalog: text,
  targetTag: text,
  full: bool,
  // oc-mirror v2 never adds dependencies, and neither does a selection here.
  skipDependencies: bool,
};
const PACKAGE = { name: text, defaultChannel: text, ...VERSIONS };
const CHANNEL = { name: text, ...VERSIONS };
const OPERATORS = listOf(
  structShape('Operator', {
    packages: listOf(
      structShape('IncludePackage', { channels: listOf(structShape('IncludeChannel', CHANNEL)), ...PACKAGE }),
    ),
    ...OPERATOR,
    targetCatalogSourceTemplate: text,
    platforms: PLATFORM_FILTER,
  }),
);
const ADDITIONAL_IMAGES = listOf(
  structShape('AdditionalImage', {
    name: text,
    targetRepo: text,
    targetTag: text,
    platforms: PLATFORM_FILTER,
  }),
);
const BLOCKED_IMAGES = listOf(structShape('BlockedImage', { name: text }));
const HELM = helmShape(PLATFORM_FILTER);
const PLATFORM = platformShape(PLATFORM_FILTER);
/** What Portolan does not mirror. */
const OTHERS = { samples: any };
const TYPE = { kind: text, apiVersion: text };
/** oc-mirror v1 knew fewer fields, and some that v2 has dropped. */
const OPERATORS_V1 = listOf(
  structShape('Operator', {
    packages: listOf(
      structShape('IncludePackage', {
        channels: listOf(structShape('IncludeChannel', { ...CHANNEL, minBundle: text })),
        ...PACKAGE,
        minBundle: text,
      }),
    ),
    ...OPERATOR,
    targetName: text,
    originalRef: text,
  }),
);

const KIND = 'ImageSetConfiguration';
const DELETE_KIND = 'DeleteImageSetConfiguration';
const API_VERSION = 'mirror.openshift.io/v2alpha1';
const API_VERSION_V1 = 'mirror.openshift.io/v1alpha2';

const IMAGE_SET = structShape(KIND, {
  ...TYPE,
  archiveSize: int64,
  mirror: structShape('Mirror', {
    operators: OPERATORS,
    additionalImages: ADDITIONAL_IMAGES,
    blockedImages: BLOCKED_IMAGES,
    helm: HELM,
    platform: PLATFORM,
    ...OTHERS,
  }),
});
const IMAGE_SET_V1 = structShape(KIND, {
  ...TYPE,
  archiveSize: int64,
  storageConfig: any,
  mirror: structShape('Mirror', {
    operators: OPERATORS_V1,
    additionalImages: listOf(structShape('Image', { name: text })),
    blockedImages: BLOCKED_IMAGES,
    helm: HELM,
    platform: PLATFORM,
    ...OTHERS,
  }),
});
const DELETE_IMAGE_SET = structShape(DELETE_KIND, {
  ...TYPE,
  delete: structShape('Delete', {
    operators: OPERATORS,
    additionalImages: ADDITIONAL_IMAGES,
    helm: HELM,
    platform: PLATFORM,
    ...OTHERS,
  }),
});

/** Levels of nesting that a configuration may have. */
const DEPTH = 100;

/**
 * Reads an ImageSetConfiguration or a DeleteImageSetConfiguration; every defect is a finding.
 *
 * @param skipUnsupported what Portolan does not mirror is a warning, not an error
 */
export function readImageSet(content: string, file: string, skipUnsupported = false): ImageSetRead {
  const findings: Finding[] = [];
  try {
    const { value, duplicates, locate } = compose(readTree(content, { depth: DEPTH }).root);
    const document = new OffsetDocument(file, content, 1, locate);
    const reader = new Reader(document, findings, skipUnsupported ? 'warning' : 'error');
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

/** Steps of `blockedImages`: a hundred times those of strangers, because this file meets each image of a mirror. */
const BLOCKED_STEPS = 100 * MOST_STEPS;

class Reader {
  readonly #steps: Steps = { left: BLOCKED_STEPS };
  readonly #document: SourceDocument;
  readonly #findings: Finding[];
  /** Severity of what is not mirrored. */
  readonly #unsupported: Finding['severity'];

  constructor(document: SourceDocument, findings: Finding[], unsupported: Finding['severity']) {
    this.#document = document;
    this.#findings = findings;
    this.#unsupported = unsupported;
  }

  report(message: string, at: Path | Finding['location'], severity: Finding['severity'] = 'error'): void {
    const location = 'file' in at ? at : this.#document.locate(at);
    this.#findings.push({ rule: 'mirror/image-set', severity, message, location });
  }

  /** Reads the configuration. Every defect is reported, and the rest is read all the same. */
  read(value: unknown): ImageSet {
    const { shape, section } = shapeOf(value);
    this.#unknownFields(value, shape, []);
    const { value: fields, misfits } = fitStruct(value, shape);
    for (const { path, expected, found } of misfits) this.report(`must be ${expected}, found ${found}`, path);
    const { kind, apiVersion } = fields;
    if (kind !== KIND && kind !== DELETE_KIND)
      this.report(`kind must be ${KIND} or ${DELETE_KIND}, found ${foundText(kind)}`, ['kind']);
    if (apiVersion !== API_VERSION && shape !== IMAGE_SET_V1)
      this.report(`apiVersion must be ${API_VERSION}, found ${foundText(apiVersion)}`, ['apiVersion']);
    if (shape === IMAGE_SET_V1) this.#warnOfV1(fields);
    const size = fields['archiveSize'];
    if (typeof size === 'number') {
      const option = `--archive-size ${size}GiB`;
      this.report(
        `archiveSize is used by portolan mirror sync --to-archive; for portolan mirror copy it is ${option}`,
        ['archiveSize'],
        'info',
      );
    }
    const images = fields[section];
    if (!isObject(images)) this.report(`the ${section} section is missing`, []);
    const imageSet = this.#images(isObject(images) ? images : {}, section);
    // As in oc-mirror, 0 stands for the default.
    const withSize = typeof size === 'number' && size > 0 ? { ...imageSet, archiveSize: size } : imageSet;
    return section === 'delete' ? { ...withSize, deletes: true } : withSize;
  }

  /** What reads otherwise in oc-mirror v1. */
  #warnOfV1(fields: Fields): void {
    this.report(
      `${API_VERSION_V1} is read as ${API_VERSION}: dependencies of the selected bundles are not added`,
      ['apiVersion'],
      'warning',
    );
    if (Object.hasOwn(fields, 'storageConfig'))
      this.report('storageConfig is not used: the mirror itself is the state', ['storageConfig'], 'info');
  }

  /** Reports a part of the configuration that Portolan does not mirror: an error, or a warning if the user skips it. */
  #reportUnsupported(what: string, path: Path): void {
    const result =
      this.#unsupported === 'error'
        ? 'Portolan does not support'
        : 'skipped, because Portolan does not support';
    this.#findings.push({
      rule: 'mirror/image-set',
      severity: this.#unsupported,
      message: `${result} ${what}`,
      location: this.#document.locate(path),
      ...(this.#unsupported === 'error'
        ? { hint: 'mirror it with oc-mirror, and use --skip-unsupported here' }
        : {}),
    });
  }

  /** The platforms that a part of the configuration selects. */
  #platforms(fields: Fields, path: Path): { readonly platforms?: readonly string[] } {
    const texts = objectsIn(fields['platforms']).map(({ os, architecture }, i) => {
      const platform = `${textOf(os)}/${textOf(architecture)}`;
      if (!isPlatform(platform))
        this.report('a platform must have an os and an architecture, for example linux and amd64', [
          ...path,
          'platforms',
          i,
        ]);
      return platform;
    });
    return withPlatforms(platformsOf(texts));
  }

  /** What a section selects, which must be something. Reports what Portolan does not mirror. */
  #images(mirror: Fields, section: string): ImageSet {
    for (const other of Object.keys(OTHERS)) {
      if (!isEmpty(mirror[other])) this.#reportUnsupported(`${section}.${other}`, [section, other]);
    }
    const all = this.#selected(mirror, section);
    if (all.catalogs.length + all.additional.length + (all.charts?.length ?? 0) === 0 && !all.platform)
      this.report('no catalog, release, chart or additional image is selected', [section]);
    return all;
  }

  /** What the `mirror` or `delete` section selects. */
  #selected(mirror: Fields, section: string): ImageSet {
    const catalogs = objectsIn(mirror['operators']).map((operator, i) =>
      this.#catalog(operator, [section, 'operators', i]),
    );
    this.#reportRepeated(catalogs.map(uniqueName), (i) => [section, 'operators', i, 'catalog'], 'catalog');
    const reader = {
      report: (message: string, at: Path, severity?: Finding['severity']) =>
        this.report(message, at, severity),
      locate: (path: Path) => this.#document.locate(path),
      platforms: (fields: Fields, path: Path) => this.#platforms(fields, path),
    };
    const charts = readCharts(mirror['helm'], [section, 'helm'], reader);
    const platform = readPlatform(mirror['platform'], [section, 'platform'], reader);
    return {
      catalogs,
      ...(charts.length > 0 && { charts }),
      ...(platform && { platform }),
      additional: objectsIn(mirror['additionalImages']).map((image, i) =>
        this.#additional(image, [section, 'additionalImages', i]),
      ),
      blocked: objectsIn(mirror['blockedImages']).flatMap((image, i) =>
        this.#blocked(image, [section, 'blockedImages', i]),
      ),
    };
  }

  /** One entry of `operators`. */
  #catalog(operator: Fields, path: Path): CatalogSelection {
    if (textOf(operator['catalog']) === '') this.report('a catalog has no reference', path);
    this.#checkRepository(operator['targetCatalog'], [...path, 'targetCatalog']);
    if (textOf(operator['targetName']) !== '')
      this.report('oc-mirror v2 has no targetName; use targetCatalog', [...path, 'targetName']);
    const packages = objectsIn(operator['packages']).map((one, i) =>
      this.#package(one, [...path, 'packages', i]),
    );
    this.#reportRepeated(
      packages.map(({ name }) => name),
      (i) => [...path, 'packages', i, 'name'],
      'package',
    );
    return {
      catalog: withoutTransport(textOf(operator['catalog'])),
      full: operator['full'] === true,
      ...texts(operator, ['targetCatalog', 'targetTag', 'targetCatalogSourceTemplate']),
      packages,
      ...this.#platforms(operator, path),
    };
  }

  /** One package of a catalog. */
  #package(one: Fields, path: Path): PackageSelection {
    if (textOf(one['name']) === '') this.report('a package has no name', path);
    const channels = objectsIn(one['channels']).map((channel, i) =>
      this.#channel(channel, one, [...path, 'channels', i]),
    );
    this.#reportRepeated(
      channels.map(({ name }) => name),
      (i) => [...path, 'channels', i, 'name'],
      'channel',
    );
    return {
      name: textOf(one['name']),
      ...texts(one, ['defaultChannel']),
      ...this.#versions(one, path),
      channels,
    };
  }

  /** One channel of a package. Reports versions that are selected both here and for the package. */
  #channel(channel: Fields, ofPackage: Fields, path: Path): ChannelSelection {
    if (textOf(channel['name']) === '') this.report('a channel has no name', path);
    const both = [channel, ofPackage].every(
      ({ minVersion, maxVersion }) => textOf(minVersion) + textOf(maxVersion) !== '',
    );
    if (both)
      this.report(
        'versions are selected for both the package and its channel: select them in one place',
        path,
      );
    return { name: textOf(channel['name']), ...this.#versions(channel, path) };
  }

  /** The versions that are selected. Reports bounds that are not versions, or that no version is between. */
  #versions(fields: Fields, path: Path): VersionSelection {
    if (textOf(fields['minBundle']) !== '')
      this.report('oc-mirror v2 has no minBundle; use minVersion', [...path, 'minBundle']);
    const chosen = texts(fields, ['minVersion', 'maxVersion']);
    for (const [field, version] of Object.entries(chosen)) {
      if (!parseBound(version))
        this.report(`${field} must be a version, found ${JSON.stringify(version)}`, [...path, field]);
    }
    const { minVersion = '', maxVersion = '' } = chosen;
    const [least, most] = [parseBound(minVersion), parseBound(maxVersion)];
    if (least && most && !isWithin(least.version, least, most))
      this.report(`minVersion ${minVersion} is above maxVersion ${maxVersion}: no version is selected`, [
        ...path,
        'maxVersion',
      ]);
    return chosen;
  }

  /** One entry of `additionalImages`. */
  #additional(image: Fields, path: Path): AdditionalImage {
    const reference = withoutTransport(textOf(image['name']));
    if (!/[:@]/.test(reference.slice(reference.lastIndexOf('/') + 1))) {
      this.report(`${JSON.stringify(reference)} has neither a tag nor a digest`, [...path, 'name']);
    }
    this.#checkRepository(image['targetRepo'], [...path, 'targetRepo']);
    const repository = textOf(image['targetRepo']);
    const tag = textOf(image['targetTag']);
    return {
      reference,
      ...(repository === '' ? {} : { repository }),
      ...(tag === '' ? {} : { tag }),
      ...this.#platforms(image, path),
    };
  }

  /**
   * One entry of `blockedImages`; none for a text that is not a regular expression, or takes more steps than are left, which is
   * reported.
   */
  #blocked(image: Fields, path: Path): BlockedImages[] {
    const pattern = withinSteps(() => compileGoRegexp(textOf(image['name']), this.#steps));
    if (pattern) {
      const { source } = pattern;
      return [{ source, test: (text) => pattern.test(text, this.#steps) }];
    }
    this.report(`${JSON.stringify(image['name'])} is not a valid regular expression of Go`, [
      ...path,
      'name',
    ]);
    return [];
  }

  /** Reports a target that has more than a repository. */
  #checkRepository(value: unknown, path: Path): void {
    if (textOf(value) === '' || REPOSITORY.test(textOf(value))) return;
    this.report(`${JSON.stringify(value)} must be a repository without host, tag or digest`, path);
  }

  /** Reports each name that was there before. */
  #reportRepeated(names: readonly string[], path: (index: number) => Path, what: string): void {
    for (const [i, name] of names.entries()) {
      if (names.indexOf(name) < i)
        this.report(`the ${what} ${JSON.stringify(name)} is listed twice`, path(i));
    }
  }

  /** Reports fields that oc-mirror refuses: a misspelt field would select everything. */
  #unknownFields(value: unknown, shape: StructShape, path: Path): void {
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      const field = fieldOf(shape, key);
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

/** The shape of a configuration, and the section with its images. */
function shapeOf(value: unknown): { readonly shape: StructShape; readonly section: 'mirror' | 'delete' } {
  const { kind, apiVersion } = isObject(value) ? value : {};
  if (kind === DELETE_KIND) return { shape: DELETE_IMAGE_SET, section: 'delete' };
  return { shape: apiVersion === API_VERSION_V1 ? IMAGE_SET_V1 : IMAGE_SET, section: 'mirror' };
}

/**
 * Whether nothing is selected by a value: `helm: {}`, `samples: []`, and lists of nothing within. A switch that is off
 * selects nothing, either.
 */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.values(value).every((member) => member === false || isEmpty(member));
  return value === undefined || value === null || value === '';
}

/** oc-mirror takes an image with or without the transport of containers/image. */
function withoutTransport(reference: string): string {
  return reference.replace(/^docker:\/\//, '');
}

/** A name that differs for the same catalog under different names in the mirror. */
function uniqueName({ catalog, targetCatalog = '', targetTag = '' }: CatalogSelection): string {
  return targetCatalog + targetTag === '' ? catalog : `${catalog} as ${targetCatalog}:${targetTag}`;
}

/** Those of the fields that hold text. */
function texts<K extends string>(fields: Fields, keys: readonly K[]): { [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key of keys) if (textOf(fields[key]) !== '') found[key] = textOf(fields[key]);
  return found;
}

function foundText(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
