import { RELEASE_CONFIG, reportSettings } from '../operator-checks/settings.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/release-config',
  severity: 'error',
  isOptional: true,
  summary: 'Reports what operator-pipelines does not accept in release-config.yaml',
  opm: ["Bundle's 'release-config.yaml' contains invalid data which does not comply with the schema: E"],
  operator({ name, changed }, report) {
    // An empty file counts as none.
    for (const { releaseConfig: file } of changed)
      if (file && (file.defect || file.value)) reportSettings(file, RELEASE_CONFIG, report, name);
  },
};
