/**
 * A catalog by package, without holding all of it: which files hold which package, and the
 * blobs of one package when they are asked for.
 */
import { createHash } from 'node:crypto';
import { catalogFiles, load } from '../../../catalog/fbc/load.ts';
import { type Blob, type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { renderOrder } from '../../../catalog/fbc/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { compareText, ownText } from '../../../catalog/go/text.ts';
import { rule as CACHE_RULE } from '../../../catalog/rules/image/cache.ts';
import { OPM_RULES } from '../../../catalog/rules/opm.ts';
import { runRules } from '../../../catalog/rules/rule.ts';
import type { CatalogSource, SourceFile } from '../../../catalog/source.ts';
import type { FactTable, FileFacts } from './build-cache.ts';

/** The name for blobs without a package. */
export const ROOT = '';

export interface Contents {
  /** Names of all packages, sorted; {@link ROOT} is not among them. */
  readonly packages: readonly string[];
  /** Whether there are blobs of no package. */
  readonly hasRoot: boolean;
  /** All files, those together that hold blobs of the same packages. */
  readonly groups: readonly (readonly IdentifiedFile[])[];
  /** Names the content of a package: equal texts mean equal blobs. */
  identity(name: string): string;
  /**
   * Reads a package. It is then forgotten, and its files with the last of their packages: a later call reads the files again.
   * While other packages of these files are still to come, a second call for the same package throws as if the files had
   * changed.
   *
   * @throws Error for a package that the files do not hold, or no longer hold
   */
  read(name: string): Promise<PackageContent>;
}

/** The catalog's content of one package. */
export interface PackageContent {
  /** In the order in which they are rendered. */
  readonly blobs: readonly Blob[];
  readonly catalog: Catalog;
  /** Why no image can be made of it; all errors. */
  readonly findings: readonly Finding[];
}

/** A file and what names its content: equal identities mean equal bytes. */
export interface IdentifiedFile {
  readonly file: SourceFile;
  readonly identity: string;
}

/**
 * Finds out what each file holds. Files whose facts are remembered are not parsed.
 *
 * @param hasCache whether the image gets opm's cache: what that cannot hold is an error then
 */
export async function readContents(
  source: CatalogSource,
  facts: FactTable<FileFacts>,
  hasCache: boolean,
): Promise<{ readonly contents: Contents; readonly findings: readonly Finding[] }> {
  const findings: Finding[] = [];
  const files = await catalogFiles(source);
  const byPackage = new Map<string, IdentifiedFile[]>();
  // Of no package, but still checked: they become groups of their own.
  const filesWithoutBlobs: IdentifiedFile[] = [];
  // A file without an identity is read to get one, so nobody brings it here.
  const bring = bringerOf(
    source,
    files.filter(
      ({ unreadable: why, identity }) => why === undefined && identity !== undefined && !facts.get(identity),
    ),
  );
  for (const file of files) {
    await bring(file);
    const identity = await identityOf(file);
    // Report unreadable files in each build.
    const found = file.unreadable === undefined ? facts.get(identity) : undefined;
    const errors = findings.length;
    const { packages } = found ?? (await packagesIn(file, findings));
    // A file with errors is not remembered: a second file of the same content, or the next build, must report them again.
    if (!found && findings.length === errors) facts.set(identity, { packages });
    if (packages.length === 0) filesWithoutBlobs.push({ file, identity });
    for (const name of packages) {
      appendToGroup(byPackage, name, { file, identity });
    }
  }
  return { contents: contentsOf(byPackage, filesWithoutBlobs, hasCache), findings };
}

/** Files that a source brings at a time: see {@link bringerOf}. */
const TOGETHER = 64;

/**
 * Has a source bring files in groups, such as from a git server: each group when its first file is read. One request for each
 * file would take too long, and one for all too much memory.
 */
function bringerOf(source: CatalogSource, files: readonly SourceFile[]): (file: SourceFile) => Promise<void> {
  let next = 0;
  return async (file) => {
    // A file that need not be read is not among them.
    if (files[next] !== file) return;
    if (next % TOGETHER === 0) await source.bring?.(files.slice(next, next + TOGETHER));
    next++;
  };
}

/** What names a file's content: the source's own identity, or else a hash of its bytes. */
async function identityOf(file: SourceFile): Promise<string> {
  // To git, a link is the same blob as a file that contains its target, and would pass for that file.
  if (file.unreadable !== undefined) return `unreadable ${file.unreadable}`;
  if (file.identity !== undefined) return file.identity;
  return createHash('sha256')
    .update(await file.read())
    .digest('hex');
}

/** Reads a file for the names in it only: of each blob no more than that is kept. */
async function packagesIn(file: SourceFile, findings: Finding[]): Promise<FileFacts> {
  const packages = new Set<string>();
  const note = <T extends Blob>(blob: T): T => {
    packages.add(packageOf(blob));
    return { ...blob, value: {}, properties: [], relatedImages: [], entries: [] };
  };
  const loaded = await load({ files: async () => [file] }, undefined, {
    package: note,
    deprecations: note,
    bundle: note,
    channel: note,
    other: note,
  });
  for (const finding of loaded.findings) if (finding.severity === 'error') findings.push(finding);
  return { packages: [...packages].map(ownText).sort(compareText) };
}

/** The name of the package that a blob belongs to; of a blob of the package itself its own name. */
function packageOf(blob: Blob): string {
  return blob.schema === 'olm.package' ? blob.name : blob.package;
}

/** The packages of a catalog, each read when it is asked for, with all others in the same files. */
function contentsOf(
  files: ReadonlyMap<string, readonly IdentifiedFile[]>,
  filesWithoutBlobs: readonly IdentifiedFile[],
  hasCache: boolean,
): Contents {
  const groups = groupsOf(files);
  const loaded = new Map<Group, Map<string, PackageContent>>();
  return {
    packages: [...files.keys()].filter((name) => name !== ROOT).sort(compareText),
    hasRoot: files.has(ROOT),
    groups: [
      ...[...new Set(groups.values())].map((group) => [...group.files.values()]),
      ...filesWithoutBlobs.map((file) => [file]),
    ],
    identity: (name) => JSON.stringify((files.get(name) ?? []).map(({ identity }) => identity)),
    async read(name) {
      const group = groups.get(name);
      if (!group) throw new Error(`no file contains the package ${JSON.stringify(name)}`);
      const contents = loaded.get(group) ?? (await loadGroup(group, hasCache));
      const content = contents.get(name);
      if (!content)
        throw new Error(`the files of the package ${JSON.stringify(name)} changed while they were read`);
      // What was read is forgotten, so that memory holds only what is still to come.
      contents.delete(name);
      if (contents.size === 0) loaded.delete(group);
      else loaded.set(group, contents);
      return content;
    },
  };
}

/** Packages that share files, and so are read together. */
interface Group {
  readonly packages: Set<string>;
  readonly files: Map<string, IdentifiedFile>;
}

/** Packages that share files are one group: a file is parsed once, for all of its packages. */
function groupsOf(byPackage: ReadonlyMap<string, readonly IdentifiedFile[]>): Map<string, Group> {
  const ofFile = new Map<string, Group>();
  const ofPackage = new Map<string, Group>();
  for (const [name, files] of byPackage) {
    // All groups that have one of the files become one.
    const sharing = new Set(files.flatMap(({ file }) => ofFile.get(file.path) ?? []));
    const [first = { packages: new Set<string>(), files: new Map<string, IdentifiedFile>() }, ...others] =
      sharing;
    for (const other of others) absorbGroup(first, other, { ofFile, ofPackage });
    first.packages.add(name);
    ofPackage.set(name, first);
    for (const one of files) {
      first.files.set(one.file.path, one);
      ofFile.set(one.file.path, first);
    }
  }
  return ofPackage;
}

/** The group of each file, by path, and of each package, by name. */
interface GroupTables {
  readonly ofFile: Map<string, Group>;
  readonly ofPackage: Map<string, Group>;
}

/** Moves everything of another group into a group. */
function absorbGroup(group: Group, other: Group, { ofFile, ofPackage }: GroupTables): void {
  for (const name of other.packages) {
    group.packages.add(name);
    ofPackage.set(name, group);
  }
  for (const [path, file] of other.files) {
    group.files.set(path, file);
    ofFile.set(path, group);
  }
}

/** The content and findings of each package in a group of files. */
async function loadGroup(group: Group, hasCache: boolean): Promise<Map<string, PackageContent>> {
  const { blobs, findings: unread } = await load({
    files: async () => [...group.files.values()].map(({ file }) => file),
  });
  const catalog = catalogOf(blobs);
  // Whatever severities the policy gives to opm's rules, opm would refuse such an image.
  const found = [
    ...unread,
    ...runRules(catalog, hasCache ? [...OPM_RULES, CACHE_RULE] : OPM_RULES, () => 'error'),
  ];
  const findings = found.filter(({ severity }) => severity === 'error');
  const lines = new Map<string, Blob[]>([...group.packages].map((name) => [name, []]));
  for (const blob of renderOrder(blobs)) lines.get(packageOf(blob))?.push(blob);
  // Each gets the findings of the whole group: an error in a file stops all packages that share it.
  return new Map([...lines].map(([name, ordered]) => [name, { blobs: ordered, catalog, findings }]));
}
