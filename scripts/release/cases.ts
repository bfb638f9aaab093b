/**
 * The cases of the tests as one JSON file, for those who implement OLM's resolvers or validators themselves: inputs, expected
 * answers, and where these come from. docs/cases.md describes it.
 *
 *   npm run cases -- FILE
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RULES } from '../../catalog/rules/index.ts';
import type { Rule } from '../../catalog/rules/rule.ts';
import {
  archivedFiles,
  expectations,
  fixturesIn,
  memberExpectations,
} from '../../test/fakes/rule-fixture.ts';
import { membersOf } from '../../test/fakes/txtar.ts';
import type { ReleaseFile } from './artifact.ts';

const RESOLVED = 'test/catalog/olm/fixtures/resolved.jsonl';
const FIXTURES = 'test/rules';

/** Raised when a reader of the former version would misread this one. */
const VERSION = 1;

export interface CaseSuite {
  readonly format: 'portolan-cases';
  readonly version: typeof VERSION;
  /** Answers of the real resolvers, recorded. */
  readonly resolvers: readonly ResolverCase[];
  readonly validators: readonly ValidatorCase[];
}

interface ResolverCase {
  readonly id: string;
  readonly olm: 'v0' | 'v1';
  readonly source: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: unknown;
}

interface ValidatorCase {
  readonly id: string;
  readonly rule: string;
  readonly severity: Rule['severity'];
  /** `catalog` and `change` are about catalogs, `folder` about a bundle, an operator's folder or package manifests. */
  readonly kind: 'catalog' | 'change' | 'folder';
  readonly source: string;
  /** Messages of opm, or of a validator of bundles, that the rule covers; absent for rules of Portolan alone. */
  readonly upstream?: readonly string[];
  /** The file of the catalog to check; of a change, the one after it. */
  readonly file?: string;
  readonly before?: string;
  /** All files of the case, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** What is known beside the files: `world` around the catalog, `registries`, `options`; `before` where it differed before. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** All findings of the rule, and of every other rule that is named here. */
  readonly expected: readonly {
    readonly file: string;
    readonly line: number;
    readonly rule: string;
    /** Part of Portolan's message. */
    readonly message: string;
  }[];
}

export const casesFile: ReleaseFile = {
  name: 'cases.json',
  text: () => `${JSON.stringify(caseSuite())}\n`,
};

/** All cases: the recorded answers of resolvers, and the fixtures of each rule that has some. */
function caseSuite(): CaseSuite {
  const lines = readFileSync(RESOLVED, 'utf8').trim().split('\n');
  return {
    format: 'portolan-cases',
    version: VERSION,
    resolvers: lines.map((line, i) => resolverCase(JSON.parse(line), i + 1)),
    validators: RULES.filter(({ id }) => existsSync(join(FIXTURES, id))).flatMap(casesOf),
  };
}

const ENGINES = {
  v0: 'the step resolver of OLM (operator-lifecycle-manager), over what opm serves',
  v1: 'the catalog resolver of operator-controller',
};

/** A recorded answer as a case. @param line its place in the file, from 1 */
function resolverCase(
  { engine, answer, ...input }: { engine: 'v0' | 'v1'; answer: unknown },
  line: number,
): ResolverCase {
  const source = `recorded from ${ENGINES[engine]} (${RESOLVED}:${line})`;
  return { id: `${engine}/${line}`, olm: engine, source, input, expected: answer };
}

/** The cases of a rule, by the three kinds of its fixtures. */
function casesOf(rule: Rule): ValidatorCase[] {
  const folder = join(FIXTURES, rule.id);
  const { states, changes, archives } = fixturesIn(folder);
  return [
    ...states.map((file) => catalogCase(rule, { folder, file })),
    ...changes.map((before) =>
      catalogCase(rule, { folder, before, file: before.replace('.base.', '.head.') }),
    ),
    ...archives.map((file) => folderCase(rule, join(folder, file))),
  ];
}

/** What every case of a rule says of it. */
function about(rule: Rule, path: string, kind: ValidatorCase['kind']) {
  const { id, severity, opm } = rule;
  return {
    id: path.slice(FIXTURES.length + 1),
    rule: id,
    severity,
    kind,
    source: path,
    ...(opm ? { upstream: opm } : {}),
  };
}

/** A catalog, or with `before` a change of one. */
function catalogCase(
  rule: Rule,
  { folder, file, before }: { readonly folder: string; readonly file: string; readonly before?: string },
): ValidatorCase {
  const names = before === undefined ? [file] : [before, file];
  const texts = names.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
  // The last text is the catalog itself; before it may stand the one that it changes.
  const [own, ofBase = {}] = texts.map(([, text]) => contextIn(text)).reverse();
  const context = { ...own, ...(Object.keys(ofBase).length > 0 ? { before: ofBase } : {}) };
  // Fixtures of the folder that the context names, such as other catalogs of the clusters.
  const beside = readdirSync(folder).filter((name) => JSON.stringify(context).includes(JSON.stringify(name)));
  return {
    ...about(rule, join(folder, file), before === undefined ? 'catalog' : 'change'),
    file,
    ...(before === undefined ? {} : { before }),
    files: Object.fromEntries([
      ...texts,
      ...beside.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const),
    ]),
    ...(Object.keys(context).length > 0 ? { context } : {}),
    expected: texts.flatMap(([name, text]) =>
      expectations(join(folder, name), text).map((one) => ({ file: name, ...one })),
    ),
  };
}

/** The lines of a fixture that say what surrounds its catalog. */
function contextIn(text: string): Record<string, unknown> {
  const lines = [...text.matchAll(/^# (world|registries): (.*)$/gm)];
  return Object.fromEntries(lines.map(([, name = '', json = '']) => [name, JSON.parse(json)]));
}

/** A folder whose files are in one fixture. */
function folderCase(rule: Rule, path: string): ValidatorCase {
  const members = membersOf(readFileSync(path, 'utf8'));
  const options = members.get('options');
  return {
    ...about(rule, path, 'folder'),
    files: Object.fromEntries(archivedFiles(members)),
    ...(options === undefined ? {} : { context: { options: JSON.parse(options) } }),
    // `file` comes first, as in catalogs.
    expected: [...members].flatMap(([name, text]) =>
      memberExpectations(name, text).map(({ file, ...one }) => ({ file, ...one })),
    ),
  };
}
