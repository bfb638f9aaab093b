import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../catalog/fbc/load.ts';
import { checkCatalog } from '../../../../catalog/rules/check-catalog.ts';
import { RULES } from '../../../../catalog/rules/index.ts';
import { ownSeverity } from '../../../../catalog/rules/rule.ts';
import { type SourceFile, sourceOf } from '../../../../catalog/source.ts';
import { openBuildCache } from '../../../../pipeline/oci/image/build-cache.ts';
import { checkContents } from '../../../../pipeline/oci/image/package-verdicts.ts';
import { readContents } from '../../../../pipeline/oci/image/packages.ts';

const judging = { rules: RULES, severityOf: ownSeverity, limits: DEFAULT_LIMITS };

async function judgedByPackage(source: ReturnType<typeof sourceOf>, memory = openBuildCache(undefined)) {
  const { contents } = await readContents(source, memory.files, true);
  return checkContents(contents, memory.verdicts, judging);
}

function fixtures(): string[] {
  return readdirSync('test/rules', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:yaml|json)$/.test(file),
  );
}

test('package by package the findings are those of the whole catalog', async () => {
  const texts = fixtures().map((file) => [file, readFileSync(join('test/rules', file), 'utf8')] as const);
  // The rules' fixtures as one catalog, in which packages of many files meet.
  const whole = sourceOf(Object.fromEntries(texts));
  const { findings } = await checkCatalog(whole, RULES);
  const byPackage = await judgedByPackage(whole);
  expect(byPackage.length).toBe(findings.length);
  expect(new Set(byPackage.map((one) => JSON.stringify(one)))).toEqual(
    new Set(findings.map((one) => JSON.stringify(one))),
  );
  expect(new Set(findings.map(({ rule }) => rule)).size).toBeGreaterThan(20);
});

test('what was judged is not read again', async () => {
  const files = {
    'a.yaml': 'schema: olm.package\nname: a\ndefaultChannel: gone\n',
    'b.yaml': 'schema: olm.package\nname: b\ndefaultChannel: gone\n',
  };
  const reads: string[] = [];
  const source = (): ReturnType<typeof sourceOf> => ({
    files: async () =>
      (await sourceOf(files).files()).map(
        (file): SourceFile => ({
          ...file,
          identity: `${file.path} 1`,
          read: () => {
            reads.push(file.path);
            return file.read();
          },
        }),
      ),
  });
  const memory = openBuildCache(undefined);
  const first = await judgedByPackage(source(), memory);
  expect(first.map(({ location }) => location.file)).toEqual(expect.arrayContaining(['a.yaml', 'b.yaml']));
  reads.length = 0;
  expect(await judgedByPackage(source(), memory)).toEqual(first);
  expect(reads).toEqual([]);
});

test('more documents than the policy allows are found over all packages', async () => {
  const source = sourceOf({
    'a.yaml': 'schema: olm.package\nname: a\ndefaultChannel: x\n',
    'b.yaml': 'schema: olm.package\nname: b\ndefaultChannel: x\n',
  });
  const memory = openBuildCache(undefined);
  const { contents } = await readContents(source, memory.files, true);
  const limits = { ...DEFAULT_LIMITS, documents: 1 };
  const found = await checkContents(contents, memory.verdicts, { ...judging, limits });
  expect(found.filter(({ rule }) => rule === 'fbc/limits')).toMatchObject([{ location: { file: 'b.yaml' } }]);
});
