/** Which folder of a package is that of a bundle: one rule for directories and for git trees. */
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { escapeText } from '../../policy/layout.ts';

/** The folder that is called after the bundle's version, with or without a `v`; undefined if there is none. */
export function folderOfVersion(
  folders: readonly string[],
  { version }: Pick<Bundle, 'version'>,
): string | undefined {
  if (!version) return undefined;
  const text = formatVersion(version);
  return folders.find((folder) => folder === text || folder === `v${text}`);
}

/** Whether a file of this name may hold a ClusterServiceVersion. */
export function isCalledCsv(file: string): boolean {
  return /clusterserviceversion|csv/i.test(file);
}

/** Whether the text of a ClusterServiceVersion, in YAML or JSON, is that of a bundle, by a field with its name: none has to be parsed. */
export function isCsvOf(bytes: Buffer, { name }: Pick<Bundle, 'name'>): boolean {
  if (!bytes.includes(name)) return false;
  const field = `(?<![^\\s{,])(["']?)name\\1\\s*:\\s*(["']?)${escapeText(name)}\\2\\s*(?:[\\n,}#]|$)`;
  return new RegExp(field, 'm').test(bytes.toString('utf8'));
}
