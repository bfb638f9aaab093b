/** Defences of mirrors that several configurations share. */
import type { Mutation } from './mutation.ts';

const SYNC_TEST = 'test/pipeline/cli/mirror-sync.test.ts';
const RECORDS = 'pipeline/mirror/sync-records.ts';

export const MIRROR_MUTATIONS: readonly Mutation[] = [
  {
    attack: 56,
    without: 'asking who else needs an image',
    file: 'pipeline/cli/mirror/sync-steps.ts',
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
    file: 'pipeline/mirror/delete-companions.ts',
    text: 'tagged.has(digest) ? [] : references',
    instead: 'tagged.has(digest) ? references : references',
    test: 'test/pipeline/mirror/prune.test.ts',
  },
];
