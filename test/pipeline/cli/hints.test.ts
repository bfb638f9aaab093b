/** What errors and findings advise is a command line that the program takes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acceptedOptions, type Command, invocationOf } from '../../../pipeline/cli/command.ts';
import { COMMANDS } from '../../../pipeline/cli/commands.ts';
import { OPM_COMMANDS } from '../../../pipeline/cli/opm/commands.ts';
import { callOf } from '../../../pipeline/cli/opm/flags.ts';
import { PipelineError } from '../../../pipeline/error.ts';

/** Which commands print the hints of a file that name an option alone. Commands stand for their own files. */
const PRINTED_BY: Readonly<Record<string, readonly string[]>> = {
  'pipeline/cli/migration/cluster-catalogs.ts': ['migrate-to-v1'],
  'pipeline/cli/mirror/carried-statement.ts': ['mirror copy'],
  'pipeline/cli/mirror/freshness.ts': ['mirror verify', 'mirror copy'],
  'catalog/mirror/helm/chart-images.ts': ['mirror plan', 'mirror sync'],
  'pipeline/mirror/releases/signatures.ts': ['mirror plan', 'mirror sync'],
  'pipeline/mirror/releases/update-graphs.ts': ['mirror plan', 'mirror sync', 'mirror list releases'],
  'pipeline/mirror/sync-records.ts': ['mirror sync'],
  'pipeline/oci/signatures/sigstore.ts': ['verify'],
  'pipeline/publish/fence.ts': ['publish'],
  'pipeline/publish/fence-git.ts': ['publish'],
  'pipeline/publish/plan.ts': ['publish'],
  'pipeline/publish/published-commit.ts': ['publish'],
  'pipeline/publish/artifacts.ts': ['mirror plan', 'mirror copy'],
  'pipeline/publish/target.ts': ['publish'],
  'pipeline/mirror/archive/writer.ts': ['mirror copy'],
  'pipeline/mirror/copy.ts': ['mirror copy', 'mirror sync'],
  'pipeline/cli/catalog/installed-next.ts': ['next'],
  'pipeline/cli/repository/compare.ts': ['diff'],
  'pipeline/check/prospects.ts': ['audit'],
  'pipeline/oci/registry/embedded/server.ts': ['registry'],
  'catalog/mirror/image-set.ts': ['mirror plan'],
  'catalog/mirror/report.ts': ['mirror plan'],
  'catalog/mirror/style.ts': ['mirror plan'],
};

/** Files whose hints are about other programs. */
const OF_OTHERS = new Set([
  'pipeline/oci/image/zstd-frames.ts',
  'pipeline/git/objects.ts',
  'pipeline/git/process.ts',
  'pipeline/policy/setup/setup.ts',
  'pipeline/check/proposals/rollback.ts',
]);

interface Advice {
  readonly file: string;
  readonly text: string;
}

