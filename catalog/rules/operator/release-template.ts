import type { OperatorFile, OperatorFolder } from '../../bundle/operator-folder.ts';
import { isObject } from '../../go/shape.ts';
import { jsonText } from '../../json.ts';
import { mappedTemplates, settingOf, usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/release-template',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a template in release-config.yaml that ci.yaml does not name, and channels that its type does not allow',
  opm: [
    "Bundle's 'release-config.yaml' is used but FBC is not enabled for the operator.",
    "Bundle's 'release-config.yaml' contains a catalog template 'T' that is not defined in the ci.yaml file under 'catalog_mapping'.",
    "Bundle's 'release-config.yaml' contains a semver catalog template 'T' with invalid channels: C.",
  ],
  operator(operator, report) {
    for (const { releaseConfig } of operator.changed)
      if (releaseConfig?.value) checkTemplates(releaseConfig, operator, report);
  },
};

/** The only channels of a semver template. */
const SEMVER_CHANNELS: readonly unknown[] = ['Fast', 'Candidate', 'Stable'];

/** Checks that each template of a release is one of the operator's, with channels that it can have. */
function checkTemplates(file: OperatorFile, operator: OperatorFolder, report: Report): void {
  const details = { package: operator.name };
  if (!usesCatalogs(operator)) {
    const message = `release-config.yaml is there, but ci.yaml of ${quoted(operator.name)} does not have fbc.enabled: true`;
    report(message, file.locate(), { ...details, hint: 'fbc: {enabled: true}' });
    return;
  }
  const templates = settingOf(file, 'catalog_templates');
  const mapped = mappedTemplates(operator);
  for (const [i, template] of (Array.isArray(templates) ? templates : []).entries()) {
    if (!isObject(template)) continue;
    const name = String(template['template_name']);
    const known = mapped.find((one) => one.template === name);
    if (!known) {
      const message = `the template ${quoted(name)} is not in fbc.catalog_mapping of ci.yaml`;
      const names = mapped.map((one) => one.template).join(', ');
      const hint = names === '' ? 'add it to fbc.catalog_mapping' : `one of ${names}`;
      report(message, file.locate('catalog_templates', i, 'template_name'), { ...details, hint });
    } else if (known.type === 'olm.semver') {
      const channels = Array.isArray(template['channels']) ? template['channels'] : [];
      const wrong = channels.find((channel) => !SEMVER_CHANNELS.includes(channel));
      if (wrong === undefined) continue;
      const message = `the semver template ${quoted(name)} cannot have channel ${jsonText(wrong)}`;
      const hint = 'channels: any of Fast, Candidate and Stable';
      report(message, file.locate('catalog_templates', i, 'channels'), { ...details, hint });
    }
  }
}
