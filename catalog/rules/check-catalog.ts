/**
 * Checking a whole catalog while it is read: what looks at one bundle is asked as the
 * bundle goes by, and then only what the other rules need is kept. So memory grows
 * with the graph, not with the manifests.
 */
import { keepPlaces } from '../fbc/document.ts';
import { LIFECYCLE } from '../fbc/lifecycle.ts';
import { DEFAULT_LIMITS, densityIn, type LoadLimits, load } from '../fbc/load.ts';
import {
  type Blob,
  type Blobs,
  type Bundle,
  type Catalog,
  type Channel,
  catalogOf,
  type Deprecations,
  NO_BLOBS,
  type PackageBlob,
  type Property,
} from '../fbc/model.ts';
import { compareFindings, type Finding } from '../finding.ts';
import { ownText } from '../go/text.ts';
import type { CatalogSource } from '../source.ts';
import { formatVersion, parseVersion } from '../version/version.ts';
import {
  bundleChecker,
  ownSeverity,
  type Rule,
  runCatalogChecks,
  type SeverityOf,
  withSeverities,
} from './rule.ts';

export interface CheckedCatalog {
  /** All findings, the worst first. */
  readonly findings: readonly Finding[];
  /** The catalog's graph: packages, channels, bundles and deprecations with nothing else in them. */
  readonly catalog: Catalog;
}

export interface CheckOptions {
  readonly limits?: LoadLimits;
  readonly severityOf?: SeverityOf;
}

/** Loads a catalog and runs rules over it. */
export async function checkCatalog(
  source: CatalogSource,
  rules: readonly Rule[],
  options: CheckOptions = {},
): Promise<CheckedCatalog> {
  const { limits = DEFAULT_LIMITS, severityOf = ownSeverity } = options;
  const findings: Finding[] = [];
  const checkBundle = bundleChecker(rules, severityOf, findings);
  const own = ownTexts();
  const { blobs, findings: loadFindings } = await load(source, limits, {
    bundle: (bundle) => {
      checkBundle(bundle);
      return lightBundle(bundle, own);
    },
    package: (blob) => lightPackage(blob, own),
    channel: (channel) => lightChannel(channel, own),
    deprecations: (deprecations) => lightDeprecations(deprecations, own),
    other: (blob) =>
      // Rules about the lifecycle of versions read its value once all blobs are known.
      blob.schema === LIFECYCLE
        ? { ...blob, document: blob.document.detached() }
        : lightBlob(blob, ['schema', 'package', 'name'], own),
  });
  // Of a catalog that is too dense only a part was read, and a part has other findings than the whole.
  const catalog = catalogOf(densityIn(loadFindings) ? NO_BLOBS : blobs);
  // There may be more of them than a function takes arguments.
  const all = [
    ...findings,
    ...withSeverities(loadFindings, rules, severityOf),
    ...runCatalogChecks(catalog, rules, severityOf),
  ];
  return { findings: all.sort(compareFindings), catalog };
}

/** The parts of blobs that checks of a whole catalog need: no manifests, and no source text. */
export function lightBlobs({ packages, channels, bundles, deprecations }: Blobs): Blobs {
  const own = ownTexts();
  return {
    packages: packages.map((blob) => lightPackage(blob, own)),
    channels: channels.map((channel) => lightChannel(channel, own)),
    bundles: bundles.map((bundle) => lightBundle(bundle, own)),
    deprecations: deprecations.map((blob) => lightDeprecations(blob, own)),
    others: [],
  };
}

/** Copies of texts, each made once: names of packages and bundles occur many times. */
function ownTexts(): OwnText {
  const known = new Map<string, string>();
  return (text) => {
    let own = known.get(text);
    if (own === undefined) {
      own = ownText(text);
      known.set(own, own);
    }
    return own;
  };
}

type OwnText = (text: string) => string;

/** The parts of a bundle that rules about the whole catalog need. One property stays, because findings point to the version in it. */
function lightBundle(bundle: Bundle, own: OwnText): Bundle {
  const version = bundle.properties.findIndex(({ type }) => type === 'olm.package');
  const paths = [['name'], ['package'], ['image'], ['properties', version, 'value', 'version']];
  return {
    schema: 'olm.bundle',
    package: own(bundle.package),
    name: own(bundle.name),
    value: NOTHING,
    document: keepPlaces(bundle.document, paths, BUNDLE_PLACES),
    image: own(bundle.image),
    properties: version < 0 ? NONE : OWN_PROPERTY,
    relatedImages: NONE,
    version: bundle.version && parseVersion(own(formatVersion(bundle.version))),
    release: own(bundle.release),
  };
}

const NOTHING = {};
const NONE: readonly never[] = [];
const OWN_PROPERTY: readonly Property[] = [{ type: 'olm.package', value: null }];
/** The paths whose locations are needed in a bundle that keeps only one property. */
const BUNDLE_PLACES = ['name', 'package', 'image', 'properties.0.value.version'];

/** A package with only what rules read of it once all blobs are known. */
function lightPackage(blob: PackageBlob, own: OwnText): PackageBlob {
  return {
    ...lightBlob(blob, ['name', 'defaultChannel'], own),
    defaultChannel: own(blob.defaultChannel),
    description: '',
    properties: NONE,
  };
}

/** A copy of deprecations with what rules need, in texts of its own. */
function lightDeprecations(deprecations: Deprecations, own: OwnText): Deprecations {
  const entries = deprecations.entries.map((entry) => ({
    schema: own(entry.schema),
    name: own(entry.name),
    message: own(entry.message),
    index: entry.index,
  }));
  return { ...lightBlob(deprecations, [], own), document: deprecations.document.detached(), entries };
}

/** What all blobs have, without the value, and with the locations of `fields` alone: findings point to those. */
function lightBlob(blob: Blob, fields: readonly string[], own: OwnText): Blob {
  return {
    schema: own(blob.schema),
    package: own(blob.package),
    name: own(blob.name),
    value: NOTHING,
    document: keepPlaces(
      blob.document,
      fields.map((field) => [field]),
    ),
  };
}

/**
 * A copy of a channel that keeps only what rules need, in texts of its own: parts of a text keep the whole file in
 * memory.
 */
function lightChannel(channel: Channel, own: OwnText): Channel {
  const entries = channel.entries.map((entry) => ({
    name: own(entry.name),
    replaces: own(entry.replaces),
    skips: entry.skips.length === 0 ? NONE : entry.skips.map(own),
    skipRange: own(entry.skipRange),
    index: entry.index,
  }));
  return {
    schema: 'olm.channel',
    package: own(channel.package),
    name: own(channel.name),
    value: NOTHING,
    document: channel.document.detached(),
    entries,
    properties: NONE,
  };
}