/** The hints in the sources, each as it is written there. */
const ADVICE: readonly Advice[] = ['catalog', 'pipeline', 'functions'].flatMap((layer) =>
  readdirSync(layer, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const file = join(layer, name);
      const found = readFileSync(file, 'utf8').matchAll(
        /\b(?:hint|fix)(?::|\s*=)\s*(?:[^'"`,\n]*\?\s*)?(['"`])((?:(?!\1).)*--?.*?|(?:(?!\1).)*\bportolan .*?)\1/g,
      );
      return [...found].map(([, , text = '']) => ({ file, text }));
    }),
);

/** The lines in a text that begin with the program's name, up to what ends a sentence. */
function linesIn(text: string): string[] {
  return [...text.matchAll(/\bportolan ((?:[a-z][a-z-]*)(?: [^,;:()]+)?)/g)].map(([, line = '']) => line);
}

async function commandOf(line: string): Promise<{ command: Command; rest: string[] } | undefined> {
  const words = line.split(' ');
  const [entry] = COMMANDS.filter((one) => one.words.split(' ').every((word, i) => words[i] === word)).sort(
    (a, b) => b.words.length - a.words.length,
  );
  return entry && { command: await entry.load(), rest: words.slice(entry.words.split(' ').length) };
}

const optionsIn = (text: string): string[] =>
  [...text.matchAll(/(?:^|[\s(])--([a-z][a-z-]*)/g)].map(([, name = '']) => name);

test('hints are found in the sources', () => {
  expect(ADVICE.length).toBeGreaterThan(25);
  expect(ADVICE.map(({ text }) => text)).toContain('use one --channel, or --olm v1');
});

describe('a command that a hint names takes the options that it names', () => {
  const lines = ADVICE.flatMap(({ file, text }) => linesIn(text).map((line) => ({ file, line })));

  test.each(lines)('portolan $line ($file)', async ({ line }) => {
    const found = await commandOf(line);
    expect(found, line).toBeDefined();
    if (!found) return;
    const { command, rest } = found;
    if (!command.passthrough) {
      for (const option of optionsIn(` ${rest.join(' ')}`))
        expect(Object.keys(acceptedOptions(command))).toContain(option);
      return;
    }
    const [entry] = OPM_COMMANDS.filter(({ words }) => rest.join(' ').startsWith(words));
    const opm = await entry?.load();
    expect(opm, line).toBeDefined();
    if (opm) callOf(opm, operandsAndFlags(rest.slice(opm.words.split(' ').length)));
  });
});

describe('an option that a hint names is one of the commands that print it', () => {
  const options = ADVICE.filter(
    ({ file, text }) => linesIn(text).length === 0 && !OF_OTHERS.has(file),
  ).flatMap(({ file, text }) =>
    optionsIn(text)
      .filter((option) => option !== 'help')
      .map((option) => ({ file, option })),
  );

  test.each(options)('--$option ($file)', async ({ file, option }) => {
    const own = COMMANDS.map(({ words }) => words);
    const names = PRINTED_BY[file] ?? own.filter((words) => isFileOf(file, words));
    expect(names, `say in PRINTED_BY which commands print the hints of ${file}`).not.toEqual([]);
    for (const name of names) {
      const { command } = (await commandOf(name)) ?? {};
      expect(Object.keys(command ? acceptedOptions(command) : {}), name).toContain(option);
    }
  });
});

/** What stands for an operand, and flags; other words go on with the sentence. */
function operandsAndFlags(words: readonly string[]): string[] {
  const flags = words.filter((word) => word.startsWith('--'));
  const operands = words.filter((word) => /^(?:[A-Z]+|\$\{.*)$/.test(word));
  return [...(operands.length === 0 ? ['x'] : operands), ...flags];
}

/** `pipeline/cli/mirror/plan/plan.ts` is the file of `mirror plan`. */
function isFileOf(file: string, words: string): boolean {
  const path = file.replace(/\.ts$/, '').split('/').slice(2);
  return path.join(' ') === words || path.at(-1) === words;
}

test('an option that no command has is refused by the parser that the hints are held against', async () => {
  const { command } = (await commandOf('resolve')) ?? {};
  expect(command).toBeDefined();
  if (command) expect(() => invocationOf(command, ['.', '--use-http'])).toThrow('use-http');
});

const REMEDIES = ['plain-http', 'internal', 'authority'] as const;

test.each(REMEDIES)(
  'the remedy %s names an option that every command takes which contacts registries',
  async (kind) => {
    const { hint = '' } = new PipelineError('unreachable', 'no answer', {
      remedy: { kind, host: 'quay.example' },
    });
    const [option = ''] = optionsIn(hint);
    const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
    const asking = commands.filter(({ options }) => 'authfile' in options);
    expect(asking.length).toBeGreaterThan(15);
    expect(
      asking.filter((command) => !(option in acceptedOptions(command))).map(({ words }) => words),
    ).toEqual([]);
  },
);
