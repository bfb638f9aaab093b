/** Who owns a package, from the files and the map that the policy names, in one tree. */
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { MOST_STEPS, type Steps, StepsError, spendSteps, withinSteps } from '../../../catalog/go/steps.ts';
import { bytesWithin, type ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt, joinPath } from '../../git/tree.ts';
import { readStrictSettings, type Settings } from '../../settings.ts';
import { formatIdentity, type Identity, parseIdentity } from '../identity.ts';
import type { OwnersSource, Policy } from '../policy.ts';
import {
  CODE_OWNERS_FILES,
  type CodeOwnersLine,
  linesFor,
  namesOthers,
  readCodeOwners,
} from './code-owners.ts';
import { approversOf, type OwnersFile, readAliases, readOwnersFile } from './prow.ts';

export interface PackageOwners {
  readonly identities: readonly Identity[];
  /** Path of the file, or of the policy, that names them; undefined when nothing does. */
  readonly source: string | undefined;
  /** Files that cannot be read (severity error: then nobody is an owner) and entries that name nobody. */
  readonly findings: readonly Finding[];
}

/** Reads owners in one tree. Files are read once. */
interface OwnersReader {
  /**
   * The owners of a package.
   *
   * @param paths changed paths of the package: where owners are named by folder, only who is named for all of them
   */
  ownersOf(name: string, paths: readonly string[]): Promise<PackageOwners>;
}

/** Largest file of owners that is read, in bytes; a larger one is an error. */
const FILE_BYTES = 1024 * 1024;

/** Reads the owners of packages in a tree, each file once. */
export function ownersReader(
  objects: ObjectReader,
  tree: string,
  policy: Policy,
  steps: Steps = { left: MOST_STEPS },
): OwnersReader {
  const files = settingsFiles(objects, tree);
  const ownersFiles = new Map<string, OwnersFile>();
  const kept = new Map<string, ReturnType<typeof codeOwnersAt>>();
  const codeOwners: CodeOwnersFiles = (path) => {
    const found = kept.get(path) ?? codeOwnersAt(objects, tree, path);
    kept.set(path, found);
    return found;
  };
  const ownersFile = (path: string, settings: Settings): OwnersFile => {
    const found = ownersFiles.get(path) ?? readOwnersFile(settings, steps);
    ownersFiles.set(path, found);
    return found;
  };
  let read: Promise<AliasesRead> | undefined;
  const aliases = (): Promise<AliasesRead> => {
    read ??= aliasesIn(files);
    return read;
  };
  const all = { ...files, codeOwners, ownersFile, aliases, steps };
  return { ownersOf: (name, paths) => ownersOf(all, policy, { name, paths }) };
}

/** Reads owners as {@link ownersReader} does, and says where `CODEOWNERS` names others. */
export function comparedOwnersReader(
  objects: ObjectReader,
  tree: string,
  policy: Policy,
  steps: Steps = { left: MOST_STEPS },
): OwnersReader {
  const reader = ownersReader(objects, tree, policy, steps);
  let codeOwners: Promise<CodeOwners | undefined> | undefined;
  // Steps of its own: who owns what must not depend on a comparison.
  const ofComparison = { left: steps.left };
  return {
    ownersOf: async (name, paths) => {
      codeOwners ??= codeOwnersIn(objects, tree);
      const owners = await reader.ownersOf(name, paths);
      const others = disagreements(await codeOwners, owners, { paths, steps: ofComparison });
      return { ...owners, findings: [...owners.findings, ...others] };
    },
  };
}

/**
 * The owners that the first source names which names any; those of the policy if none does. A source that cannot be read
 * ends the search.
 */
