/** What people see of a copy: how far it is, and what came of it. */
import type { CopyReport, FailedCopy } from '../../mirror/copy.ts';
import type { ProgressState } from '../../mirror/progress.ts';
import type { Refusal } from '../../mirror/writes.ts';
import type { RegistryClient } from '../../oci/registry/client.ts';
import type { Terminal } from '../../terminal.ts';
import { amountText, plainText } from '../../text.ts';
import { progressLine } from '../progress-line.ts';

/** How much is copied at a time. */
export const PACE_OPTIONS = {
  parallel: { value: 'N', description: 'number of images to copy at the same time (default: 192)' },
  concurrency: {
    value: 'N',
    description: 'concurrent requests to one host (default: 48, up to 192 for a distant host)',
  },
} as const;

/** Images at a time: most of a copy's time is waiting, for what the registries let through. */
export const PARALLEL = 192;
/** Requests at a time to a host that is far away. */
export const DISTANT_CONCURRENCY = 192;

/** Requests to all hosts so far. */
export function requestsOf(client: Pick<RegistryClient, 'traffic'>): number {
  return [...client.traffic().values()].reduce((sum, one) => sum + one.requests, 0);
}

/**
 * A line for each image that could not be copied; one for all images of a registry that accepted nothing, and one for
 * all that failed for one reason because a registry did not answer.
 */
export function failureLines({ failed, refused }: Pick<CopyReport, 'failed' | 'refused'>): string[] {
  const isOf = ({ destination }: FailedCopy, { registry }: Refusal): boolean =>
    destination.startsWith(`${registry}/`);
  const causes = refused.map((refusal) => {
    const count = failed.filter((copy) => isOf(copy, refusal)).length;
    return `failed ${amountText(count, 'image')}: no write to ${plainText(refusal.registry)} has succeeded. The first error: ${plainText(refusal.why)}`;
  });
  const others = failed.filter((copy) => !refused.some((refusal) => isOf(copy, refusal)));
  const unanswered = new Map<string, number>();
  for (const { why, isUnanswered } of others)
    if (isUnanswered) unanswered.set(why, (unanswered.get(why) ?? 0) + 1);
  // A reason that only one image has is said with the name of that image.
  const silent = [...unanswered].filter(([, count]) => count > 1);
  const named = others.filter(({ why }) => !silent.some(([one]) => one === why));
  return [
    ...causes,
    ...silent.map(([why, count]) => `failed ${amountText(count, 'image')}: ${plainText(why)}`),
    ...named.map(
      ({ source, destination, why }) =>
        `failed ${plainText(source)} -> ${plainText(destination)}: ${plainText(why)}`,
    ),
  ];
}

/** Most images that a line names. */
const MOST_NAMED = 3;

/** What a registry must allow before it takes images with layers that are not copied. */
export function elsewhereLine(sources: readonly string[]): string {
  const named = sources.slice(0, MOST_NAMED).map((source) => plainText(source));
  const more = sources.length > named.length ? ` and ${sources.length - named.length} more` : '';
  return (
    `${amountText(sources.length, 'image')} with layers that are not copied, because their manifests point to other hosts (foreign layers): ` +
    `${named.join(', ')}${more}. distribution's registry refuses them with 500 unless its configuration has ` +
    `validation.manifests.urls.allow: ['^https?://']`
  );
}

/** What was copied, in a line, and what was sent for it. */
export function copyLines(report: CopyReport & { readonly archive?: number }, requests: number): string[] {
  const { images, copied, unchanged, companions, blobs, bytes, failed, archive } = report;
  return [
    `${amountText(images, 'image')}: ${copied} copied, ${unchanged} already existed, ${failed.length} failed`,
    `  uploaded ${bytesText(bytes)} in ${amountText(blobs.uploaded, 'blob')} (${blobs.mounted} mounted, ${blobs.present} already existed), ${amountText(requests, 'request')}`,
    `  attached artifacts (signatures, SBOMs and others): ${companions} copied`,
    ...(archive === undefined ? [] : [`  archive size: ${bytesText(archive)}`]),
  ];
}

interface CopyProgress {
  /** Shows this state, where a new line is due. */
  readonly tell: (state: ProgressState) => void;
  /** Leaves the terminal with an empty line. */
  readonly end: () => void;
}

/** Shows how far a copy is: in a line of the terminal that is overwritten, or in a line of a log now and then. */
export function copyProgress(terminal: Terminal): CopyProgress {
  const { tell, clear } = progressLine(terminal);
  return {
    tell: (state) => tell((elapsed) => progressText(state, elapsed)),
    end: clear,
  };
}

/** How far a copy is: `120 of 2000 images, 1.5 GB of 20.0 GB, 35.2 MB/s, 9 min left`. @param elapsed in ms */
function progressText({ images, bytes }: ProgressState, elapsed: number): string {
  const parts = [`${images.done} of ${amountText(images.total, 'image')}`];
  if (bytes.total > 0) {
    // Bytes a second; in the first moment, no time has passed.
    const rate = bytes.done / Math.max(0.001, elapsed / 1000);
    parts.push(`${bytesText(bytes.done)} of ${bytesText(bytes.total)}`, `${bytesText(rate)}/s`);
    if (rate > 0) parts.push(`${timeText((bytes.total - bytes.done) / rate)} left`);
  }
  return parts.join(', ');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes for people, in decimal units: `1.5 GB`. */
function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A time for people, in the unit that gives it two digits: `42 s`, `12 min`, `3.5 h`. */
function timeText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
