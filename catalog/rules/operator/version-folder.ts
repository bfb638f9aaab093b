import { member } from '../../bundle/inspect.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/version-folder',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a bundle whose folder is not named after the version of its ClusterServiceVersion',
  opm: [
    "Bundle directory name 'O/V' does not match the expected operator CSV version 'W'",
    'CSV file for O/V not found',
  ],
  operator({ name, path, changed }, report) {
    for (const { folder, csv, csvFile } of changed) {
      if (!csvFile) {
        const message = `the bundle ${quoted(`${name}/${folder}`)} has no file manifests/*.clusterserviceversion.yaml`;
        const place = { file: `${path}/${folder}/manifests`, line: 1, column: 1 };
        report(message, place, { package: name, hint: `manifests/${name}.clusterserviceversion.yaml` });
        continue;
      }
      const version = member(csv, 'spec')['version'];
      if (csvFile.defect) {
        const message = `the ClusterServiceVersion cannot be read: ${csvFile.defect.message}`;
        report(message, csvFile.defect.location, { package: name });
      } else if (version !== folder) {
        const found = version === undefined ? 'no version' : `the version ${JSON.stringify(version)}`;
        const message = `the folder is named ${quoted(folder)}, but its ClusterServiceVersion has ${found}`;
        const hint = typeof version === 'string' ? `rename the folder to ${version}` : `version: '${folder}'`;
        report(message, csvFile.locate('spec', 'version'), { package: name, hint });
      }
    }
  },
};