async function ownersOf(files: OwnersFiles, policy: Policy, asked: AskedPackage): Promise<PackageOwners> {
  const findings: Finding[] = [];
  for (const source of policy.owners.sources) {
    const named = await withinWorkLimit(source.path, asked, () => fromSource(files, source, asked));
    for (const finding of named.findings) findings.push(finding);
    const unreadable = named.findings.some(({ severity }) => severity === 'error');
    // The next source may name other people, so a file that cannot be read stops the search.
    if (unreadable) return { identities: [], source: undefined, findings };
    if (named.identities.length > 0) return { ...named, findings };
  }
  const identities = policy.owners.packages.get(asked.name) ?? [];
  return { identities, source: identities.length > 0 ? 'the policy' : undefined, findings };
}

/** Owners, or the finding that the files which name them ask for too much work. */
async function withinWorkLimit(
  file: string,
  { paths }: AskedPackage,
  find: () => Promise<PackageOwners>,
): Promise<PackageOwners> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof StepsError)) throw error;
    return { identities: [], source: undefined, findings: [tooCostly(file, paths)] };
  }
}

/** Whether two packages, or one before and after, have the same owners in their lists, at least one. */
export function sameOwners(a: PackageOwners, b: PackageOwners): boolean {
  const names = ({ identities }: PackageOwners): string =>
    [...new Set(identities.map(identityKey))].sort().join(' ');
  return names(a) !== '' && names(a) === names(b);
}

/** A package whose owners are asked for, and its changed paths. */
interface AskedPackage {
  readonly name: string;
  readonly paths: readonly string[];
}

/** The owners of a package by one source. */
async function fromSource(
  files: OwnersFiles,
  source: OwnersSource,
  asked: AskedPackage,
): Promise<PackageOwners> {
  if (source.format === 'codeowners') return byCodeOwners(files, source.path, asked.paths);
  if (!source.path.startsWith('{dir}/')) {
    const path = source.path.replaceAll('{package}', () => asked.name);
    const { settings, findings } = await files.read(path);
    // A file of `packages` has a list for each package, `ci.yaml` one of reviewers.
    const key = source.format === 'packages' ? asked.name : 'reviewers';
    const entries =
      source.format === 'prow'
        ? await prowApprovers(files, path, settings)
        : identitiesAt(settings, path, key);
    return { identities: entries.identities, source: path, findings: [...findings, ...entries.findings] };
  }
  return byFolder(files, source.path.slice('{dir}/'.length), asked.paths);
}

/** Where prow reads aliases: at the root alone. */
const ALIASES = 'OWNERS_ALIASES';

interface Entries {
  readonly identities: readonly Identity[];
  readonly findings: readonly Finding[];
}

/** People in the list of one key: `reviewers` of operator-pipelines' `ci.yaml`, or a package's name. */
function identitiesAt(settings: Settings | undefined, path: string, key: string): Entries {
  const reviewers =
    isObject(settings?.value) && Object.hasOwn(settings.value, key) ? settings.value[key] : undefined;
  if (!settings || !Array.isArray(reviewers)) return { identities: [], findings: [] };
  const identities: Identity[] = [];
  const findings: Finding[] = [];
  for (const [i, written] of reviewers.entries()) {
    const identity = typeof written === 'string' ? parseIdentity(written.trim()) : undefined;
    if (identity) identities.push(identity);
    else {
      const message = `${path}: ${key}[${i}] is not a valid user or team: ${JSON.stringify(written)}`;
      const location = settings.locate([key, i]);
      findings.push({ rule: 'owners/entry', severity: 'warning', message, location, hint: '- login' });
    }
  }
  return { identities, findings };
}

/** Approvers of one `OWNERS` file by itself, for everything below it. */
async function prowApprovers(
  files: OwnersFiles,
  path: string,
  settings: Settings | undefined,
): Promise<Entries> {
  if (!settings) return { identities: [], findings: [] };
  const { aliases, findings } = await files.aliases();
  const file = files.ownersFile(path, settings);
  // Approvers with a pattern are those of some files only.
  const logins = file.approvers
    .filter(({ pattern }) => pattern === undefined)
    .flatMap(({ logins }) => logins.flatMap((login) => aliases.get(login) ?? [login]));
  return {
    identities: [...new Set(logins)].flatMap((login) => parseIdentity(login) ?? []),
    findings: [...findings, ...unreadApprovers(path, settings, file, aliases)],
  };
}

