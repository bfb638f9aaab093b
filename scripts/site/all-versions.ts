// node scripts/run.mjs scripts/site/all-versions.ts [--base PATH --out DIR]: builds the site of the work tree, as `main`, and
// of each release, from its tag. Each is built by its own sources.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type SiteVersion, siteVersions } from './versions.ts';

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '/portolan/' },
    out: { type: 'string', default: 'site/dist' },
    home: { type: 'string', default: 'https://github.com/portolan/portolan' },
  },
});
const out = resolve(values.out);
const tags = execFileSync('git', ['tag', '--list', 'v*'], { encoding: 'utf8' }).split('\n');
const versions = siteVersions(tags);

// The root comes first: a build empties its folder.
for (const version of [...versions].sort((a, b) => a.folder.length - b.folder.length)) {
  if (version.ref === 'main') build('.', version);
  else atTag(version);
}
mkdirSync(out, { recursive: true });
const list = versions.map(({ name, folder }) => ({ name, base: `${values.base}${folder}` }));
writeFileSync(join(out, 'versions.json'), JSON.stringify(list));

/** Builds the site of a release in a work tree of its tag, which is removed. */
function atTag(version: SiteVersion): void {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-site-'));
  try {
    execFileSync('git', ['worktree', 'add', '--detach', folder, version.ref], { stdio: 'inherit' });
    execFileSync('npm', ['ci', '--silent', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
    build(folder, version);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the site of the sources in a directory into the folder of a version. */
function build(cwd: string, { name, ref, folder }: SiteVersion): void {
  const options = {
    base: `${values.base}${folder}`,
    name,
    versions: `${values.base}versions.json`,
    sources: `${values.home}/blob/${ref}`,
    out: join(out, folder),
  };
  const parameters = Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]);
  execFileSync('npm', ['run', '--silent', 'site', '--', ...parameters], { cwd, stdio: 'inherit' });
}
