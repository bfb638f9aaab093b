import { type Bundle, locate } from '../../fbc/model.ts';
import { compareMinors, formatMinor } from '../../fbc/openshift.ts';
import { kubernetesOf } from '../../fbc/platform.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * OLM v0 keeps the ClusterServiceVersion pending; OLM v1 does not look at the field.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/requirements.go `minKubeVersionStatus`
 */
export const rule: Rule = {
  id: 'graph/min-kube-version',
  severity: 'error',
  summary: "Reports bundles whose minKubeVersion is above the platform's Kubernetes version",
  reads: ['manifests'],
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const ofPackage of checkedPackages(world)) {
      const wrong = reachedBundles(world, ofPackage).flatMap(({ bundle, olm }) => {
        const defect = olm.has('v0') ? defectOf(bundle, world) : undefined;
        return defect ? [{ bundle, ...defect }] : [];
      });
      for (const group of grouped(wrong, ({ text }) => text)) {
        const [first] = group;
        if (!first) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const message = `under OLM v0 the installation of ${listed(versions)} of package ${quoted(ofPackage.name)} never completes: ${first.text}`;
        report(message, locate(first.bundle, 'properties'), {
          package: ofPackage.name,
          installed: versions,
          hint: first.hint,
        });
      }
    }
  },
};

interface Defect {
  readonly text: string;
  readonly hint: string;
}

/** The versions that OLM v0 parses: all three numbers, with or without a `v`. */
const READABLE = /^v?([0-9]{1,9})\.([0-9]{1,9})\.[0-9]+(?:[-+].*)?$/;

function defectOf(bundle: Bundle, { manifests, platform }: World): Defect | undefined {
  const written = manifests(bundle).csv?.minKubeVersion ?? '';
  if (written === '') return undefined;
  const [, major, minor] = READABLE.exec(written) ?? [];
  if (major === undefined || minor === undefined) {
    return {
      text: `the minKubeVersion ${quoted(written)} is not valid, expected three numbers`,
      hint: 'publish a bundle with a valid minKubeVersion, for example 1.28.0',
    };
  }
  const wanted = { major: Number(major), minor: Number(minor) };
  const kubernetes = platform && kubernetesOf(platform);
  if (!platform || !kubernetes || compareMinors(wanted, kubernetes) <= 0) return undefined;
  const openshift = `OpenShift ${formatMinor(platform)}`;
  return {
    text: `the minKubeVersion is ${written}, and ${openshift} has Kubernetes ${formatMinor(kubernetes)}`,
    hint: `remove the bundle from the catalog of ${openshift}, or publish one with a lower minKubeVersion`,
  };
}