interface AliasesRead {
  readonly aliases: ReturnType<typeof readAliases>;
  readonly findings: readonly Finding[];
}

/** The aliases of the tree, with warnings about members who are nobody. */
async function aliasesIn(files: Pick<OwnersFiles, 'read'>): Promise<AliasesRead> {
  const { settings, findings } = await files.read(ALIASES);
  const aliases = readAliases(settings);
  if (!settings) return { aliases, findings };
  const location = settings.locateKey(['aliases']);
  return { aliases, findings: [...findings, ...nobodies(ALIASES, [...aliases.values()].flat(), location)] };
}

/** Approvers of all of the paths, from the files named so in their folders and those above. */
async function byFolder(
  files: OwnersFiles,
  fileName: string,
  paths: readonly string[],
): Promise<PackageOwners> {
  const findings = new Map<string, readonly Finding[]>();
  const { aliases, findings: ofAliases } = await files.aliases();
  const fileIn = async (folder: string): Promise<OwnersFile | undefined> => {
    const path = joinPath(folder, fileName);
    const { settings, findings: ofFile } = await files.read(path);
    const owners = settings && files.ownersFile(path, settings);
    const warnings = settings && owners ? unreadApprovers(path, settings, owners, aliases) : [];
    findings.set(path, [...ofFile, ...warnings]);
    return owners;
  };
  findings.set(ALIASES, ofAliases);
  let common: Set<string> | undefined;
  const { steps } = files;
  // Each path leaves those that may approve it, too.
  for (const path of paths) {
    const approvers = await approversOf(path, fileIn, { aliases, steps });
    spendSteps(steps, common?.size ?? 0);
    common = new Set(common ? [...common].filter((login) => approvers.has(login)) : approvers);
  }
  const identities = [...(common ?? [])].flatMap((login) => parseIdentity(login) ?? []);
  const allFindings = [...findings.values()].flat();
  return { identities, source: identities.length > 0 ? fileName : undefined, findings: allFindings };
}

/** Code owners of all of the paths, each by the last line that matches it, as GitHub reads the file. */
async function byCodeOwners(
  { codeOwners, steps }: OwnersFiles,
  path: string,
  paths: readonly string[],
): Promise<PackageOwners> {
  const { lines = [], unreadable } = await codeOwners(path);
  if (unreadable !== undefined) return { identities: [], source: undefined, findings: [unreadable] };
  // A path that no line matches (undefined) has no owners, and so leaves nobody for all of the paths.
  const found = [...new Set(linesFor(lines, paths, steps))];
  const [first, ...rest] = found.map((line) => line?.owners ?? []);
  const keysOfOthers = rest.map((owners) => new Set(owners.map(identityKey)));
  const ownsAll = (owner: Identity): boolean => keysOfOthers.every((keys) => keys.has(identityKey(owner)));
  const identities = (first ?? []).filter(ownsAll);
  const findings = found.flatMap((line) => (line ? unreadParts(path, line) : []));
  return { identities, source: identities.length > 0 ? path : undefined, findings };
}

/** The finding for owners' files whose patterns take more steps to match than a check may use. */
function tooCostly(file: string, paths: readonly string[]): Finding {
  const message = `cannot read the owners of ${paths.length} changed files: the patterns of the owners' files are too many`;
  const hint = 'simplify the patterns, or split the pull request';
  return {
    rule: 'owners/file',
    severity: 'error',
    message,
    location: { file, line: 1, column: 1 },
    hint,
  };
}

