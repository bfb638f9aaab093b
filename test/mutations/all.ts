import { INPUT_MUTATIONS } from './inputs.ts';
import { LATER_MUTATIONS } from './later.ts';
import { MIRROR_MUTATIONS } from './mirrors.ts';
import type { Mutation } from './mutation.ts';
import { OUTPUT_MUTATIONS } from './outputs.ts';
import { PEOPLE_MUTATIONS } from './people.ts';
import { TREE_MUTATIONS } from './trees.ts';
import { VIEW_MUTATIONS } from './views.ts';

/** Every defence that is taken out. */
export const MUTATIONS: readonly Mutation[] = [
  ...PEOPLE_MUTATIONS,
  ...TREE_MUTATIONS,
  ...OUTPUT_MUTATIONS,
  ...INPUT_MUTATIONS,
  ...MIRROR_MUTATIONS,
  ...VIEW_MUTATIONS,
  ...LATER_MUTATIONS,
];
