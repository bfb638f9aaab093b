import { bundlePath } from '../../fbc/cache/files.ts';
import { type Blob, type Catalog, locate } from '../../fbc/model.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

/**
 * Reports blobs that `opm validate` accepts, but with which `opm serve` fails to build its cache.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/meta_key.go
 */
export const rule: Rule = {
  id: 'image/cache',
  severity: 'error',
  summary:
    'Reports what stops the cache of an index image from being built: invalid file names, and several CSV metadata of a bundle',
  check(catalog, report) {
    for (const blob of catalog.blobs.others) checkOther(blob, report);
    checkBundleFiles(catalog, report);
  },
  bundleCheck: () => (bundle, report) => {
    const metadata = bundle.properties.flatMap(({ type }, i) => (type === 'olm.csv.metadata' ? [i] : []));
    const second = metadata[1];
    if (second === undefined) return;
    const message = `bundle ${quoted(bundle.name)} has ${metadata.length} olm.csv.metadata properties, expected at most one`;
    const details = { package: bundle.package, hint: 'remove all but one' };
    report(message, locate(bundle, 'properties', second), details);
  },
};

const COMPONENT = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/** Blobs of other schemas are in folders named after schema and package. */
function checkOther(blob: Blob, report: Report): void {
  for (const field of ['schema', 'package'] as const) {
    const name = blob[field];
    if (COMPONENT.test(name) || (field === 'package' && name === '')) continue;
    const message = `the ${field} ${quoted(name)} cannot name a folder of the cache`;
    report(message, locate(blob, field), {
      package: blob.package,
      hint: 'use letters, digits, dots, underscores and hyphens; start with a letter or digit',
    });
  }
}

/** File systems take names of so many bytes. */
const LONGEST_NAME = 255;

/** Why a path cannot be the name of one file; undefined if it can. */
function fileNameDefect(path: string): string | undefined {
  if (path.includes('/') || path.includes('\0')) return 'its name cannot be part of a file name';
  return new TextEncoder().encode(path).length > LONGEST_NAME
    ? `its file name would have more than ${LONGEST_NAME} bytes`
    : undefined;
}

/** Why an entry cannot have its file beside an earlier one of the same path; undefined if none has it. */
function sharedFileDefect(what: string, earlier: string | undefined): string | undefined {
  return earlier === undefined || earlier === what ? undefined : `it would have the same file as ${earlier}`;
}

/**
 * Reports entries for which opm cannot write a file of its own. Another rule reports an entry that its channel lists
 * twice.
 */
function checkBundleFiles(catalog: Catalog, report: Report): void {
  const seen = new Map<string, string>();
  for (const channel of catalog.blobs.channels) {
    for (const entry of channel.entries) {
      const path = bundlePath(channel.package, channel.name, entry.name);
      const what = `entry ${quoted(entry.name)} of channel ${quoted(channel.name)}`;
      const other = seen.get(path);
      seen.set(path, what);
      const defect = fileNameDefect(path) ?? sharedFileDefect(what, other);
      if (defect === undefined) continue;
      const details = {
        package: channel.package,
        channel: channel.name,
        hint: 'rename the channel or the bundle',
      };
      report(
        `${what} does not fit in the cache: ${defect}`,
        locate(channel, 'entries', entry.index, 'name'),
        details,
      );
    }
  }
}
