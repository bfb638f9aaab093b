/**
 * The fixes of a report, written into the files of a pull request: whether they contradict each other, and what they
 * leave. Objects are written to a repository of its own, beside those of the one that is asked.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { load } from '../../catalog/fbc/load.ts';
import type { Blobs } from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import { sourceOf } from '../../catalog/source.ts';
import type { WrittenEntry } from '../catalog/olm/universe.ts';
import { askedBy, isFix, withFix } from '../fakes/written-fix.ts';

export interface Applied {
  /** The commit with all fixes, a child of the base. */
  readonly commit: string;
  /** The repository that has it. */
  readonly repository: string;
  /** Places that two fixes write differently. */
  readonly conflicts: readonly string[];
  readonly remove: () => void;
}

/** Findings whose hint is a fix. */
export function fixedBy(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ hint }) => isFix(hint));
}

/** Applies fixes to the commit of a pull request. */
export async function applyFixes(
  directory: string,
  { base, head }: { readonly base: string; readonly head: string },
  fixes: readonly Finding[],
): Promise<Applied> {
  const work = mkdtempSync(join(tmpdir(), 'fixes-'));
  const git = (words: readonly string[], input?: string): string =>
    execFileSync('git', ['--git-dir', work, ...words], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...PERSON, GIT_INDEX_FILE: join(work, 'fixed.index') },
      ...(input === undefined ? {} : { input }),
    });
  execFileSync('git', ['init', '--quiet', '--bare', work]);
  const objects = execFileSync('git', ['-C', directory, 'rev-parse', '--git-path', 'objects'], {
    encoding: 'utf8',
  });
  writeFileSync(join(work, 'objects/info/alternates'), `${resolve(directory, objects.trim())}\n`);
  git(['read-tree', head]);
  for (const [path, ofFile] of byFile(fixes)) {
    const before = await blobsOf(path, textAt(git, base, path));
    const text = fixedText(path, await blobsOf(path, textAt(git, head, path)), { before, ofFile });
    const id = git(['hash-object', '-w', '--stdin'], text).trim();
    git(['update-index', '--add', '--cacheinfo', `100644,${id},${path}`]);
  }
  const commit = git(['commit-tree', git(['write-tree']).trim(), '-p', base, '-m', 'fixed']).trim();
  const remove = (): void => rmSync(work, { recursive: true, force: true });
  return { commit, repository: work, conflicts: conflictsIn(fixes), remove };
}

const PERSON = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

/** Fixes by the files that they are for: a file of each catalog that has the finding. */
function byFile(fixes: readonly Finding[]): Map<string, Finding[]> {
  const files = new Map<string, Finding[]>();
  for (const fix of fixes) {
    const [first = '', ...others] = fix.catalogs ?? [];
    for (const name of [first, ...others]) {
      const path = fix.location.file.replace(`/${first}/`, `/${name}/`);
      files.set(path, [...(files.get(path) ?? []), fix]);
    }
  }
  return files;
}

function conflictsIn(fixes: readonly Finding[]): string[] {
  const asked = new Map<string, string>();
  const conflicts: string[] = [];
  for (const [path, ofFile] of byFile(fixes)) {
    for (const { package: of, channel, hint = '' } of ofFile) {
      for (const { entry, member, value } of askedBy(hint)) {
        const place = [path, of, channel, entry, member].join(' ');
        const known = asked.get(place) ?? value;
        if (known !== value) conflicts.push(`${place}: ${known} and ${value}`);
        asked.set(place, known);
      }
    }
  }
  return conflicts;
}

function textAt(git: (words: readonly string[]) => string, commit: string, path: string): string {
  try {
    return git(['show', `${commit}:${path}`]);
  } catch {
    return '';
  }
}

async function blobsOf(path: string, text: string): Promise<Blobs> {
  return (await load(sourceOf({ [path.split('/').at(-1) ?? 'catalog.yaml']: text }))).blobs;
}

/** A file with fixes, as JSON documents. */
function fixedText(
  path: string,
  { packages, channels, bundles, deprecations, others }: Blobs,
  { before, ofFile }: { readonly before: Blobs; readonly ofFile: readonly Finding[] },
): string {
  const fixedChannels = channels.map((channel) => {
    const texts = ofFile.filter((fix) => fix.package === channel.package && fix.channel === channel.name);
    const entries = channel.value['entries'] as WrittenEntry[];
    return { ...channel.value, entries: texts.reduce((sum, { hint = '' }) => withFix(sum, hint), entries) };
  });
  const wanted = new Set(fixedChannels.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const present = new Set(bundles.map(({ name }) => name));
  const restored = before.bundles.filter(({ name }) => wanted.has(name) && !present.has(name));
  const documents = [...packages, ...bundles, ...restored, ...deprecations, ...others].map(
    ({ value }) => value,
  );
  return [...documents, ...fixedChannels]
    .map((document) => JSON.stringify(document))
    .join(path.endsWith('.json') ? '\n' : '\n---\n');
}
