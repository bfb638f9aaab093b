import { shortName } from '../../fbc/edge.ts';
import { repositoryOf } from '../../fbc/fragment.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import type { Path } from '../../go/shape.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { tryParseReference } from '../../reference.ts';
import { csvOf, mentionedImages, usedImages } from '../../references/csv.ts';
import { CONFIRM_HINT, imageChange, newPins, UNCONFIRMED } from '../../references/same-image.ts';
import { compareVersions } from '../../version/version.ts';
import { hasVersion, type Versioned } from '../ranges.ts';
import { headBundles } from '../reached-bundles.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'image/unpinned',
    severity: 'warning',
    summary:
      'Reports channel heads that reference images by tag: tags may move, and mirrors serve images by digest only',
    checkWorld(world, report) {
      reportNamed(world, report, {
        isWrong: (image) => !image.includes('@') && tryParseReference(image)?.kind === 'tag',
        end: ' by tag',
        hint: 'run portolan resolve DIR --write to write the digests, with the tags as comments',
      });
    },
  },
  {
    id: 'image/local',
    severity: 'warning',
    summary:
      'Reports channel heads with images of a registry on localhost, inside the cluster that built them, or of builds before a release',
    checkWorld(world, report) {
      reportNamed(world, report, {
        isWrong: (image, bundle) =>
          IN_CLUSTER.test(image) && !IN_CLUSTER.test(bundle.image) && bundle.image !== '',
        end: ': only the cluster that built it has that registry, and the bundle itself is elsewhere',
        hint: 'push the image to a registry that clusters can reach, and name it there',
      });
      reportNamed(world, report, {
        isWrong: (image) => LOCAL.test(image) && tryParseReference(image) !== undefined,
        end: ': a cluster looks for it on its own nodes',
        hint: 'push the image to a registry that clusters can reach, and name it there',
      });
      reportNamed(world, report, {
        isWrong: (image, bundle, { bundles }) =>
          BUILDS.test(image) &&
          [...bundles.values()].some((one) => (one === bundle ? isReleased(one.image) : isElsewhere(one))),
        end: ': that is for builds before their release, and the package is released elsewhere',
        hint: 'release the image, and name it where it is released',
      });
    },
  },
  {
    id: 'image/undeclared',
    severity: 'warning',
    summary:
      'Reports images that the head of a channel runs but does not declare in relatedImages, or declares without a reference, so that they are not mirrored, and lists that a new version or a change cuts to one image',
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        for (const bundle of headBundles(ofPackage)) {
          const subject = `${shortName(bundle)} of package ${quoted(ofPackage.name)}`;
          for (const [i, { name, image }] of bundle.relatedImages.entries()) {
            if (image !== '') continue;
            const message = `${subject} declares the related image ${quoted(name)} without a reference, so it is not mirrored`;
            report(message, locate(bundle, 'relatedImages', i), {
              package: ofPackage.name,
              installed: [shortName(bundle)],
              subject: `${shortName(bundle)} ${name}`,
              hint: 'write the image, or remove the entry',
            });
          }
          if (declaredImages(bundle).size > 0) continue;
          const message = `${subject} declares no image besides the bundle itself, so the images that it runs are not mirrored`;
          report(message, locate(bundle, 'relatedImages'), {
            package: ofPackage.name,
            installed: [shortName(bundle)],
            hint: LIST_HINT,
          });
        }
      }
    },
    compare(change, report) {
      for (const name of change.packages) {
        const [was, is] = [change.before, change.after].map(({ catalog }) => catalog.packages.get(name));
        if (!was || !is) continue;
        for (const bundle of headBundles(is)) {
          if (declaredImages(bundle).size !== 1) continue;
          const old = was.bundles.get(bundle.name);
          const former = old ?? versionsBelow(is).get(bundle);
          const many = former ? declaredImages(former).size : 0;
          if (!former || many < MANY_IMAGES) continue;
          const declared = old ? `it declared ${many} before` : `${shortName(former)} declares ${many}`;
          const message = `${shortName(bundle)} of package ${quoted(name)} declares only one image besides the bundle itself, where ${declared}: what else it runs is not mirrored`;
          report(message, locate(bundle, 'relatedImages'), {
            package: name,
            installed: [shortName(bundle)],
            hint: LIST_HINT,
          });
        }
      }
    },
  },
  {
    id: 'image/unlisted',
    severity: 'warning',
    summary:
      'Reports images of deployments, and of their arguments and variables, that the head of a channel does not list in relatedImages',
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        for (const bundle of headBundles(ofPackage)) {
          const csv = csvOf(bundle);
          if (!csv) continue;
          const listed = new Set([bundle.image, ...bundle.relatedImages.map(({ image }) => image)]);
          const isUnlisted = ({ image }: { readonly image: string }): boolean => !listed.has(image);
          const used = firstUses(usedImages(csv)).filter(isUnlisted);
          for (const { image } of used) listed.add(image);
          const [mentioned, ...more] = firstUses(mentionedImages(csv)).filter(isUnlisted);
          const rest = more.length === 0 ? '' : `; ${more.length} more in arguments and variables`;
          for (const { image, place, others } of [
            ...used.map((one) => ({ ...one, others: '' })),
            ...(mentioned ? [{ ...mentioned, others: rest }] : []),
          ]) {
            const message = `${shortName(bundle)} of package ${quoted(ofPackage.name)} uses ${quoted(image)} (${place}${others}), which is not among its relatedImages`;
            report(message, locate(bundle, 'relatedImages'), {
              package: ofPackage.name,
              installed: [shortName(bundle)],
              // Each image of a head is a finding of its own, and so is the same one of another head. A tag may become a digest.
              subject: `${shortName(bundle)} ${repositoryOf(image)} ${place}`,
              hint: `- {name: …, image: ${image}}`,
            });
          }
        }
      }
    },
  },
  {
    id: 'image/unconfirmed-pin',
    severity: 'warning',
    summary:
      'Reports related images that change from a tag to a digest that neither the lock file nor the registry confirms',
    reads: ['history', 'registry'],
    compare(change, report) {
      for (const name of change.packages) {
        const was = change.before.catalog.packages.get(name)?.bundles;
        for (const bundle of change.after.catalog.packages.get(name)?.bundles.values() ?? []) {
          const old = was?.get(bundle.name);
          if (!old || !change.before.isPublished({ package: name, bundle: bundle.name })) continue;
          const unconfirmedPins = newPins(old, bundle).filter(
            ({ before, after, path }) =>
              path[0] === 'relatedImages' &&
              imageChange(before, after, change.before.digests) === 'unconfirmed',
          );
          const [first, ...others] = unconfirmedPins;
          if (!first) continue;
          const more = others.length > 0 ? ` (and ${others.length} more of its images)` : '';
          const message = `bundle ${quoted(bundle.name)} is published and its related images now name ${quoted(first.after)}: nothing confirms that ${quoted(first.before)} points to that digest${more}`;
          report(message, locate(bundle, ...first.path), {
            package: name,
            installed: [shortName(old)],
            subject: UNCONFIRMED,
            hint: CONFIRM_HINT,
          });
        }
      }
    },
  },
];

