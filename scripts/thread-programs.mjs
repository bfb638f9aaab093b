// Puts the libraries of a thread's program into its text: a thread that is started from a text finds no files.
import { dirname, resolve } from 'node:path';
import { build } from 'esbuild';

/** Modules whose `PROGRAM` is the text of a thread's program. */
const MODULES = /\/pipeline\/oci\/registry\/embedded\/password-program\.ts$/;

/** @param metafiles where the build's own is added: what is bundled has notices */
export const threadPrograms = (metafiles) => ({
  name: 'thread-programs',
  setup(builder) {
    builder.onLoad({ filter: MODULES }, async ({ path }) => ({ contents: await bundled(path, metafiles) }));
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

/** What a module exports that imports nothing itself. */
async function loaded(path) {
  const { outputFiles } = await build({ entryPoints: [path], format: 'esm', write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
