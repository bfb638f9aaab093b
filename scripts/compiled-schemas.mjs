// Compiles JSON schemas while a program is built: at run time it would cost 0.15 s of each start.
import { resolve } from 'node:path';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build, transform } from 'esbuild';

/** Modules with a `SCHEMA`, its `OPTIONS`, and `validator()`, which gives the function compiled from both. */
const MODULES = /\/pipeline\/(?:policy\/policy|policy\/advisory|report\/report)-shape\.ts$/;

/** Puts the function in place of the module that compiles it. */
export const compiledSchemas = {
  name: 'compiled-schemas',
  setup(builder) {
    builder.onLoad({ filter: MODULES }, async ({ path }) => ({ contents: await compiledModule(path) }));
  },
};

/** JavaScript that gives the same `validator()` as a module, without Ajv. */
export async function compiledModule(path) {
  const { OPTIONS, SCHEMA } = await loaded(resolve(path));
  const ajv = new Ajv({ ...OPTIONS, code: { ...OPTIONS.code, source: true, esm: true } });
  const code = standalone
    .default(ajv, ajv.compile(SCHEMA))
    .replace(/^"use strict";export const validate = \w+;export default (\w+);/, 'const validate = $1;');
  const module = `${code}\nexport const validator = () => validate;\n`;
  // Half as long: nobody reads it.
  return (await transform(module, { format: 'esm', minify: true, legalComments: 'none' })).code;
}

/** What a module exports, without Ajv: only its values are needed. */
async function loaded(path) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    alias: { ajv: 'data:text/javascript,export const Ajv = undefined' },
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
