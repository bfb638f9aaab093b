/**
 * The metadata of a bundle: `annotations.yaml` and the Dockerfile, as opm writes them.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/lib/bundle/generate.go
 */
import { emitYaml } from '../yaml/emit.ts';

const PREFIX = 'operators.operatorframework.io.bundle';

export interface BundleLabels {
  readonly mediaType: 'registry+v1' | 'helm+v1' | 'plain+v0';
  readonly package: string;
  readonly channels: readonly string[];
  /** The empty string for none. */
  readonly defaultChannel: string;
}

/** The labels of a bundle's image in the order of its Dockerfile. */
export function bundleLabels({
  mediaType,
  package: name,
  channels,
  defaultChannel,
}: BundleLabels): [string, string][] {
  return [
    [`${PREFIX}.mediatype.v1`, mediaType],
    [`${PREFIX}.manifests.v1`, 'manifests/'],
    [`${PREFIX}.metadata.v1`, 'metadata/'],
    [`${PREFIX}.package.v1`, name],
    [`${PREFIX}.channels.v1`, channels.join(',')],
    ...(defaultChannel === '' ? [] : [[`${PREFIX}.channel.default.v1`, defaultChannel] as [string, string]]),
  ];
}

/** The text of `metadata/annotations.yaml`. */
export function annotationsYaml(labels: BundleLabels): string {
  const annotations = emitYaml(Object.fromEntries(bundleLabels(labels)));
  // Every line is indented that is not empty.
  return `annotations:\n${annotations.replaceAll(/^(?=.)/gm, '  ')}`;
}

/** Where a Dockerfile finds what it copies, relative to the directory of the build. */
interface CopiedFolders {
  readonly manifests: string;
  readonly metadata: string;
  /** The image to start from; `scratch` when left out. */
  readonly base?: string;
}

/** An instruction for a label; a value that a Dockerfile would read in another way is quoted. It must be one line. */
export function labelLine(key: string, value: string): string {
  const isPlain = /^[\w.,:;/@+=~-]*$/.test(value);
  return `LABEL ${key}=${isPlain ? value : `"${value.replaceAll(/["\\$]/g, String.raw`\$&`)}"`}`;
}

/** Characters that end a line of a Dockerfile, or that nobody sees in it. */
export const NOT_IN_A_LINE: RegExp = /[\p{Cc}\u2028\u2029]/u;

/** The text of a bundle's Dockerfile. */
export function bundleDockerfile(labels: BundleLabels, folders: CopiedFolders): string {
  const lines = bundleLabels(labels).map(([key, value]) => labelLine(key, value));
  return [
    `FROM ${folders.base ?? 'scratch'}`,
    '',
    ...lines,
    // opm writes this blank line only behind the label of a default channel.
    ...(labels.defaultChannel === '' ? [] : ['']),
    `COPY ${folders.manifests} /manifests/`,
    `COPY ${folders.metadata} /metadata/`,
    '',
  ].join('\n');
}
