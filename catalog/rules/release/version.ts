import { member } from '../../bundle/inspect.ts';
import { tryParseVersion } from '../../version/version.ts';
import { called, ofCsv } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'release/version',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a ClusterServiceVersion whose version is not a semantic version',
  opm: ['The ClusterServiceVersion spec.version, "V", is not a valid semver'],
  inspect: ofCsv((csv, report) => {
    const version = member(csv.object.value, 'spec')['version'];
    if (typeof version === 'string' && tryParseVersion(version)) return;
    const found = version === undefined ? 'has no version' : `has version ${JSON.stringify(version)}`;
    const message = `${called(csv)} ${found}: the release policy requires a semantic version`;
    report(message, csv.at('spec', 'version'), { hint: 'version: 1.0.0' });
  }),
};
