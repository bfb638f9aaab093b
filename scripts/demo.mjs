// npm run demo: checks three pull requests in a sample repository, merges the first, and publishes the
// merge twice to a local registry. Needs Node and git, no network.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';

if (process.argv.length > 2) {
  console.error(`usage: npm run demo, not ${process.argv.slice(2).join(' ')}`);
  process.exit(2);
}

const ROOT = resolve(import.meta.dirname, '..');
const PLACE = join(ROOT, '.demo');
const REPOSITORY = join(PLACE, 'catalogs');
const PROGRAM = join(ROOT, 'dist/portolan.mjs');
const SHOWN = 'portolan';

say('Building the command line');
execFileSync(process.execPath, [join(ROOT, 'scripts/build.mjs')], { cwd: ROOT, stdio: 'inherit' });

say('Creating a git repository from test/catalogs/sample: three packages, an owners file and a policy');
rmSync(PLACE, { recursive: true, force: true });
mkdirSync(PLACE);
cpSync(join(ROOT, 'test/catalogs/sample'), REPOSITORY, { recursive: true });
git('init', '--quiet', '--initial-branch=main');
commit('Add the catalog', 'grace');

const requests = [
  {
    title: 'Pull request 1: anna, an owner of harbour-operator, adds version 1.3.0',
    branch: 'harbour-1.3.0',
    author: 'anna',
    package: 'harbour-operator',
    version: '1.3.0',
    like: '1.2.0',
    edges: ['replaces: harbour-operator.v1.2.0'],
    expected: 0,
  },
  {
    title: 'Pull request 2: mallory, who is not an owner, adds version 2.0.1 to ferry-operator',
    branch: 'ferry-2.0.1',
    author: 'mallory',
    package: 'ferry-operator',
    version: '2.0.1',
    like: '2.0.0',
    edges: ['replaces: ferry-operator.v2.0.0'],
    expected: 1,
  },
  {
    title:
      'Pull request 3: grace, an admin, adds lighthouse-operator 2.2.0. opm validate passes, but clusters are stranded',
    branch: 'lighthouse-2.2.0',
    author: 'grace',
    package: 'lighthouse-operator',
    version: '2.2.0',
    like: '2.1.0',
    edges: [
      'replaces: lighthouse-operator.v2.0.1',
      'skips:',
      '- lighthouse-operator.v2.0.1',
      '- lighthouse-operator.v2.1.0',
    ],
    expected: 1,
  },
];
for (const request of requests) {
  say(request.title);
  git('checkout', '--quiet', '-b', request.branch, 'main');
  addVersion(request);
  commit(`${request.package}: ${request.version}`, request.author);
  git('checkout', '--quiet', 'main');
  const parameters = ['--base', 'main', '--head', request.branch, '--author', request.author];
  portolan(['check', '--repo', REPOSITORY, ...parameters], request.expected);
}

const [first] = requests;
say('Merging pull request 1 and publishing the merge');
git('merge', '--quiet', '--no-ff', '-m', `Merge ${first.branch}`, first.branch);
const registry = await startRegistry();
const to = `${registry.host}/sea/catalog:v4.20`;
const out = join(PLACE, 'publish');
const publish = ['publish', '--repo', REPOSITORY, '--commit', 'main', '--catalog', 'v4.20', '--to', to];
const further = ['--insecure', registry.host, '--mirror-to', 'mirror.example.com/olm', '--out', out];
const once = portolan([...publish, ...further], 0);
say('Publishing the same commit again: same digest, nothing uploaded');
const again = portolan([...publish, ...further], 0);
registry.stop();
if (digestIn(once) !== digestIn(again) || !again.includes('uploaded 0 bytes')) {
  fail('the second publish differs from the first');
}