const LIST_HINT = "list every image in the CSV's spec.relatedImages, and render the bundle again";

/** Operators that drop a proxy or a helper go from two images to one. A list that falls from as many as these is lost. */
const MANY_IMAGES = 4;

/** The images that a bundle declares besides itself. */
function declaredImages({ image: own, relatedImages }: Bundle): ReadonlySet<string> {
  return new Set(relatedImages.map(({ image }) => image).filter((image) => image !== '' && image !== own));
}

/** For each bundle of a package, the one with the highest of the lower versions. */
const versionsBelow = onceFor(({ bundles }: Package): ReadonlyMap<Bundle, Bundle> => {
  const ascending = [...bundles.values()]
    .filter(hasVersion)
    .sort((a, b) => compareVersions(a.version, b.version));
  const below = new Map<Bundle, Bundle>();
  let former: Versioned | undefined;
  for (const [i, bundle] of ascending.entries()) {
    const last = ascending[i - 1];
    if (last && compareVersions(last.version, bundle.version) < 0) former = last;
    if (former) below.set(bundle, former);
  }
  return below;
});

interface Named {
  readonly isWrong: (image: string, bundle: Bundle, ofPackage: Package) => boolean;
  /** How the message ends. */
  readonly end: string;
  readonly hint: string;
}

/** Reports the channel heads that name a wrong image, at the first one. */
function reportNamed(world: World, report: Report, { isWrong, end, hint }: Named): void {
  for (const ofPackage of checkedPackages(world)) {
    for (const bundle of headBundles(ofPackage)) {
      const [first, ...others] = referencesOf(bundle).filter(({ image }) =>
        isWrong(image, bundle, ofPackage),
      );
      if (!first) continue;
      const more = others.length > 0 ? ` and ${others.length} more of its images` : '';
      const message = `${shortName(bundle)} of package ${quoted(ofPackage.name)} names ${quoted(first.image)}${more}${end}`;
      report(message, locate(bundle, ...first.path), {
        package: ofPackage.name,
        installed: [shortName(bundle)],
        // One rule asks for several kinds of images, and a head that has one of a kind may get one of another.
        subject: shortName(bundle) + end,
        hint,
      });
    }
  }
}

/** The images that a bundle names, each where it is named first. */
function referencesOf({ image, relatedImages }: Bundle): { image: string; path: Path }[] {
  const all = [
    { image, path: ['image'] as Path },
    ...relatedImages.map((related, i) => ({
      image: related.image,
      path: ['relatedImages', i, 'image'] as Path,
    })),
  ];
  return [...groupedBy(all, (one) => one.image).values()].flatMap(([first]) => first ?? []);
}

/** A service inside a cluster, such as OpenShift's own registry. */
const IN_CLUSTER = /^[a-z0-9.-]+\.svc(?:\.cluster\.local)?(?::\d+)?\//i;

/** Where Konflux pushes what it builds of merges and pull requests, and what Red Hat has before a release. */
const BUILDS =
  /^(?:quay\.io\/redhat-user-workloads(?:-stage)?|registry\.stage\.redhat\.io|brew\.registry\.redhat\.io|registry-proxy\.engineering\.redhat\.com)\//;

/** Whether a bundle names only what is released; a directory of a bundle has no image of its own. */
function isElsewhere({ image, relatedImages }: Bundle): boolean {
  return image === ''
    ? relatedImages.length > 0 && relatedImages.every((one) => isReleased(one.image))
    : isReleased(image);
}

/** Whether an image is in no registry where Red Hat's pipelines keep what they build until its release. */
export function isReleased(image: string): boolean {
  return image !== '' && !BUILDS.test(image);
}

const LOCAL = /^(?:localhost(?:\.localdomain)?|127(?:\.\d{1,3}){3})(?::\d+)?\//i;

/** Each image once, where it is used first. */
function firstUses<T extends { readonly image: string }>(used: readonly T[]): T[] {
  const seen = new Set<string>();
  return used.filter(({ image }) => !seen.has(image) && seen.add(image));
}
