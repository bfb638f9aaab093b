import { type Catalog, type DeprecationEntry, type Deprecations, locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'deprecation/message',
    severity: 'error',
    summary: 'Reports deprecations without a message for users',
    opm: ['invalid deprecation: message must be set'],
    check(catalog, report) {
      for (const blob of catalog.blobs.deprecations) {
        for (const entry of blob.entries) {
          if (entry.message !== '') continue;
          const what =
            entry.schema === 'olm.package' ? 'the package' : `${entry.schema} ${quoted(entry.name)}`;
          const message = `deprecations of package ${quoted(blob.package)}: the deprecation of ${what} has no message`;
          const hint = 'message: "1.0 is no longer supported; move to channel stable-2.x"';
          report(message, locate(blob, 'entries', entry.index), { package: blob.package, hint });
        }
      }
    },
  },
  {
    id: 'deprecation/package',
    severity: 'error',
    summary:
      'Reports packages with several olm.deprecations blobs, and such blobs that do not name their package',
    opm: [
      'package name must be set for deprecation item i',
      'expected a maximum of one deprecation per package: "p"',
    ],
    check(catalog, report) {
      const seen = new Set<string>();
      for (const blob of catalog.blobs.deprecations) {
        if (blob.package === '') {
          report('the deprecations do not name their package', locate(blob, 'package'), {
            hint: 'package: my-operator',
          });
        } else if (seen.has(blob.package)) {
          const message = `package ${quoted(blob.package)} has more than one olm.deprecations blob`;
          report(message, locate(blob, 'package'), {
            package: blob.package,
            hint: 'merge all entries into one blob',
          });
        }
        seen.add(blob.package);
      }
    },
  },
  {
    id: 'deprecation/reference',
    severity: 'error',
    summary: 'Reports deprecations of what does not exist, and what is deprecated more than once',
    opm: [
      'schema must be set for deprecation entry [j] for package "p"',
      'duplicate deprecation entry declcfg.PackageScopedReference{…} for package "p"',
      'cannot deprecate bundle "b" for package "p": bundle not found',
      'cannot deprecate channel "c" for package "p": channel not found',
      'package name must be empty for deprecated package "p" (specified "x")',
      'cannot deprecate object declcfg.PackageScopedReference{…} referenced by entry j for package "p": object schema unknown',
    ],
    check(catalog, report) {
      for (const blob of catalog.blobs.deprecations) {
        const seen = new Set<string>();
        for (const entry of blob.entries) {
          const key = JSON.stringify([entry.schema, entry.name]);
          const defect = seen.has(key)
            ? { what: 'is a duplicate', hint: 'keep one of them' }
            : defectOf(catalog, blob, entry);
          seen.add(key);
          if (!defect) continue;
          const message = `deprecations of package ${quoted(blob.package)}: entry ${entry.index} (${entry.schema} ${quoted(entry.name)}) ${defect.what}`;
          const location = locate(
            blob,
            'entries',
            entry.index,
            'reference',
            entry.schema === '' ? 'schema' : 'name',
          );
          report(message, location, { package: blob.package, hint: defect.hint });
        }
      }
    },
  },
];

/** What is wrong with an entry of `olm.deprecations`; undefined if it names a part of its package. */
function defectOf(
  catalog: Catalog,
  blob: Deprecations,
  entry: DeprecationEntry,
): { what: string; hint: string } | undefined {
  const ofPackage = catalog.packages.get(blob.package);
  switch (entry.schema) {
    case '':
      return { what: 'does not say what it deprecates', hint: 'schema: olm.bundle' };
    case 'olm.package':
      return entry.name === ''
        ? undefined
        : { what: 'must have no name, because the blob names the package', hint: 'remove name' };
    case 'olm.channel':
      // opm makes up a default channel that does not exist, and lets it be deprecated.
      if (ofPackage?.channels.has(entry.name) || ofPackage?.defaultChannel === entry.name) return undefined;
      return {
        what: 'does not name a channel of the package',
        hint: 'correct the name, or remove the entry',
      };
    case 'olm.bundle':
      if (ofPackage?.bundles.has(entry.name)) return undefined;
      return { what: 'does not name a bundle of the package', hint: 'correct the name, or remove the entry' };
    default:
      return { what: 'has an unknown schema', hint: 'schema: olm.package, olm.channel or olm.bundle' };
  }
}
