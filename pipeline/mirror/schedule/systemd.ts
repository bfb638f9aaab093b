/**
 * Units of systemd that keep a mirror up to date.
 *
 * @see https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines
 */
import { PipelineError } from '../../error.ts';
import { type MirrorSchedule, syncWords } from './schedule.ts';

/** @throws PipelineError `usage` for a name with a line break */
export function serviceText(schedule: MirrorSchedule): string {
  const words = ['/usr/bin/env', 'portolan', ...syncWords(schedule)];
  return `[Unit]
Description=Mirror of ${value(schedule.config)}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
WorkingDirectory=${value(schedule.directory)}
ExecStart=${words.map(word).join(' ')}
`;
}

export function timerText({ name, hour, minute }: MirrorSchedule): string {
  const time = [hour, minute].map((number) => String(number).padStart(2, '0')).join(':');
  return `[Unit]
Description=Time of ${name}.service

[Timer]
OnCalendar=*-*-* ${time}:00 UTC
Persistent=true

[Install]
WantedBy=timers.target
`;
}

/** A value in which systemd replaces nothing. @throws PipelineError `usage` */
function value(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would begin another setting
  if (/[\x00-\x1f\x7f]/.test(text))
    throw new PipelineError('usage', `${JSON.stringify(text)} has a control character`);
  return text.replaceAll('%', '%%');
}

/** A word of a command line, whatever it holds. */
function word(text: string): string {
  const escaped = value(text).replaceAll('$', '$$$$').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return /^[\w./:@%=+,-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
