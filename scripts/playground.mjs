// Builds the playground: one HTML file that needs no server and makes no requests. Takes the file to write, and --site for
// links to the pages beside it, in place of those of the repository.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { writeRuleLists } from './rule-lists.mjs';

writeRuleLists();
const [out = 'dist/playground.html', option] = process.argv.slice(2);
const links =
  option === '--site'
    ? { rules: 'rules/index.html', install: 'install.html' }
    : {
        rules: 'https://github.com/portolan/portolan/blob/main/docs/rules.md',
        install: 'https://github.com/portolan/portolan/blob/main/docs/install.md',
      };
const [script, worker, style] = await Promise.all([
  bundled('playground/main.ts'),
  bundled('playground/worker.ts'),
  pageStyle(),
]);
// An inline script ends at any `</script`, even inside a string.
if (/<\/script|<!--/i.test(script + worker))
  throw new Error('a script of the page would end its own element');
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  'worker-src blob:',
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
const parts = { policy, style, worker, examples: examples(), script, ...links };
const html = readFileSync('playground/page.html', 'utf8').replaceAll(
  /\{(policy|style|worker|examples|script|rules|install)\}/g,
  (_, name) => parts[name],
);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, html);
process.stdout.write(`${out}: ${Math.round(html.length / 1000)} kB\n`);

/** A program of the playground as one text, which cannot end the element that it stands in. */
async function bundled(entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'error',
  });
  return outputFiles[0].text.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\x21--');
}

/** The style of the report's page, of its pictures, and the playground's own. */
async function pageStyle() {
  const { outputFiles } = await build({
    stdin: {
      contents:
        "export { STYLE } from './pipeline/report/page/static-page.ts'; export { HOPS_STYLE } from './pipeline/report/pictures/svg.ts';",
      resolveDir: '.',
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`;
  const { STYLE, HOPS_STYLE } = await import(url);
  return [STYLE, HOPS_STYLE, readFileSync('playground/style.css', 'utf8')].join('\n');
}

/** HTML ends the element of the examples at any `</`, even inside a string. */
function examples() {
  const text = (path) => readFileSync(path, 'utf8');
  const real = (name) => ({
    'visionone-containersecurity/catalog.yaml': text(`playground/examples/visionone-${name}.yaml`),
  });
  const all = [
    {
      title: 'A real pull request that strands clusters',
      name: 'v4.17',
      files: real('after'),
      before: real('before'),
    },
    {
      title: 'A catalog with three packages',
      name: 'v4.20',
      files: textsBelow('test/catalogs/sample/catalogs/v4.20'),
    },
    { title: 'A bundle directory', name: 'bundle', files: textsBelow('test/catalogs/bundle') },
  ];
  return JSON.stringify(all).replaceAll('<', '\\u003c');
}

/** Files by their path within a folder. */
function textsBelow(folder) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const texts = paths.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
  });
  return Object.fromEntries(texts.sort());
}
