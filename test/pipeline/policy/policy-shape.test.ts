import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { isObject } from '../../../catalog/go/shape.ts';
import * as policy from '../../../pipeline/policy/policy-shape.ts';
import * as report from '../../../pipeline/report/report-shape.ts';
import { readSettings } from '../../../pipeline/settings.ts';
import { GREEN } from '../../fakes/report.ts';

/** A value's validator as in the built program. */
interface Shape {
  readonly validator: () => { (value: unknown): boolean; errors?: unknown };
}

const WRONG: readonly unknown[] = [0, 'x y', ['a', 'a'], { unknown: 1 }];

const pages = ['docs/policy.md', 'docs/policy-reference.md']
  .map((page) => readFileSync(page, 'utf8'))
  .join('\n');
const policies = [...pages.matchAll(/```yaml\n(.*?)```/gs)].map(
  ([, block = '']) => readSettings('policy.yaml', new TextEncoder().encode(block)).settings?.value,
);
let compiled: Readonly<Record<'policy' | 'report', Shape>>;

beforeAll(async () => {
  const plugins = await import(pathToFileURL(resolve('scripts/completed-modules.mjs')).href);
  const shapeOf = async (path: string): Promise<Shape & { readonly text: string }> => {
    const { outputFiles } = await build({
      entryPoints: [path],
      bundle: true,
      format: 'esm',
      plugins: [plugins.compiledSchemas],
      write: false,
    });
    const text = outputFiles[0]?.text ?? '';
    expect(text).not.toContain('new Ajv');
    return import(`data:text/javascript,${encodeURIComponent(text)}`);
  };
  compiled = {
    policy: await shapeOf('pipeline/policy/policy-shape.ts'),
    report: await shapeOf('pipeline/report/report-shape.ts'),
  };
});

test('the compiled schema of the policy says of every value what the schema says', () => {
  const values = [...WRONG, ...policies, ...policies.flatMap((value) => spoiled(value))];
  expect(values.length).toBeGreaterThan(500);
  const verdicts = values.map((value) => verdict(compiled.policy, value));
  expect(verdicts).toEqual(values.map((value) => verdict(policy, value)));
  expect(new Set(verdicts.map(({ passes }) => passes))).toEqual(new Set([true, false]));
});

test('the compiled schema of the report, too', () => {
  const values = [...WRONG, GREEN, ...spoiled(GREEN)];
  expect(values.map((value) => verdict(compiled.report, value))).toEqual(
    values.map((value) => verdict(report, value)),
  );
});

function verdict(shape: Shape, value: unknown): { readonly passes: boolean; readonly errors: string } {
  const validate = shape.validator();
  const passes = validate(value);
  return { passes, errors: JSON.stringify(validate.errors ?? []) };
}

/** A value with a wrong one in place of each part of it, one at a time. */
function spoiled(value: unknown): unknown[] {
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([key, part]) =>
    [...WRONG, ...spoiled(part)].map((other) =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...(value as object), [key]: other },
    ),
  );
}

test('66: texts of lists without repetitions say that they are texts: else each is compared with all others', () => {
  const lists = (value: unknown): Record<string, unknown>[] => {
    if (Array.isArray(value)) return value.flatMap(lists);
    if (!isObject(value)) return [];
    return [...(value['uniqueItems'] === true ? [value] : []), ...Object.values(value).flatMap(lists)];
  };
  const found = lists(policy.SCHEMA);
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter(({ items }) => !isObject(items) || items['type'] !== 'string')).toEqual([]);
});
