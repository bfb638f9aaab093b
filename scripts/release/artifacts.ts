/** What a release publishes beside the image of the command line. */
import type { Artifact } from './artifact.ts';
import { helmChart } from './chart-artifact.ts';
import { tektonTasks } from './tekton-bundle.ts';

export const ARTIFACTS: readonly Artifact[] = [tektonTasks, helmChart];