say('Done. The results');
for (const [path, what] of [
  ['catalogs', 'the git repository with three branches'],
  ['registry', 'the registry, an OCI image layout; to serve it, run portolan registry .demo/registry'],
  ['publish/receipt.json', 'what was published, with digests'],
  ['publish/mapping.txt', 'source and destination of every image for a disconnected cluster'],
  ['publish/imageContentSourcePolicy.yaml', 'where nodes find the mirrored images (OpenShift up to 4.12)'],
  ['publish/imageDigestMirrorSet.yaml', 'the same, for images by digest (from 4.13)'],
  ['publish/imageTagMirrorSet.yaml', 'the same, for images by tag'],
  ['publish/catalogSource.yaml', 'adds the catalog to OLM v0'],
  ['publish/clusterCatalog.yaml', 'adds the catalog to OLM v1'],
]) {
  console.log(`  .demo/${path.padEnd(38)} ${what}`);
}
// Whoever has not run npm link yet has no such command.
console.log(
  '\nAfter npm link, also in a repository of your own: portolan check --base origin/main --head HEAD',
);

/** Prints the heading of a step. */
function say(text) {
  console.log(`\n== ${text}`);
}

/** Ends the demo: something is not as it should be. */
function fail(text) {
  console.error(`demo: ${text}`);
  process.exit(1);
}

/** Runs git in the repository, without the configuration of the machine. @returns what it printed */
function git(...parameters) {
  const environment = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  for (const role of ['AUTHOR', 'COMMITTER']) {
    environment[`GIT_${role}_NAME`] = 'demo';
    environment[`GIT_${role}_EMAIL`] = 'demo@example.com';
  }
  return execFileSync('git', ['-C', REPOSITORY, ...parameters], { env: environment, encoding: 'utf8' });
}

/** Commits everything as an author. */
function commit(message, author) {
  git('add', '--all');
  git('commit', '--quiet', '--author', `${author} <${author}@example.com>`, '-m', message);
}

/** Adds a version to a package's last channel: an entry, and a bundle made after an older one. */
function addVersion({ package: name, version, like, edges }) {
  const path = join(REPOSITORY, 'catalogs/v4.20', name, 'catalog.yaml');
  const documents = readFileSync(path, 'utf8').split(/^---\n/m);
  const channel = documents.findLastIndex((document) => document.startsWith('schema: olm.channel\n'));
  const bundle = documents.find((document) => document.includes(`\nname: ${name}.v${like}\n`));
  const entry = [`- name: ${name}.v${version}`, ...edges.map((edge) => `  ${edge}`), ''].join('\n');
  documents[channel] += entry;
  const renamed = bundle.replaceAll(like, version).replaceAll(/sha256:[0-9a-f]{64}/g, shifted);
  writeFileSync(path, [...documents, renamed].join('---\n'));
}

/** Another digest for another version. */
function shifted(digest) {
  return `sha256:${[...digest.slice(7)].reverse().join('')}`;
}

/** Runs Portolan and prints its output. Another exit code than the expected one ends the demo. @returns standard output */
function portolan(parameters, expected) {
  const shown = parameters.map((parameter) =>
    parameter.startsWith(ROOT) ? relative(ROOT, parameter) : parameter,
  );
  console.log(`\n$ ${SHOWN} ${shown.join(' ')}`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...parameters], {
    encoding: 'utf8',
  });
  process.stdout.write(stderr + stdout);
  if (status !== expected) fail(`exit code ${status}, expected ${expected}`);
  return stdout;
}

/** The first digest in a text. */
function digestIn(text) {
  return /sha256:[0-9a-f]{64}/.exec(text)?.[0];
}

/** Starts `portolan registry` at a free port. @returns its host and port, and what ends it */
async function startRegistry() {
  const parameters = ['registry', join(PLACE, 'registry'), '--listen', '127.0.0.1:0', '--quiet'];
  const child = spawn(process.execPath, [PROGRAM, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const host = / at (\S+)$/.exec(line)?.[1];
    if (host !== undefined) return { host, stop: () => child.kill() };
  }
  return fail('the registry did not start');
}