/** Findings about parts of a `CODEOWNERS` line that Portolan does not read. */
function unreadParts(file: string, { line, pattern, hasOthers, isSupported }: CodeOwnersLine): Finding[] {
  const location = { file, line, column: 1 };
  const about = { rule: 'owners/entry', severity: 'warning', location } as const;
  if (!isSupported) {
    const message = `${file}:${line}: Portolan does not support the pattern or an owner of ${JSON.stringify(pattern)}, so what it may match has no owner`;
    const hint = 'use names, *, ?, and ** as a whole name; name owners as @LOGIN or @ORGANIZATION/TEAM';
    return [{ ...about, message, hint }];
  }
  if (!hasOthers) return [];
  const message = `${file}:${line}: an owner of ${pattern} is neither @LOGIN nor @ORGANIZATION/TEAM, so Portolan ignores it`;
  return [{ ...about, message }];
}

/** Equal for all spellings of an identity. */
function identityKey(identity: Identity): string {
  return formatIdentity(identity).toLowerCase();
}

/** Most names of a file that each get a warning: every package that the file is for has all of them. */
const MOST_NOBODIES = 20;

/** Warnings about names that cannot be those of accounts. */
function nobodies(path: string, names: readonly string[], location: Finding['location']): Finding[] {
  const wrong = new Set(names.filter((name) => parseIdentity(name) === undefined));
  return [...wrong].slice(0, MOST_NOBODIES).map((name) => {
    const message = `${path}: ${JSON.stringify(name)} is not a valid user, so Portolan ignores it`;
    return { rule: 'owners/entry', severity: 'warning', message, location, hint: '- login' };
  });
}

/**
 * Warnings about what of an OWNERS file makes nobody an owner: filters that Portolan does not read, and entries that are
 * neither a login nor an alias.
 */
function unreadApprovers(
  path: string,
  settings: Settings,
  { unread, approvers }: OwnersFile,
  aliases: ReturnType<typeof readAliases>,
): Finding[] {
  const names = approvers.flatMap(({ logins }) => logins.filter((login) => !aliases.has(login)));
  const filters = unread.map((source): Finding => {
    const location = settings.locateKey(['filters', source]);
    const message = `${path}: the filter ${JSON.stringify(source)} is not a supported regular expression, so Portolan ignores its people`;
    const hint = 'simplify it: avoid flags in the middle, [[:classes:]] and \\Q…\\E';
    return { rule: 'owners/entry', severity: 'warning', message, location, hint };
  });
  return [...filters, ...nobodies(path, names, settings.locateKey(['approvers']))];
}

/** The `CODEOWNERS` file that GitHub reads. */
interface CodeOwners {
  readonly path: string;
  readonly lines?: readonly CodeOwnersLine[];
  /** Why it has no lines. */
  readonly why?: string;
}

const TOO_LARGE = `larger than ${FILE_BYTES} bytes`;

/** Other readers may take a mark for a part of the first pattern, or the file for another encoding. */
const BYTE_ORDER_MARK = /^(?:efbbbf|fffe|feff)/;

/** The lines of a CODEOWNERS file, or why they are not read. */
function codeOwnersOf(bytes: Buffer | undefined): Pick<CodeOwners, 'lines' | 'why'> {
  if (!bytes) return { why: TOO_LARGE };
  if (BYTE_ORDER_MARK.test(bytes.toString('hex', 0, 3))) return { why: 'a file with a byte order mark' };
  return { lines: readCodeOwners(bytes.toString('utf8')) };
}

/** The CODEOWNERS file that GitHub reads: the first of its places that has one. */
async function codeOwnersIn(objects: ObjectReader, tree: string): Promise<CodeOwners | undefined> {
  for (const path of CODE_OWNERS_FILES) {
    const entry = await entryAt(objects, tree, path);
    if (!entry || whyUnreadable(entry.mode) !== undefined) continue;
    const bytes = await bytesWithin(objects, entry.id, FILE_BYTES);
    return { path, ...codeOwnersOf(bytes) };
  }
  return undefined;
}

