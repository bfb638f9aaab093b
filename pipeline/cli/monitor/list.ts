/** The list of a monitor: a repository in each line, and the entries that people removed. */
import type { RemovedEntry } from '../../check/monitor/monitor.ts';
import { PipelineError } from '../../error.ts';

export interface Listed {
  /** `OWNER/NAME`. */
  readonly name: string;
  readonly branch?: string;
}

interface MonitorList {
  readonly repositories: readonly Listed[];
  readonly removed: readonly RemovedEntry[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;
const BRANCH = /^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/;
const COMMIT = /^[0-9a-f]{7,64}$/;

/** @throws PipelineError `usage`, with the line that is wrong */
export function readMonitorList(text: string, file: string): MonitorList {
  const repositories: Listed[] = [];
  const removed: RemovedEntry[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const words = line
      .replace(/(?:^|\s)#.*$/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    const [first = '', ...rest] = words[0] === '!' ? words.slice(1) : words;
    if (words.length === 0) continue;
    const isWhole = words[0] === '!' ? COMMIT.test(rest[0] ?? '') : BRANCH.test(rest[0] ?? 'main');
    if (!NAME.test(first) || !isWhole || rest.length > (words[0] === '!' ? 2 : 1))
      throw new PipelineError(
        'usage',
        `${file}:${i + 1}: expected OWNER/NAME [BRANCH] or ! OWNER/NAME COMMIT [PACKAGE]`,
      );
    const [second = '', third] = rest;
    if (words[0] === '!')
      removed.push({ repository: first, commit: second, ...(third === undefined ? {} : { package: third }) });
    else repositories.push({ name: first, ...(second === '' ? {} : { branch: second }) });
  }
  return { repositories, removed };
}
