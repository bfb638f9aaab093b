/** What Dockerfiles, Makefiles, scripts and CI say of folders: which are copied into images, validated or built. */
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { joinPath, type ListedFile } from '../../git/tree.ts';
import { isUnshipped } from './unshipped.ts';

/** A path that a build file names; a variable in it is {@link VARIABLE}, and `*` stands for any name. */
interface Mention {
  readonly path: string;
  /** The build file. */
  readonly file: string;
  /** Whether a Dockerfile copies it into an image. */
  readonly isCopied: boolean;
  /** Whether this image serves catalogs. */
  readonly isInIndex: boolean;
}

export interface BuildFacts {
  readonly mentions: readonly Mention[];
  /** Words of all build files, of which a variable may be one. */
  readonly words: ReadonlySet<string>;
}

/** Stands for what only a build knows. */
export const VARIABLE = '\0';

/** `Dockerfile`, `Containerfile`, with text before a dot (`catalog.Dockerfile`) or behind one (`Dockerfile.v4.19`). */
const DOCKERFILE = /(?:^|[/.])(?:Dockerfile|Containerfile)(?:[.-][^/]*)?$/i;
/** Makefiles, shell scripts, and what CI systems run. */
const SCRIPT =
  /(?:^|\/)(?:GNUmakefile|[Mm]akefile|Jenkinsfile|[Tt]askfile\.ya?ml|justfile|cloudbuild\.ya?ml|\.gitlab-ci\.ya?ml)$|\.(?:mk|sh)$|^\.(?:github\/(?:workflows|actions)|tekton|ci|ci-operator|circleci)\//;
/** Most build files that are read, and most bytes of one: setup reads any repository, whatever its size. */
const MOST_FILES = 300;
const MOST_BYTES = 256 * 1024;

/** What Dockerfiles, Makefiles and CI files say of paths: which they copy or build from, and all words in them. */
export async function readBuildFiles(
  objects: ObjectReader,
  files: readonly ListedFile[],
): Promise<BuildFacts> {
  const own = files
    .filter(({ path, mode }) => whyUnreadable(mode) === undefined && isBuildFile(path) && !isUnshipped(path))
    .slice(0, MOST_FILES);
  const mentions: Mention[] = [];
  const words = new Set<string>();
  for (const { path, id } of own) {
    const info = await objects.info(id);
    if (info === undefined || info.size > MOST_BYTES) continue;
    const text = joinedLines((await objects.read(id)).bytes.toString('utf8'));
    const tokens = tokensOf(text);
    for (const token of tokens) if (!token.includes(VARIABLE)) words.add(token);
    const fromScript = BUILDS.test(text) ? tokens : [];
    // Of a Dockerfile only what it copies counts: its other words may be paths in the image.
    const named = isDockerfile(path) ? copiedIn(text) : fromScript;
    const isInIndex = isDockerfile(path) && SERVES.test(text);
    for (const one of new Set(named)) mentions.push(...mentionsOf(one, { file: path, isInIndex }));
  }
  return { mentions, words };
}

export function isDockerfile(path: string): boolean {
  return DOCKERFILE.test(path);
}

function isBuildFile(path: string): boolean {
  return isDockerfile(path) || SCRIPT.test(path);
}

/** A script without any of them says nothing of catalogs. */
const BUILDS = /\b(?:opm|docker|podman|buildah|buildx|kaniko|path-context)\b/;

/** What a Dockerfile of an index image says. */
const SERVES = /\bopm\b|operatorframework\.io\.index|operator-registry|\s\/configs\b/;

/**
 * A line that goes on becomes one; comments and `rm` say nothing of what a build takes, and `$(wildcard FILES)` names files.
 * The numbers keep the time linear: without, each pattern could run to the end of the text from every place.
 */
function joinedLines(text: string): string {
  return text
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/^[ \t]{0,200}(?:#|@?-?rm\s).*$/gm, '')
    .replaceAll(/\$\(wildcard ([^)]{0,500})\)/g, ' $1 ');
}

/** `${{ x }}` and `{{ x }}` of workflows, `${x}`, `$(x)` and `$x` of shells and Makefiles, `$@` and `%` of Make's rules. */
const VARIABLES =
  /\$?\{\{.{0,200}?\}\}|\$\$?\{[^}]{0,200}\}|\$\$?\([^)]{0,200}\)|\$\$?[A-Za-z_]\w*|\$[@*<^?%]|%/g;

/** Most characters of a path; what is longer names no folder. */
const MOST_TOKEN = 250;

/** The words of a text that may be paths, between blanks, quotes, brackets and operators; variables as {@link VARIABLE}. */
function tokensOf(text: string): string[] {
  return (text.replaceAll(VARIABLES, VARIABLE).match(/[^\s"'`;,(){}<>|&=[\]]+/g) ?? []).filter(
    (token) => token.length <= MOST_TOKEN,
  );
}

/** The sources of `COPY` and `ADD`; not those that another stage has. */
function copiedIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, rest] = /^\s*(?:COPY|ADD)\s+(.*)$/i.exec(line) ?? [];
    if (rest === undefined || rest.includes('--from')) return [];
    // The last word is the destination.
    return tokensOf(rest)
      .filter((token) => !token.startsWith('--'))
      .slice(0, -1);
  });
}

/** A path as it is seen from the top, and from the folder of the build file. */
function mentionsOf(token: string, { file, isInIndex }: Pick<Mention, 'file' | 'isInIndex'>): Mention[] {
  const isCopied = DOCKERFILE.test(file);
  // Without `./` before it, and without what stands for all of a folder behind it; `FOLDER/*` stays: it may be some files.
  const plain = token
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?:\/\*\*?|\/\.|\/)+$/, (end) => (end === '/*' ? end : ''));
  // Options, URLs, and paths from the top of the machine or above the folder: none is in the repository.
  if (/^[/-]|:|\.\./.test(plain)) return [];
  const folder = file.slice(0, Math.max(0, file.lastIndexOf('/')));
  // Dockerfiles are often built in their own folder, scripts run at the top: both readings may be meant.
  const below = plain === '' || plain === '.' ? folder : joinPath(folder, plain);
  const all = new Set([plain === '.' ? '' : plain, below]);
  // A path of variables and wildcards alone could be any.
  return [...all].filter((path) => /[^\0/*]/.test(path)).map((path) => ({ path, file, isCopied, isInIndex }));
}
