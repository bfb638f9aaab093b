import {
  checkAffinity,
  checkInspected,
  checkPlatformLabels,
  checkPlatformsAlike,
  checkPlatformsSupported,
} from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'platform/affinity',
    severity: 'info',
    summary: 'Reports deployments whose node affinity allows other platforms than those of their images',
    opm: [
      `check if the CSV has a missing or invalid node affinity configuration for the image: I. …`,
      `the CSV includes A in the node affinity configuration for the image: I, but …`,
      `the image data indicates A is supported for the image: I, but …`,
    ],
    inspect: checkAffinity,
  },
  {
    id: 'platform/alike',
    severity: 'warning',
    summary: 'Reports images of a bundle that support other platforms than the operator',
    fix: 'build the image for the same platforms as the operator',
    opm: [`check if the image I should not support A. …`],
    inspect: checkPlatformsAlike,
  },
  {
    id: 'platform/label',
    severity: 'warning',
    summary: "Reports platforms of the operator's image that the labels of the ClusterServiceVersion lack",
    opm: [
      `check if the CSV is missing the label (operatorframework.io/arch.<value>) for the Arch(s): …`,
      `check if the CSV is missing the label (operatorframework.io/os.<value>) for the OS(s): …`,
    ],
    inspect: checkPlatformLabels,
  },
  {
    id: 'platform/unknown',
    severity: 'warning',
    summary: 'Reports images of bundles whose platforms are unknown',
    fix: 'allow Portolan to contact the registry, or declare the platforms with labels operatorframework.io/arch.…',
    opm: [`unable to inspect the image (I) : …`],
    inspect: checkInspected,
  },
  {
    id: 'platform/unsupported',
    severity: 'error',
    summary: "Reports images of a bundle that lack a platform in the ClusterServiceVersion's labels",
    opm: [`not all images specified are providing the support described via the CSV labels. …`],
    inspect: checkPlatformsSupported,
  },
];
