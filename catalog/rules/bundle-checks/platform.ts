/**
 * Whether the images of a bundle are for the platforms that its labels name. Platforms
 * are written `os/architecture`.
 *
 * @see https://github.com/operator-framework/api/blob/master/pkg/validation/internal/multiarch.go
 */

import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import type { Path } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import type { Report } from '../rule.ts';
import { csvCheck, csvText } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

/** An image of a bundle. The name of its container decides whether it is the manager, that is the operator itself. */
interface PlacedImage {
  readonly image: string;
  readonly kind: 'manager' | 'other' | 'related';
  readonly path: Path;
  /** Undefined if the registry did not respond. */
  readonly platforms: readonly string[] | undefined;
  /** The node requirements in its deployment's affinity; empty for none. */
  readonly affinity: readonly string[];
}

interface PlatformInput {
  readonly csv: TypedCsv;
  readonly images: readonly PlacedImage[];
  /** The platforms that the labels name, or the defaults amd64 and linux. */
  readonly arch: Labelled;
  readonly os: Labelled;
  readonly report: Report;
}

interface Labelled {
  readonly values: readonly string[];
  readonly isDefault: boolean;
}

/** Makes a check that only runs where somebody has asked registries for platforms. */
function imagesCheck(check: (scene: PlatformInput) => void): Check {
  return csvCheck((csv, report, { options: { platforms } }) => {
    if (!platforms) return;
    const images = imagesOf(csv).map((placed) => ({
      ...placed,
      platforms: knownPlatforms(platforms.get(placed.image)),
    }));
    check({
      csv,
      images,
      arch: labelledPlatforms(csv, 'arch', 'amd64'),
      os: labelledPlatforms(csv, 'os', 'linux'),
      report,
    });
  });
}

/** The platforms of an image that a node may have: manifest lists contain attestations as unknown platforms. */
function knownPlatforms(platforms: readonly string[] | undefined): readonly string[] | undefined {
  return platforms?.filter(
    (platform) => !platform.split('/').some((part) => part === 'unknown' || part === ''),
  );
}

/** The platforms that a ClusterServiceVersion supports by its labels; the fallback if no label says any, as OLM does. */
function labelledPlatforms({ labels }: TypedCsv, kind: 'arch' | 'os', fallback: string): Labelled {
  const prefix = `operatorframework.io/${kind}.`;
  const values = Object.entries(labels)
    .filter(([key, value]) => key.startsWith(prefix) && value === 'supported')
    .map(([key]) => key.slice(prefix.length))
    .sort(compareText);
  return values.length > 0 ? { values, isDefault: false } : { values: [fallback], isDefault: true };
}

const PROXY = 'kube-rbac-proxy';

/**
 * Every image that a bundle runs or declares, each once in each role. What a manager runs is not listed as `other`,
 * too. As in operator-framework/api, an image of several deployments has the affinity of one of them, here the first.
 */
export function imagesOf(csv: TypedCsv): Omit<PlacedImage, 'platforms'>[] {
  const images: Omit<PlacedImage, 'platforms'>[] = [];
  const add = (placed: Omit<PlacedImage, 'platforms'>): void => {
    const isThere = images.some(
      ({ image, kind }) => image === placed.image && (kind === placed.kind || placed.kind === 'other'),
    );
    if (placed.image !== '' && !isThere) images.push(placed);
  };
  const containers = deploymentsOf(csv).flatMap(({ value, path }) => containersOf(value, path));
  for (const manager of containers.filter(({ kind }) => kind === 'manager')) add(manager);
  for (const other of containers.filter(({ kind }) => kind === 'other')) add(other);
  for (const [i, related] of memberObjects(csv.spec, 'relatedImages').entries()) {
    const path = ['spec', 'relatedImages', i, 'image'];
    add({ image: memberText(related, 'image'), kind: 'related', path, affinity: [] });
  }
  return images;
}

/** The images of a deployment's containers. Without a container `manager`, all but the proxy count as managers. */
function containersOf(deployment: Fields, path: Path): Omit<PlacedImage, 'platforms'>[] {
  const pod = memberObject(deployment, 'spec', 'template', 'spec');
  const containers = memberObjects(pod, 'containers');
  const hasManager = containers.some((container) => memberText(container, 'name') === 'manager');
  const affinity = affinityOf(pod);
  return containers.map((container, i) => {
    const name = memberText(container, 'name');
    const isManager = hasManager ? name === 'manager' : name !== PROXY;
    return {
      image: memberText(container, 'image'),
      kind: isManager ? 'manager' : 'other',
      path: [...path, 'spec', 'template', 'spec', 'containers', i, 'image'],
      affinity,
    };
  });
}