/** Reads a `CODEOWNERS` file once; what cannot be read is a finding. */
type CodeOwnersFiles = (path: string) => Promise<{
  readonly lines?: readonly CodeOwnersLine[];
  readonly unreadable?: Finding;
}>;

interface OwnersFiles extends SettingsFiles {
  /** What an `OWNERS` file says, read once. @throws StepsError */
  readonly ownersFile: (path: string, settings: Settings) => OwnersFile;
  readonly codeOwners: CodeOwnersFiles;
  /** What `OWNERS_ALIASES` says, read once. */
  readonly aliases: () => Promise<AliasesRead>;
  readonly steps: Steps;
}

/** The CODEOWNERS file at the path that the policy names; no lines if there is none. */
async function codeOwnersAt(objects: ObjectReader, tree: string, path: string): ReturnType<CodeOwnersFiles> {
  const entry = await entryAt(objects, tree, path);
  if (!entry) return {};
  const why = whyUnreadable(entry.mode);
  const read = why === undefined ? codeOwnersOf(await bytesWithin(objects, entry.id, FILE_BYTES)) : { why };
  if (read.lines) return { lines: read.lines };
  const message = `cannot read the owners in ${path}: it is ${read.why}`;
  const location = { file: path, line: 1, column: 1 };
  return { unreadable: { rule: 'owners/file', severity: 'error', message, location } };
}

/** Where `CODEOWNERS` names others than a package's owners, once for each line. */
function disagreements(
  codeOwners: CodeOwners | undefined,
  { identities, source }: PackageOwners,
  { paths, steps }: { readonly paths: readonly string[]; readonly steps: Steps },
): Finding[] {
  if (!codeOwners) return [];
  const { path: file, lines: all, why: unread } = codeOwners;
  const found = all && withinSteps(() => linesFor(all, paths, steps));
  if (!found) {
    const why = all ? 'has too many patterns for the changed files' : `is ${unread}`;
    const message = `${file} ${why}, so its entries are not compared with the owners`;
    const location = { file, line: 1, column: 1 };
    return [{ rule: 'owners/code-owners', severity: 'warning', message, location }];
  }
  const lines = new Set(found.filter((line) => line !== undefined));
  return [...lines]
    .filter((line) => namesOthers(line, identities))
    .map(({ line, pattern, owners }) => {
      const [named, wanted] = [owners, identities].map((some) => some.map(formatIdentity).join(', '));
      const message = `${file}:${line} makes GitHub request a review from ${named} for ${pattern}, but Portolan requires ${wanted} (${source})`;
      const location = { file, line, column: 1 };
      const logins = identities.flatMap((one) => (one.kind === 'account' ? [`@${one.login}`] : []));
      const hint = `${pattern} ${logins.join(' ')}`;
      return { rule: 'owners/code-owners', severity: 'warning', message, location, hint };
    });
}

interface SettingsFiles {
  /** The file at a path; nothing at all when there is none. */
  read(path: string): Promise<{ settings: Settings | undefined; findings: readonly Finding[] }>;
}

/** Reads files of settings in a tree, each once. */
function settingsFiles(objects: ObjectReader, tree: string): SettingsFiles {
  const reads = new Map<string, ReturnType<SettingsFiles['read']>>();
  const read: SettingsFiles['read'] = async (path) => {
    const entry = await entryAt(objects, tree, path);
    if (!entry) return { settings: undefined, findings: [] };
    const unreadable = whyUnreadable(entry.mode);
    const bytes = unreadable === undefined ? await bytesWithin(objects, entry.id, FILE_BYTES) : undefined;
    if (bytes) return readStrictSettings(path, bytes);
    const message = `cannot read the owners in ${path}: it is ${unreadable ?? TOO_LARGE}`;
    const location = { file: path, line: 1, column: 1 };
    return { settings: undefined, findings: [{ rule: 'owners/file', severity: 'error', message, location }] };
  };
  return {
    read: (path) => {
      const found = reads.get(path) ?? read(path);
      reads.set(path, found);
      return found;
    },
  };
}
