import { readFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { checkCatalog } from '../catalog/rules/check-catalog.ts';
import type { Rule } from '../catalog/rules/rule.ts';
import { sourceOf } from '../catalog/source.ts';
import { edited } from './fakes/bundle-fixture.ts';
import { folder } from './fakes/folder.ts';
import { judgeChange } from './fakes/rule-fixture.ts';

const text = readFileSync('CONTRIBUTING.md', 'utf8');

/** The first block of a language, without its indentation in the list. */
function block(language: string): string {
  const [, found = ''] = new RegExp(`^ +\`\`\`${language}\\n([\\s\\S]*?)^ +\`\`\`$`, 'm').exec(text) ?? [];
  return found.replaceAll(/^ {3}/gm, '');
}

test('the example rule reports what its example fixture expects, and nothing else', async () => {
  const { outputFiles } = buildSync({
    stdin: { contents: block('ts'), loader: 'ts', resolveDir: 'catalog/rules/channel' },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const [{ text: code } = { text: '' }] = outputFiles;
  const { rule }: { rule: Rule } = await import(
    `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  );
  const fixture = block('yaml');
  const { findings } = await checkCatalog(sourceOf({ 'twice.yaml': fixture }), [rule]);
  const expected = fixture
    .split('\n')
    .flatMap((line, index) =>
      [/# (\S+): (.*)$/.exec(line)].flatMap((found) => (found ? [[index + 1, found[1], found[2]]] : [])),
    );
  expect(expected).toHaveLength(1);
  const [finding] = findings;
  const { line, column } = finding?.location ?? {};
  expect(text).toContain(
    `   twice.yaml:${line}:${column}: ${finding?.severity}: ${finding?.message} (${finding?.rule})\n`,
  );
  expect(findings.map(({ location, rule: id, message }) => [location.line, id, message])).toEqual(expected);
});

test('the example fix does not harm clusters that have the catalog', async () => {
  const fixture = block('yaml').replaceAll(/ +# .*$/gm, '');
  const fixed = edited(fixture, block('diff'));
  expect(fixed).not.toBe(fixture);
  const place = folder({ 'twice.base.yaml': fixture, 'twice.head.yaml': fixed });
  expect(await judgeChange(place, 'twice.base.yaml')).toEqual([]);
});