/** The platforms of the nodes that a pod may run on; empty where no term names both parts of one. */
function affinityOf(pod: Fields): string[] {
  const required = memberObject(
    pod,
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
  );
  return memberObjects(required, 'nodeSelectorTerms').flatMap((term) => {
    const valuesOf = (key: string): readonly string[] => {
      const found = memberObjects(term, 'matchExpressions').filter(
        (each) => memberText(each, 'key') === key && memberText(each, 'operator') === 'In',
      );
      // As in operator-framework/api, which keeps the values of the last one.
      return memberTexts(found.at(-1) ?? {}, 'values');
    };
    return valuesOf('kubernetes.io/os').flatMap((os) =>
      valuesOf('kubernetes.io/arch').map((arch) => `${os}/${arch}`),
    );
  });
}

export const checkPlatformsSupported: Check = imagesCheck(({ csv, images, arch, os, report }) => {
  const wanted = os.values.flatMap((one) => arch.values.map((other) => `${one}/${other}`));
  for (const { image, path, platforms } of images) {
    const missing = platforms ? wanted.filter((platform) => !platforms.includes(platform)) : [];
    if (missing.length === 0) continue;
    const why = arch.isDefault && os.isDefault ? 'without labels the platform is' : 'its labels name';
    const message = `${csvText(csv)}: the image ${JSON.stringify(image)} does not support ${missing.join(', ')}: ${why} ${wanted.join(', ')}, the image supports ${platformsText(platforms)}`;
    report(message, csv.at(...path), {
      hint: 'push a manifest list with all platforms, or remove the label',
    });
  }
});

function platformsText(platforms: readonly string[] | undefined): string {
  return platforms && platforms.length > 0 ? platforms.join(', ') : 'no platform';
}

/** Values of one part of the platforms that managers are for. */
function managerPlatforms(images: readonly PlacedImage[], part: 0 | 1): Set<string> {
  const managers = images.filter(({ kind }) => kind === 'manager');
  return new Set(
    managers.flatMap(({ platforms = [] }) => platforms.map((one) => one.split('/')[part] ?? '')),
  );
}

export const checkPlatformLabels: Check = imagesCheck(({ csv, images, arch, os, report }) => {
  for (const [kind, { values, isDefault }, part] of [
    ['arch', arch, 1],
    ['os', os, 0],
  ] as const) {
    const supported = managerPlatforms(images, part);
    // By default, `values` has a platform for which there is no label either.
    const missing = [...supported].filter((value) => isDefault || !values.includes(value)).sort(compareText);
    // An operator for the default platforms needs no labels.
    const isPlain = isDefault && missing.every((value) => values.includes(value));
    if (missing.length === 0 || isPlain) continue;
    const labels = missing.map((value) => `operatorframework.io/${kind}.${value}`);
    const message = `${csvText(csv)} lacks the label ${labels.join(', ')}: the operator's image also supports ${missing.join(', ')}, but clusters on these platforms do not list the operator without the label`;
    report(message, csv.at('metadata', 'labels'), {
      hint: labels.map((label) => `${label}: supported`).join('\n'),
    });
  }
});

export const checkPlatformsAlike: Check = imagesCheck(({ csv, images, arch, os, report }) => {
  for (const { image, kind, path, platforms } of images) {
    if (kind === 'manager' || !platforms) continue;
    for (const [labels, part] of [
      [arch, 1],
      [os, 0],
    ] as const) {
      const own = new Set(platforms.map((one) => one.split('/')[part]));
      const wanted = new Set([...labels.values, ...managerPlatforms(images, part)]);
      const missing = [...wanted].filter((value) => !own.has(value)).sort(compareText);
      if (missing.length === 0) continue;
      const message = `${csvText(csv)}: the image ${JSON.stringify(image)} does not support ${missing.join(', ')}, unlike the labels or the operator's image`;
      report(message, csv.at(...path));
    }
  }
});

/** As in operator-framework/api, an image whose platforms are unknown is reported, too. */
export const checkAffinity: Check = imagesCheck(({ csv, images, report }) => {
  for (const { image, kind, path, platforms, affinity } of images) {
    if (kind === 'related') continue;
    const say = (message: string): void =>
      report(`${csvText(csv)}: ${message} the image ${JSON.stringify(image)}`, csv.at(...path), {
        hint: AFFINITY,
      });
    if (affinity.length === 0) {
      say(
        platforms
          ? `no node affinity excludes nodes other than ${platformsText(platforms)}, the platforms of`
          : 'no node affinity excludes any nodes, and nothing is known of the platforms of',
      );
      continue;
    }
    const extra = affinity.filter((platform) => !(platforms ?? []).includes(platform));
    const not = platforms ? 'not' : 'not known to be';
    if (extra.length > 0) say(`the node affinity allows ${extra.join(', ')}, which is ${not} a platform of`);
    const lost = (platforms ?? []).filter((platform) => !affinity.includes(platform));
    if (lost.length > 0) say(`the node affinity excludes ${lost.join(', ')}, a platform of`);
  }
});

const AFFINITY =
  'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: kubernetes.io/arch and kubernetes.io/os In […]';

export const checkInspected: Check = imagesCheck(({ csv, images, report }) => {
  for (const { image, path, platforms } of images) {
    if (platforms) continue;
    report(
      `${csvText(csv)}: the platforms of the image ${JSON.stringify(image)} are unknown`,
      csv.at(...path),
    );
  }
});
