/** Fixtures of rules about package manifests: each is converted as both tools convert it. */
import { convertToBundles } from '../../catalog/bundle/package-bundles.ts';
import { convertPackage } from '../../catalog/bundle/package-catalog.ts';
import { readPackageFolder } from '../../catalog/bundle/package-manifest.ts';
import type { FolderKind } from './folder-kinds.ts';

export const packageManifests: FolderKind = {
  // Such a folder has a package file or a version's folder.
  has: (files) => [...files.keys()].some((path) => /package\.yaml$|^\d/.test(path)),
  judge: async (source) => {
    const folder = await readPackageFolder(source);
    return [...folder.findings, ...convertPackage(folder).findings, ...convertToBundles(folder).findings];
  },
};
