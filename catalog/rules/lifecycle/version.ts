import { lifecycleBlobs, lifecycleVersions } from '../../fbc/lifecycle.ts';
import { type Catalog, locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'lifecycle/version',
  severity: 'error',
  summary:
    'Reports lifecycle metadata of packages that the catalog lacks, and minor versions that are described twice or never',
  check(catalog, report) {
    for (const blob of lifecycleBlobs(catalog)) {
      const about = `lifecycle metadata of package ${quoted(blob.package)}`;
      const of = { package: blob.package };
      const minors = minorsOf(catalog, blob.package);
      if (!minors) {
        const hint = 'correct the package, or remove the blob';
        report(`${about}: the catalog does not have this package`, locate(blob, 'package'), { ...of, hint });
        continue;
      }
      const seen = new Set<string>();
      for (const { name, index } of lifecycleVersions(blob)) {
        const place = locate(blob, 'versions', index, 'name');
        if (seen.has(name)) {
          report(`${about} describes version ${name} twice`, place, { ...of, hint: 'keep one of them' });
        } else if (!minors.has(name)) {
          // The source of such data knows all versions of an operator, a catalog only those for its platform.
          const hint = 'correct the version, or ignore this if the catalog had it before';
          report(`${about}: no bundle has version ${name}`, place, { ...of, hint, severity: 'info' });
        }
        seen.add(name);
      }
    }
  },
};

/** The minor versions of a package's bundles, such as `4.12`; undefined for a package that is not there. */
function minorsOf(catalog: Catalog, name: string): ReadonlySet<string> | undefined {
  const found = catalog.packages.get(name);
  const versions = [...(found?.bundles.values() ?? [])].flatMap(({ version }) => version ?? []);
  return found && new Set(versions.map(({ major, minor }) => `${major}.${minor}`));
}
