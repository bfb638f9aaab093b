import { lifecycleBlobs, OPENSHIFT, schemaDefects } from '../../fbc/lifecycle.ts';
import { type Blob, locate } from '../../fbc/model.ts';
import { tryParseMinor } from '../../fbc/openshift.ts';
import { mayExist } from '../../fbc/platform.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'lifecycle/platform',
  severity: 'error',
  summary: 'Reports lifecycle metadata that names platforms, or versions of them, that do not exist',
  check(catalog, report) {
    for (const blob of lifecycleBlobs(catalog)) {
      if (schemaDefects(blob).length === 0) checkPlatforms(blob, report);
    }
  },
};

interface Written {
  readonly versions: readonly {
    readonly name: string;
    readonly platformCompatibility?: readonly {
      readonly name: string;
      readonly versions: readonly string[];
    }[];
  }[];
}

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
