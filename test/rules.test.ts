import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Finding } from '../catalog/finding.ts';
import { RULES } from '../catalog/rules/index.ts';
import { exampleOf, examplesOf } from './fakes/rule-example.ts';
import {
  type Expected,
  expectations,
  fixturesIn,
  judgeArchive,
  judgeChange,
  judgeState,
  memberExpectations,
  type PlacedExpectation,
} from './fakes/rule-fixture.ts';
import { membersOf } from './fakes/txtar.ts';

/**
 * Each fixture is a catalog of one file, or `<name>.base.yaml` and `<name>.head.yaml`
 * for a change. On a line with a defect stands, as a comment, the rule and a part of its
 * message; `<fixture>.expected` says so for files that cannot hold comments. Findings of
 * the folder's rule, and of every rule that is expected at all, must be exactly the
 * expected ones. A line `# world: {…}` says what surrounds the catalog, a line
 * `# registries: {…}` what registries say of its references.
 * `<name>.txtar` holds the files of a folder of package manifests, or of a bundle.
 * `<fixture>.fix` says what to edit so that the rule finds nothing: it is the example in docs/rules.md.
 */
const ROOT = 'test/rules';
const IDS = new Set(RULES.map(({ id }) => id));

test('each folder of fixtures is that of a rule', () => {
  const folders = readdirSync(ROOT).flatMap((kind) =>
    readdirSync(join(ROOT, kind)).map((name) => `${kind}/${name}`),
  );
  expect(folders.filter((id) => !IDS.has(id))).toEqual([]);
});

/** What is found in archives, by their paths: two tests look at it. */
const judgedArchives = new Map<string, Promise<readonly Finding[]>>();

function archiveFindings(path: string): Promise<readonly Finding[]> {
  const known = judgedArchives.get(path) ?? judgeArchive(membersOf(readFileSync(path, 'utf8')));
  judgedArchives.set(path, known);
  return known;
}

describe.each(RULES.map(({ id }) => id).filter((id) => existsSync(join(ROOT, id))))('%s', (id) => {
  const folder = join(ROOT, id);
  const { states, changes, archives } = fixturesIn(folder);

  test.each(states)('%s', async (file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    expectExactly(id, expectations(join(folder, file), text), await judgeState(folder, file));
  });

  test.each(archives)('%s', async (file) => {
    const members = membersOf(readFileSync(join(folder, file), 'utf8'));
    const expected = [...members].flatMap(([path, text]) => memberExpectations(path, text));
    const found = await archiveFindings(join(folder, file));
    const watched = new Set([id, ...expected.map(({ rule }) => rule)]);
    const shownFindings = found.filter(({ rule }) => watched.has(rule));
    const match = (e: PlacedExpectation): string => {
      const same = shownFindings.find(
        (f) =>
          f.rule === e.rule &&
          f.location.file === e.file &&
          f.location.line === e.line &&
          f.message.includes(e.message),
      );
      return same ? placed(same) : `${e.file}:${e.line}: ${e.rule}: …${e.message}…`;
    };
    expect(shownFindings.map(placed).sort()).toEqual(expected.map(match).sort());
  });

  test.each(changes)('%s', async (base) => {
    const head = base.replace('.base.', '.head.');
    const expected = [base, head].flatMap((file) =>
      expectations(join(folder, file), readFileSync(join(folder, file), 'utf8')),
    );
    expectExactly(id, expected, await judgeChange(folder, base));
  });
});

test('a version or release that is not valid is a finding of its package, which a waiver can name', async () => {
  const folder = join(ROOT, 'bundle/version');
  const found = await Promise.all(fixturesIn(folder).states.map((file) => judgeState(folder, file)));
  const packages = found.flat().flatMap((one) => (one.rule === 'bundle/version' ? [one.package] : []));
  expect(packages).toEqual(['etcd', 'etcd']);
});

const PAGE = readFileSync('docs/rules.md', 'utf8');
/** What no edit of a file fixes: its size, and what registries know of an image. */
const WITHOUT_FIX = ['manifest/size', 'platform/unknown'];

describe.each([...IDS].filter((id) => existsSync(join(ROOT, id))))('the page on %s', (id) => {
  const folder = join(ROOT, id);
  const [, section = ''] = PAGE.split(`\`${id}\`\n\n`);

  test('has an example with a fix, after which the rule finds nothing', async () => {
    const example = await exampleOf(folder, id);
    expect(section).toContain(example?.finding.message.slice(0, 40));
    if (WITHOUT_FIX.includes(id)) return;
    expect(example?.wrong).toEqual([]);
    expect(example?.fix.some((line) => /^[-+]/.test(line))).toBe(true);
    expect(section.split('\n### ')[0]).toContain(`\n${example?.fix.join('\n')}\n\`\`\`\n`);
  });

  test('every fix makes the finding of its fixture go away', async () => {
    const examples = await examplesOf(folder, id);
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.fix'))) {
      const example = examples.find(({ fixture }) => `${fixture}.fix` === name);
      expect(example?.fix, name).not.toEqual([]);
      expect(example?.wrong, name).toEqual([]);
    }
  });

  test('names every severity of its findings', async () => {
    const { states, changes, archives } = fixturesIn(folder);
    const found = await Promise.all([
      ...states.map((file) => judgeState(folder, file)),
      ...changes.map((file) => judgeChange(folder, file)),
      ...archives.map((file) => archiveFindings(join(folder, file))),
    ]);
    const [severities = ''] = section.split(': ');
    for (const { rule, severity } of found.flat()) if (rule === id) expect(severities).toContain(severity);
  });
});

function placed({ location, ...finding }: Finding): string {
  return `${location.file}:${shown({ location, ...finding })}`;
}

function expectExactly(id: string, expected: readonly Expected[], all: readonly Finding[]): void {
  const watched = new Set([id, ...expected.map(({ rule }) => rule)]);
  const found = all.filter(({ rule }) => watched.has(rule));
  expect(found.map(shown).sort()).toEqual(expected.map((e) => matching(e, found)).sort());
}

function shown({ location, rule, message }: Finding): string {
  return `${location.line}: ${rule}: ${message}`;
}

/** What was found in place of an expectation, or the expectation itself, so that a difference reads well. */
function matching({ line, rule, message }: Expected, found: readonly Finding[]): string {
  const match = found.find((f) => f.rule === rule && f.location.line === line && f.message.includes(message));
  return match ? shown(match) : `${line}: ${rule}: …${message}…`;
}
