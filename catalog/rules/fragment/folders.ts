import { catalogFolder, isWithin } from '../../fbc/fragment.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fragment/folders',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a Dockerfile of a catalog whose folder has no folder of a package in it: Konflux refuses catalogs without one',
  opm: [
    "No package subdirectories found inside 'F'. At least one is required.",
    'F is missing catalog file.',
  ],
  fragment(fragment, report) {
    const { path, place, files } = fragment;
    const folder = catalogFolder(fragment);
    if (files === undefined || folder === undefined || folder === '') return;
    const inside = files.filter((file) => isWithin(file.path, folder) && file.path !== folder);
    if (inside.some((file) => file.path.slice(folder.length + 1).includes('/'))) return;
    const what =
      inside.length === 0
        ? `nothing is copied to ${folder}`
        : `${folder} has only files, and no folder of a package`;
    report(`${path}: ${what}`, place, { hint: `COPY catalog/ ${folder}/<package>/` });
  },
};
