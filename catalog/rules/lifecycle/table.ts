import {
  daysAfter,
  LIFECYCLE,
  lifecycleBlobs,
  lifecycleVersions,
  OPENSHIFT,
  schemaDefects,
} from '../../fbc/lifecycle.ts';
import { type Blob, type Catalog, locate } from '../../fbc/model.ts';
import { tryParseMinor } from '../../fbc/openshift.ts';
import { mayExist } from '../../fbc/platform.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'lifecycle/duplicate',
    severity: 'error',
    summary:
      "Reports packages with several blobs of lifecycle metadata, of which OpenShift's console shows none",
    check(catalog, report) {
      const first = new Map<string, string>();
      for (const blob of catalog.blobs.others) {
        if (blob.schema !== LIFECYCLE) continue;
        const { file, line } = locate(blob, 'package');
        const known = first.get(blob.package);
        if (known === undefined) {
          first.set(blob.package, `${file}:${line}`);
          continue;
        }
        const message = `package ${quoted(blob.package)} has lifecycle metadata twice (first at ${known})`;
        report(message, locate(blob, 'package'), { package: blob.package, hint: 'keep one of the blobs' });
      }
    },
  },
  {
    id: 'lifecycle/phases',
    severity: 'error',
    summary: 'Reports support phases with gaps between them, and phases that end before they begin',
    check(catalog, report) {
      for (const blob of lifecycleBlobs(catalog)) {
        for (const { name, index, phases } of lifecycleVersions(blob)) {
          const about = `lifecycle metadata of package ${quoted(blob.package)}, version ${name}`;
          for (const [i, { name: phase, start, end }] of phases.entries()) {
            const place = (field: string) => locate(blob, 'versions', index, 'phases', i, field);
            const details = { package: blob.package };
            if (end <= start) {
              const message = `${about}: phase ${quoted(phase)} ends on ${end}, not after it begins (${start})`;
              report(message, place('endDate'), { ...details, hint: 'correct startDate or endDate' });
            }
            const before = phases[i - 1];
            const expected = before && daysAfter(before.end, 1);
            if (!before || start === expected) continue;
            const message = `${about}: phase ${quoted(phase)} begins on ${start}, but ${quoted(before.name)} ends on ${before.end}`;
            report(message, place('startDate'), { ...details, hint: `startDate: "${expected}"` });
          }
        }
      }
    },
  },
  {
    id: 'lifecycle/platform',
    severity: 'error',
    summary: 'Reports lifecycle metadata that names platforms, or versions of them, that do not exist',
    check(catalog, report) {
      for (const blob of lifecycleBlobs(catalog)) {
        if (schemaDefects(blob).length === 0) checkPlatforms(blob, report);
      }
    },
  },
  {
    id: 'lifecycle/schema',
    severity: 'error',
    summary: 'Reports lifecycle metadata that does not follow its schema',
    check(catalog, report) {
      for (const blob of lifecycleBlobs(catalog)) {
        for (const { path, what, hint } of schemaDefects(blob)) {
          report(`lifecycle metadata of package ${quoted(blob.package)}: ${what}`, locate(blob, ...path), {
            package: blob.package,
            hint,
          });
        }
      }
    },
  },
  {
    id: 'lifecycle/version',
    severity: 'error',
    summary:
      'Reports lifecycle metadata of packages that the catalog lacks, and minor versions that are described twice or never',
    check(catalog, report) {
      for (const blob of lifecycleBlobs(catalog)) {
        const about = `lifecycle metadata of package ${quoted(blob.package)}`;
        const details = { package: blob.package };
        const minors = minorsOf(catalog, blob.package);
        if (!minors) {
          const hint = 'correct the package, or remove the blob';
          report(`${about}: the catalog does not have this package`, locate(blob, 'package'), {
            ...details,
            hint,
          });
          continue;
        }
        const seen = new Set<string>();
        for (const { name, index } of lifecycleVersions(blob)) {
          const place = locate(blob, 'versions', index, 'name');
          if (seen.has(name)) {
            report(`${about} describes version ${name} twice`, place, {
              ...details,
              hint: 'keep one of them',
            });
          } else if (!minors.has(name)) {
            // The source of such data knows all versions of an operator, a catalog only those for its platform.
            const hint = 'correct the version, or ignore this if the catalog had it before';
            report(`${about}: no bundle has version ${name}`, place, { ...details, hint, severity: 'info' });
          }
          seen.add(name);
        }
      }
    },
  },
];

interface Written {
  readonly versions: readonly {
    readonly name: string;
    readonly platformCompatibility?: readonly {
      readonly name: string;
      readonly versions: readonly string[];
    }[];
  }[];
}

/** Reports platforms that the console does not know, and versions of OpenShift that do not exist, in a blob of sound schema. */
function checkPlatforms(blob: Blob, report: Report): void {
  for (const [i, { name: version, platformCompatibility = [] }] of (
    blob.value as unknown as Written
  ).versions.entries()) {
    const about = `lifecycle metadata of package ${quoted(blob.package)}, version ${version}`;
    for (const [j, { name, versions }] of platformCompatibility.entries()) {
      const path = ['versions', i, 'platformCompatibility', j] as const;
      if (name !== OPENSHIFT) {
        const message = `${about}: the console does not know platform ${quoted(name)}`;
        report(message, locate(blob, ...path, 'name'), { package: blob.package, hint: `name: ${OPENSHIFT}` });
        continue;
      }
      for (const [k, text] of versions.entries()) {
        const minor = tryParseMinor(text);
        if (minor && mayExist(minor)) continue;
        const message = `${about}: there is no OpenShift ${text}`;
        const hint = 'for example 4.22 or 5.0 (4.23 is 5.0)';
        report(message, locate(blob, ...path, 'versions', k), { package: blob.package, hint });
      }
    }
  }
}

/** The minor versions of a package's bundles, such as `4.12`; undefined for a package that is not there. */
function minorsOf(catalog: Catalog, name: string): ReadonlySet<string> | undefined {
  const found = catalog.packages.get(name);
  const versions = [...(found?.bundles.values() ?? [])].flatMap(({ version }) => version ?? []);
  return found && new Set(versions.map(({ major, minor }) => `${major}.${minor}`));
}
