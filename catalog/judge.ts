/**
 * Judging a whole catalog while it is read: what looks at one bundle is asked as the
 * bundle goes by, and then only what the other rules need is kept. So memory grows
 * with the graph, not with the manifests.
 */
import { keepPlaces, ownText } from './document.ts';
import { compareFindings, type Finding } from './finding.ts';
import { DEFAULT_LIMITS, type LoadLimits, load } from './load.ts';
import {
  type Blob,
  type Bundle,
  type Catalog,
  type Channel,
  catalogOf,
  type Deprecations,
  type PackageBlob,
} from './model.ts';
import {
  bundleJudge,
  ownSeverity,
  type Rule,
  runCatalogChecks,
  type SeverityOf,
  withSeverities,
} from './rules/rule.ts';
import type { CatalogSource } from './source.ts';
import { formatVersion, parseVersion } from './version.ts';

export interface Judged {
  /** All findings, the worst first. */
  readonly findings: readonly Finding[];
  /** The catalog's graph: packages, channels, bundles and deprecations with nothing else in them. */
  readonly catalog: Catalog;
}

export interface JudgeOptions {
  readonly limits?: LoadLimits;
  readonly severityOf?: SeverityOf;
}

/** Loads a catalog and runs rules over it. */
export async function judge(
  source: CatalogSource,
  rules: readonly Rule[],
  options: JudgeOptions = {},
): Promise<Judged> {
  const { limits = DEFAULT_LIMITS, severityOf = ownSeverity } = options;
  const findings: Finding[] = [];
  const judgeBundle = bundleJudge(rules, severityOf, findings);
  const { blobs, findings: unread } = await load(source, limits, {
    bundle: (bundle) => {
      judgeBundle(bundle);
      return lightBundle(bundle);
    },
    package: ownPackage,
    channel: ownChannel,
    deprecations: ownDeprecations,
    other: ownBlob,
  });
  const catalog = catalogOf(blobs);
  findings.push(
    ...withSeverities(unread, rules, severityOf),
    ...runCatalogChecks(catalog, rules, severityOf),
  );
  return { findings: findings.sort(compareFindings), catalog };
}

/** What is left of a bundle for the rules that look at the whole catalog. */
function lightBundle(bundle: Bundle): Bundle {
  const version = bundle.properties.findIndex(({ type }) => type === 'olm.package');
  return {
    schema: 'olm.bundle',
    package: ownText(bundle.package),
    name: ownText(bundle.name),
    value: {},
    document: keepPlaces(bundle.document, [
      [['name'], ['name']],
      [['package'], ['package']],
      [
        ['properties', version, 'value', 'version'],
        ['properties', 0, 'value', 'version'],
      ],
    ]),
    image: '',
    properties: version < 0 ? [] : [{ type: 'olm.package', value: null }],
    relatedImages: [],
    version: bundle.version && parseVersion(ownText(formatVersion(bundle.version))),
    release: ownText(bundle.release),
  };
}

function ownPackage(blob: PackageBlob): PackageBlob {
  return {
    ...ownBlob(blob, ['defaultChannel']),
    defaultChannel: ownText(blob.defaultChannel),
    description: '',
    properties: [],
  };
}

function ownDeprecations(deprecations: Deprecations): Deprecations {
  const entries = deprecations.entries.map((entry) => ({
    schema: ownText(entry.schema),
    name: ownText(entry.name),
    message: ownText(entry.message),
    index: entry.index,
  }));
  return { ...ownBlob(deprecations), document: deprecations.document.detached(), entries };
}

/** What all blobs have, with the places of it and of further fields. */
function ownBlob(blob: Blob, further: readonly string[] = []): Blob {
  const fields = ['schema', 'package', 'name', ...further];
  return {
    schema: ownText(blob.schema),
    package: ownText(blob.package),
    name: ownText(blob.name),
    value: {},
    document: keepPlaces(
      blob.document,
      fields.map((field) => [[field], [field]]),
    ),
  };
}

function ownChannel(channel: Channel): Channel {
  const entries = channel.entries.map((entry) => ({
    name: ownText(entry.name),
    replaces: ownText(entry.replaces),
    skips: entry.skips.map(ownText),
    skipRange: ownText(entry.skipRange),
    index: entry.index,
  }));
  return {
    schema: 'olm.channel',
    package: ownText(channel.package),
    name: ownText(channel.name),
    value: {},
    document: channel.document.detached(),
    entries,
    properties: [],
  };
}
