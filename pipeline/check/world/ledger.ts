/**
 * The ledger: what was ever published, as a file of the repository, one line of JSON for
 * each bundle in each channel. It stands in for the history where that is long, was
 * rewritten, or is not cloned.
 */

import type { Catalog } from '../../../catalog/fbc/model.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { PublishedBundle } from '../../../catalog/olm/foresight/world.ts';
import { formatVersion, tryParseVersion } from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import type { Published } from './published.ts';

/** One line. */
interface LedgerLine {
  readonly catalog: string;
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  /** Empty where it is unknown. */
  readonly version: string;
  /** The last day on which the catalog was seen to have it, `YYYY-MM-DD`. */
  readonly last: string;
}

/**
 * Reads a ledger.
 *
 * @throws PipelineError `usage` for a line that is none, with its number
 */
export function readLedger(text: string, path: string): Published {
  const published = new Map<string, Map<string, PublishedBundle[]>>();
  for (const line of parseLines(text, path)) {
    const packages = published.get(line.catalog) ?? new Map<string, PublishedBundle[]>();
    published.set(line.catalog, packages);
    const bundles = packages.get(line.package) ?? [];
    packages.set(line.package, bundles);
    const { channel, bundle: name, last } = line;
    bundles.push({ channel, name, version: tryParseVersion(line.version), last });
  }
  return published;
}

/**
 * A ledger with what a catalog has today. Lines are sorted, so that two people who add to
 * it rarely meet.
 *
 * @throws PipelineError `usage` when the old text is not a ledger
 */
export function appendLedger(
  text: string,
  { path, name, catalog, today }: { path: string; name: string; catalog: Catalog; today: string },
): string {
  const lines = new Map(parseLines(text, path).map((line) => [keyOf(line), line]));
  for (const ofPackage of catalog.packages.values()) {
    for (const { name: channel, entries } of ofPackage.channels.values()) {
      for (const { name: bundle } of entries) {
        const own = ofPackage.bundles.get(bundle)?.version;
        const version = own ? formatVersion(own) : '';
        const line = { catalog: name, package: ofPackage.name, channel, bundle, version, last: today };
        lines.set(keyOf(line), line);
      }
    }
  }
  return [...lines]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, line]) => `${JSON.stringify(line)}\n`)
    .join('');
}

function keyOf({ catalog, package: packageName, channel, bundle }: LedgerLine): string {
  return JSON.stringify([catalog, packageName, channel, bundle]);
}

/** The lines of a ledger without empty ones. @throws PipelineError `usage` as {@link parseLine} */
function parseLines(text: string, path: string): LedgerLine[] {
  return text
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [parseLine(line, `${path}:${i + 1}`)]));
}

const FIELDS = ['catalog', 'package', 'channel', 'bundle', 'version', 'last'] as const;

/** One line of a ledger. @throws PipelineError `usage` for text without all fields: a lost line would let removals pass */
function parseLine(line: string, where: string): LedgerLine {
  const value = parsedJson(line);
  if (isObject(value) && FIELDS.every((field) => typeof value[field] === 'string')) {
    return value as unknown as LedgerLine;
  }
  throw new PipelineError('usage', `${where} is not a valid ledger line`, {
    hint: `each line must be JSON with ${FIELDS.join(', ')}; write the ledger with portolan ledger`,
  });
}
