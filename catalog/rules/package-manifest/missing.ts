import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/missing',
  severity: 'error',
  summary: 'A folder of package manifests has a package file',
  fix: 'create a file, for example etcd.package.yaml, with packageName, channels and defaultChannel',
  opm: ['valid PackageManifest YAML file not found in DIR'],
};
