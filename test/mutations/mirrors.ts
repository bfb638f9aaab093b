/** Defences of mirrors that several configurations share. */
import type { Mutation } from './mutation.ts';

const SYNC_TEST = 'test/pipeline/cli/mirror-sync.slow.test.ts';
const RECORDS = 'pipeline/mirror/sync-records.ts';
const ARCHIVED = 'pipeline/mirror/archive/plan.ts';
const ARCHIVE_TEST = 'test/pipeline/cli/mirror-freshness.slow.test.ts';

export const MIRROR_MUTATIONS: readonly Mutation[] = [
  {
    attack: 56,
    without: 'asking who else needs an image',
    file: 'pipeline/cli/mirror/sync/steps.ts',
    text: 'const others = await records.others();',
    instead: 'const others = (await records.others()).slice(0, 0);',
    test: SYNC_TEST,
  },
  {
    attack: 56,
    without: 'refusing records that cannot be read',
    file: RECORDS,
    text: 'if (record?.id === tag.tag) return record;',
    instead: 'if (record?.id === tag.tag || tag) return record;',
    test: SYNC_TEST,
  },
  {
    attack: 56,
    without: 'asking whose catalog a tag is',
    file: RECORDS,
    text: 'if (rival) throw',
    instead: 'if (rival && needs.catalogs.length === 0) throw',
    test: SYNC_TEST,
  },
  {
    attack: 56,
    without: 'keeping the signatures of an image that stays',
    file: 'pipeline/mirror/prune.ts',
    text: '!staying.has(owner) && !keep',
    instead: '!keep',
    test: 'test/pipeline/mirror/prune.slow.test.ts',
  },
  {
    attack: 68,
    without: 'comparing the files of an archive with its receipt',
    file: ARCHIVED,
    text: 'if (found !== digest) throw digestMismatch(join(archive, name), digest, found);',
    instead: 'if (found === undefined) throw digestMismatch(join(archive, name), digest, found);',
    test: ARCHIVE_TEST,
  },
  {
    attack: 68,
    without: 'refusing links in archives',
    file: 'pipeline/mirror/archive/files.ts',
    text: 'if (isLinked || (found && !found.isFile()))',
    instead: 'if (isLinked)',
    test: ARCHIVE_TEST,
  },
  {
    attack: 68,
    without: 'a look at the parts of an archive before they are opened',
    file: 'pipeline/mirror/archive/parts.ts',
    text: 'const found = fileInside(directory, basename(path));',
    instead: 'const found = existsSync(path) ? statSync(path) : undefined;',
    and: {
      file: 'pipeline/mirror/archive/parts.ts',
      text: 'import { type FileHandle, open,',
      instead: "import { existsSync, statSync } from 'node:fs';\nimport { type FileHandle, open,",
    },
    test: 'test/pipeline/mirror/copy.slow.test.ts',
  },
  {
    attack: 68,
    without: 'comparing the mapping that is used',
    file: 'pipeline/cli/mirror/copy.ts',
    text: 'const bytes = files.get(MAPPING);',
    instead: 'const bytes = new TextEncoder().encode(readText(path));',
    test: ARCHIVE_TEST,
  },
  {
    attack: 68,
    without: 'comparing what verify and diff read in an archive',
    file: ARCHIVED,
    text: 'if (!isArchive(folder)) return;',
    instead: 'if (folder !== undefined) return;',
    test: ARCHIVE_TEST,
  },
  {
    attack: 68,
    without: 'comparing manifests with the signed statement',
    file: 'catalog/mirror/freshness/freshness.ts',
    text: 'return is === was ? [] :',
    instead: "return is !== '' ? [] :",
    test: ARCHIVE_TEST,
    title: 'in the receipt too',
  },
];
