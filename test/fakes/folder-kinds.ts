/** Kinds of folders in fixtures of rules, beside bundles and operators. */
import type { Finding } from '../../catalog/finding.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { packageManifests } from './package-fixture.ts';

export interface FolderKind {
  has(files: ReadonlyMap<string, string>): boolean;
  judge(folder: CatalogSource): Promise<readonly Finding[]>;
}

export const FOLDER_KINDS: readonly FolderKind[] = [packageManifests];
