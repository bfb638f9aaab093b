// Plugins of the build that complete modules: compiling schemas at run time would cost 0.15 s of each start, and a thread
// that is started from a text finds no files.
import { dirname, resolve } from 'node:path';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build, transform } from 'esbuild';

/** Modules with a `SCHEMA`, its `OPTIONS`, and `validator()`, which gives the function compiled from both. */
const SCHEMAS = /\/pipeline\/(?:policy\/policy|policy\/advisory|report\/report)-shape\.ts$/;

/** Puts the function in place of the module that compiles it. */
export const compiledSchemas = {
  name: 'compiled-schemas',
  setup(builder) {
    builder.onLoad({ filter: SCHEMAS }, async ({ path }) => ({ contents: await compiledModule(path) }));
  },
};

/** JavaScript that gives the same `validator()` as a module, without Ajv. */
async function compiledModule(path) {
  const { OPTIONS, SCHEMA } = await loaded(path);
  const ajv = new Ajv({ ...OPTIONS, code: { ...OPTIONS.code, source: true, esm: true } });
  const code = standalone
    .default(ajv, ajv.compile(SCHEMA))
    .replace(/^"use strict";export const validate = \w+;export default (\w+);/, 'const validate = $1;');
  const module = `${code}\nexport const validator = () => validate;\n`;
  // Half as long: nobody reads it.
  return (await transform(module, { format: 'esm', minify: true, legalComments: 'none' })).code;
}

/** Modules whose `PROGRAM` is the text of a thread's program. */
const THREADS = /\/pipeline\/oci\/registry\/embedded\/password-program\.ts$/;

/**
 * Puts the libraries of a thread's program into its text.
 *
 * @param metafiles where the build's own is added: what is bundled has notices
 */
export const threadPrograms = (metafiles) => ({
  name: 'thread-programs',
  setup(builder) {
    builder.onLoad({ filter: THREADS }, async ({ path }) => ({ contents: await bundled(path, metafiles) }));
  },
});

/** A module whose `PROGRAM` has its libraries in it. */
async function bundled(path, metafiles) {
  const { PROGRAM } = await loaded(path);
  const { outputFiles, metafile } = await build({
    stdin: { contents: PROGRAM, resolveDir: dirname(resolve(path)) },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    minify: true,
    legalComments: 'none',
    write: false,
    metafile: true,
  });
  metafiles.push(metafile);
  return `export const PROGRAM = ${JSON.stringify(outputFiles[0].text)};\n`;
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
