/** The progress of a copy for people: one line that is redrawn on a terminal, a line now and then in a log. */
import type { ProgressState } from '../../mirror/progress.ts';
import type { Terminal } from '../../terminal.ts';
import { progressLine } from '../progress-line.ts';

export interface CopyProgress {
  readonly tell: (state: ProgressState) => void;
  /** Leaves the terminal with an empty line. */
  readonly end: () => void;
}

export function copyProgress(terminal: Terminal): CopyProgress {
  const { tell, clear } = progressLine(terminal);
  return {
    tell: (state) => tell((milliseconds) => progressText(state, milliseconds)),
    end: clear,
  };
}

/** Such as `120 of 2000 images, 1.5 of 20.0 GB, 35.2 MB/s, 9 min left`. */
export function progressText({ images, bytes }: ProgressState, milliseconds: number): string {
  const parts = [`${images.done} of ${images.total} images`];
  if (bytes.total > 0) {
    const rate = bytes.done / Math.max(0.001, milliseconds / 1000);
    parts.push(`${bytesText(bytes.done)} of ${bytesText(bytes.total)}`, `${bytesText(rate)}/s`);
    if (rate > 0) parts.push(`${timeText((bytes.total - bytes.done) / rate)} left`);
  }
  return parts.join(', ');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes in decimal units. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

function timeText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
