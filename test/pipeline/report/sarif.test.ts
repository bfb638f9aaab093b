import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { sarifReport } from '../../../pipeline/report/sarif.ts';

/** The schema of OASIS, as the npm package @microsoft/jest-sarif 1.0.0-beta.0 (MIT) has it. */
const {
  id: _,
  $schema: __,
  ...schema
} = JSON.parse(readFileSync('test/pipeline/report/fixtures/sarif-2.1.0.schema.json', 'utf8'));
const valid = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

const finding = (more: Partial<Finding> = {}): Finding => ({
  rule: 'channel/head',
  severity: 'error',
  message: 'two heads',
  location: { file: FILE, line: 3, column: 7 },
  ...more,
});

const suggestion = (file: string, line: number, after = 'new') => ({
  rule: 'channel/head',
  message: 'two heads',
  file,
  line,
  before: 'old',
  after,
});

interface Result {
  readonly ruleId: string;
  readonly locations: readonly { readonly physicalLocation: object }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly fixes?: readonly { readonly artifactChanges: readonly { replacements: unknown[] }[] }[];
}

/** The results of a report, which is valid by the schema. */
function resultsOf(...report: Parameters<typeof sarifReport>): Result[] {
  const log = JSON.parse(sarifReport(...report));
  valid(log);
  expect(valid.errors ?? []).toEqual([]);
  return log.runs[0].results;
}

test('94: a name with a link of SARIF is none in a message', () => {
  const text = 'channel "[a](http://evil.example)" has [0](1)';
  const [result] = resultsOf({ findings: [finding({ message: text, hint: '[b](x)' })] });
  expect(result).toMatchObject({
    message: { text: 'channel "[a\\](http://evil.example)" has [0\\](1)\nFix: [b\\](x)' },
  });
});

test.each([
  ['a\\](b)', 'a\\](b)'],
  ['a\\\\](b)', 'a\\\\\\](b)'],
  ['a\\\\\\](b)', 'a\\\\\\](b)'],
])('97: backslashes before the bracket do not escape the escape: %s', (message, text) => {
  expect(resultsOf({ findings: [finding({ message })] })).toMatchObject([{ message: { text } }]);
});

test('known and waived findings say so, and come below errors', () => {
  const at = (line: number) => finding({ location: { file: FILE, line, column: 1 } });
  const waived = [{ finding: at(3), until: '2027-01-01', reason: 'an old channel' }];
  const results = resultsOf({ findings: [at(1)], known: [at(2)], waived }) as readonly object[];
  const suppression = {
    kind: 'external',
    status: 'accepted',
    justification: expect.stringContaining('2027-01-01'),
  };
  expect(results).toMatchObject([
    { level: 'error', baselineState: 'new' },
    { level: 'note', baselineState: 'unchanged' },
    { level: 'note', suppressions: [suppression] },
  ]);
  expect(
    new Set(
      resultsOf({ findings: [at(1)], known: [at(2)], waived }).map((one) =>
        JSON.stringify(one.partialFingerprints),
      ),
    ).size,
  ).toBe(3);
  const [alone] = resultsOf({ findings: [at(1)] }) as readonly object[];
  expect(alone).not.toHaveProperty('baselineState');
});

test('the schema refuses what is repeated', () => {
  const log = JSON.parse(sarifReport({ findings: [finding()], suggestions: [suggestion(FILE, 3)] }));
  const [fix] = log.runs[0].results[0].fixes;
  fix.artifactChanges.push(fix.artifactChanges[0]);
  expect(valid(log)).toBe(false);
});

test('a fix names each file and each line once', () => {
  const suggestions = [
    suggestion(FILE, 3),
    suggestion(FILE, 3),
    suggestion(FILE, 3, 'other'),
    suggestion(FILE, 9),
    suggestion('catalogs/v4.19/etcd/catalog.yaml', 3),
  ];
  const [result] = resultsOf({ findings: [finding()], suggestions });
  const [fix] = result?.fixes ?? [];
  expect(fix?.artifactChanges.map(({ replacements }) => replacements.length)).toEqual([2, 1]);
});

test('every rule says all that code scanning demands', () => {
  const findings = RULES.map(({ id, severity }) => finding({ rule: id, severity }));
  const log = JSON.parse(sarifReport({ findings: [...findings, finding({ rule: 'policy/value' })] }));
  valid(log);
  expect(valid.errors ?? []).toEqual([]);
  const { driver } = log.runs[0].tool;
  expect(driver).toMatchObject({ name: 'portolan', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  for (const rule of driver.rules) {
    const texts = [rule.shortDescription.text, rule.fullDescription.text, rule.help.text, rule.helpUri];
    expect(texts.every((text) => text.trim() !== '')).toBe(true);
  }
  const anchors = new Set(
    [...readFileSync('docs/rules.md', 'utf8').matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
  );
  const pages = driver.rules.map(({ helpUri }: { helpUri: string }) => helpUri.split('#')[1]);
  expect(pages.filter((id: string | undefined) => id !== undefined && !anchors.has(id))).toEqual([]);
  expect(pages.filter((id: string | undefined) => id === undefined)).toHaveLength(1);
});

test('a finding without a file has a place all the same, which code scanning demands', () => {
  const [result] = resultsOf({ findings: [finding({ location: { file: '', line: 1, column: 1 } })] });
  expect(result?.locations).toEqual([
    { physicalLocation: { artifactLocation: { uri: '.github/portolan.yaml' }, region: { startLine: 1 } } },
  ]);
});

const prints = (...findings: Finding[]): string[] =>
  resultsOf({ findings }).map(
    ({ partialFingerprints: { primaryLocationLineHash = '' } }) => primaryLocationLineHash,
  );

test('fingerprints survive shifted lines, new versions and other words about the same subject', () => {
  const shifted = { file: FILE, line: 80, column: 1 };
  expect(prints(finding({ message: 'again at x.yaml:3:7', location: shifted }))).toEqual(
    prints(finding({ message: 'again at x.yaml:93:1' })),
  );
  const about = finding({ subject: 'head', message: 'the head is 1.0.0' });
  expect(prints(about)).toEqual(prints({ ...about, message: 'the head is 2.0.0', location: shifted }));
});

test('fingerprints of different findings differ', () => {
  const all = prints(
    finding(),
    finding(),
    finding({ rule: 'entry/missing' }),
    finding({ package: 'etcd' }),
    finding({ package: 'etcd', channel: 'stable' }),
    finding({ package: 'etcd', channel: 'stable', installed: ['1.0.0'] }),
    finding({ package: 'etcd', channel: 'stable', installed: ['1.1.0'] }),
    finding({ message: 'three heads' }),
    finding({ location: { file: 'catalogs/v4.19/etcd/catalog.yaml', line: 3, column: 7 } }),
  );
  expect(new Set(all).size).toBe(all.length);
});
