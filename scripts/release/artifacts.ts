/** What a release publishes beside the image of the command line. */
import type { Artifact, ReleaseFile } from './artifact.ts';
import { casesFile } from './cases.ts';
import { helmChart } from './chart-artifact.ts';
import { tektonTasks } from './tekton-bundle.ts';

export const ARTIFACTS: readonly Artifact[] = [tektonTasks, helmChart];

export const FILES: readonly ReleaseFile[] = [casesFile];
