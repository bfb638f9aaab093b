import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Finding } from '../catalog/finding.ts';
import { RULES } from '../catalog/rules/index.ts';
import { fixturesIn, judgeArchive, judgeChange, judgeState } from './fakes/rule-fixture.ts';
import { membersOf } from './fakes/txtar.ts';

/**
 * Each fixture is a catalog of one file, or `<name>.base.yaml` and `<name>.head.yaml`
 * for a change. On a line with a defect stands, as a comment, the rule and a part of its
 * message; `<fixture>.expected` says so for files that cannot hold comments. Findings of
 * the folder's rule, and of every rule that is expected at all, must be exactly the
 * expected ones. A line `# world: {…}` says what surrounds the catalog, a line
 * `# registries: {…}` what registries say of its references.
 * `<name>.txtar` holds the files of a folder of package manifests, or of a bundle.
 */
const ROOT = 'test/rules';
const IDS = new Set(RULES.map(({ id }) => id));

interface Expected {
  readonly line: number;
  readonly rule: string;
  readonly message: string;
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
    const found = await judgeArchive(members);
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

interface PlacedExpectation extends Expected {
  readonly file: string;
}

/** What is expected of one file of a folder; `.expected` says so for files that cannot hold comments. */
function memberExpectations(path: string, text: string): PlacedExpectation[] {
  if (!path.endsWith('expected')) return expectationsIn(text).map((e) => ({ ...e, file: path }));
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [, file = '', number = '', rule = '', message = ''] =
        /^(.*?):(\d+): (\S+): (.*)$/.exec(line) ?? [];
      return { file, line: Number(number), rule, message };
    });
}

function placed({ location, ...finding }: Finding): string {
  return `${location.file}:${shown({ location, ...finding })}`;
}

function expectExactly(id: string, expected: readonly Expected[], all: readonly Finding[]): void {
  const watched = new Set([id, ...expected.map(({ rule }) => rule)]);
  const found = all.filter(({ rule }) => watched.has(rule));
  expect(found.map(shown).sort()).toEqual(expected.map((e) => matching(e, found)).sort());
}

function expectations(path: string, text: string): Expected[] {
  const separate = `${path}.expected`;
  if (existsSync(separate)) {
    return readFileSync(separate, 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const [number = '', rule = '', ...message] = line.split(': ');
        return { line: Number(number), rule, message: message.join(': ') };
      });
  }
  return expectationsIn(text);
}

function expectationsIn(text: string): Expected[] {
  return text.split('\n').flatMap((line, i) => {
    const [, rule = '', message = ''] = /# ([a-z0-9-]+\/[a-z0-9-]+): (.*)$/.exec(line) ?? [];
    return IDS.has(rule) ? [{ line: i + 1, rule, message }] : [];
  });
}

function shown({ location, rule, message }: Finding): string {
  return `${location.line}: ${rule}: ${message}`;
}

/** What was found in place of an expectation, or the expectation itself, so that a difference reads well. */
function matching({ line, rule, message }: Expected, found: readonly Finding[]): string {
  const match = found.find((f) => f.rule === rule && f.location.line === line && f.message.includes(message));
  return match ? shown(match) : `${line}: ${rule}: …${message}…`;
}
