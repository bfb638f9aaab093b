/** The completions in a real shell. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../pipeline/cli/commands.ts';
import { folder } from '../fakes/folder.ts';
import { runCommand } from '../fakes/terminal.ts';

describe('bash', () => {
  let file: string;
  beforeEach(async () => {
    file = join(folder(), 'portolan.bash');
    writeFileSync(file, (await runCommand(['completion', 'bash'])).out);
  });

  /** What bash offers for the last of some words. */
  const offered = (...words: string[]): string[] => {
    const line = ['portolan', ...words].map((word) => `'${word}'`).join(' ');
    const script = `source ${file}; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _portolan; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
  };

  test('offers every command by its words', () => {
    const all = new Set(['help', ...COMMANDS.map(({ words }) => words.split(' ')[0])]);
    expect(new Set(offered(''))).toEqual(all);
    expect(offered('che')).toEqual(['check']);
    expect(offered('mirror', 'p').sort()).toEqual(['plan', 'prune']);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(offered('help', 'reh')).toEqual(['rehearse']);
    expect(offered('help', 'mirror', 'p').sort()).toEqual(['plan', 'prune']);
  });

  test('offers each word of a command of three, once, and then its options', () => {
    expect(offered('mirror', 'l')).toEqual(['list']);
    expect(offered('mirror', 'list', '').sort()).toEqual(['operators', 'releases']);
    expect(offered('mirror', 'list', 'releases', '--channels')).toEqual(['--channels']);
  });

  test('offers the options of the command that was typed, and the words that they take', () => {
    expect(offered('check', '--fo')).toEqual(['--format']);
    expect(offered('check', '--j')).toEqual(['--json']);
    expect(offered('check', '--format', '')).toEqual(['text', 'json', 'markdown', 'sarif', 'code-quality']);
    expect(offered('diff', 'a', 'b', '--format', 'm')).toEqual(['markdown']);
    expect(offered('mirror', 'plan', '--he')).toEqual(['--help']);
    expect(offered('convert', 'package-manifests', '--he')).toEqual(['--help']);
    expect(offered('check', '--nothing-like-it')).toEqual(['']);
  });
});
