/** What a Dockerfile says of an image: its base, its labels, and what is copied into it. */
import { parseJson } from '../json.ts';

/** An image that a Dockerfile builds, or a part of one. */
export interface Stage {
  /** The image or stage after `FROM`; undefined if only a build knows it. */
  readonly base: string | undefined;
  /** In small letters: builds take names that differ in this only for the same. */
  readonly name: string | undefined;
  readonly line: number;
  readonly labels: ReadonlyMap<string, Label>;
  readonly copies: readonly Copy[];
  readonly runs: readonly Run[];
  /** What ENTRYPOINT and CMD make the image run. */
  readonly entrypoint: Command | undefined;
  readonly arguments: Command | undefined;
  /** The folder that it runs in; undefined if only a build knows it. */
  readonly folder: string | undefined;
}

/** Words of what an image runs. */
export interface Command {
  /** Undefined if only the image knows them. */
  readonly words: readonly string[] | undefined;
  readonly line: number;
}

export interface Label {
  /** Undefined if only a build knows it. */
  readonly value: string | undefined;
  readonly line: number;
}

/** What a build runs. */
interface Run {
  /** With the shell that reads it, and with the values of the variables that are known. */
  readonly text: string;
  /** Where; undefined if only a build knows it. */
  readonly folder: string | undefined;
}

export interface Copy {
  /** The stage or image that has the sources; undefined for the files beside the Dockerfile. */
  readonly from: string | undefined;
  /** Undefined where only a build knows one. */
  readonly sources: readonly string[] | undefined;
  /** Whether archives are unpacked, whatever they are called. */
  readonly unpacks: boolean;
  /** An absolute path; with a slash at its end if it is written so. */
  readonly to: string | undefined;
}

interface Instruction {
  readonly word: string;
  readonly rest: string;
  readonly line: number;
}

/** What variables stand for, and how many characters they may still bring into all of the Dockerfile. */
interface Scope {
  readonly values: Map<string, string | undefined>;
  readonly budget: { left: number };
}

/** Most characters that variables bring into a Dockerfile: each may hold the one before it several times. */
const MOST_FILLED = 100_000;

/** The stages of a Dockerfile in their order; the last one is the image. */
export function readDockerfile(text: string): readonly Stage[] {
  const stages: OpenStage[] = [];
  const common: Scope = { values: new Map(), budget: { left: MOST_FILLED } };
  for (const instruction of instructionsIn(text)) {
    const stage = stages.at(-1);
    if (instruction.word === 'FROM') stages.push(openStage(instruction, common));
    else if (stage) addTo(stage, instruction, common);
    else if (instruction.word === 'ARG') setArguments(instruction, { ...common, environment: new Set() });
  }
  return stages;
}

interface OpenStage extends Omit<Stage, 'entrypoint' | 'arguments' | 'folder'>, Scope {
  readonly labels: Map<string, Label>;
  readonly copies: Copy[];
  readonly runs: Run[];
  entrypoint: Command | undefined;
  arguments: Command | undefined;
  /** The names of the values that ENV sets. */
  readonly environment: Set<string>;
  folder: string | undefined;
  /** The program that reads what RUN runs, with its arguments; empty for the usual one. */
  shell: string;
}

/**
 * The instructions of a Dockerfile. A line that ends with the escape character continues in the next one that is not a comment. The
 * lines of here-documents belong to their instruction.
 */
function instructionsIn(text: string): Instruction[] {
  const found: Instruction[] = [];
  const lines = text.split('\n');
  const continuation = escapeOf(lines);
  let open: { parts: string[]; line: number } | undefined;
  for (let i = 0; i < lines.length; i++) {
    const written = (lines[i] ?? '').trimEnd();
    const line = written.trimStart();
    if (line === '' || line.startsWith('#')) continue;
    const goesOn = line.endsWith(continuation);
    // A word may go on in the next line: nothing comes between the two, and blanks in front of the second belong to it.
    const part = open ? written : line;
    open ??= { parts: [], line: i + 1 };
    open.parts.push(goesOn ? part.slice(0, -1) : part);
    if (goesOn) continue;
    const instruction = instructionOf(open.parts.join(''), open.line);
    const end = endOfHereDocuments(instruction, lines, i + 1);
    // What RUN gets so is its program; for COPY and ADD it is the content of a file, which nobody asks for.
    const program = instruction.word === 'RUN' ? lines.slice(i + 1, end) : [];
    found.push({ ...instruction, rest: [instruction.rest, ...program].join('\n') });
    i = end - 1;
    open = undefined;
  }
  if (open) found.push(instructionOf(open.parts.join(''), open.line));
  return found;
}

/**
 * The character that continues a line: a backslash, or what a directive in the first lines names instead.
 *
 * @see https://docs.docker.com/reference/dockerfile/#escape
 */
function escapeOf(lines: readonly string[]): string {
  return directive(lines, '#', 'escape') ?? '\\';
}

const MOST_DIRECTIVES = 100;

/** The value of a name among the comments at the top, as far as these are all of the form `name=value`. */
function directive(lines: readonly string[], comment: '#' | '//', wanted: string): string | undefined {
  for (const written of lines.slice(0, MOST_DIRECTIVES)) {
    const line = written.slice(0, 1000).trim();
    const [, name, value] = line.startsWith(comment)
      ? (/^\s*([a-z][a-z0-9]*)\s*=\s*(.+)$/i.exec(line.slice(comment.length)) ?? [])
      : [];
    if (name === undefined) return undefined;
    if (name.toLowerCase() === wanted) return value;
  }
  return undefined;
}

/** The program that reads Dockerfiles, whatever its version. */
const OFFICIAL = /^(?:docker\.io\/)?docker\/dockerfile(?:-upstream)?(?:[:@]|$)/;

/**
 * Whether the first lines of a Dockerfile name another program than Docker's own to read it: what that makes of the file is
 * not known. BuildKit looks for comments with `#`, then with two slashes, then for an object in JSON.
 *
 * @see https://docs.docker.com/build/buildkit/frontend/
 */
export function isReadByOthers(text: string): boolean {
  const lines = text.replace(/^\ufeff/, '').split('\n', MOST_DIRECTIVES + 1);
  if (lines[0]?.startsWith('#!')) lines.shift();
  const program = programIn(lines, '#') ?? programIn(lines, '//') ?? programInJson(text);
  return program !== undefined && !OFFICIAL.test(program);
}

function programIn(lines: readonly string[], comment: '#' | '//'): string | undefined {
  return directive(lines, comment, 'syntax')?.split(/\s/, 1)[0];
}

function programInJson(text: string): string | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const { syntax } = parseJson(text) as { readonly syntax?: unknown };
    return typeof syntax === 'string' ? syntax : undefined;
  } catch {
    return 'unknown';
  }
}

/**
 * Where the lines behind the here-documents of an instruction begin: `from` where it has none.
 *
 * @see https://docs.docker.com/reference/dockerfile/#here-documents
 */
function endOfHereDocuments({ word, rest }: Instruction, lines: readonly string[], from: number): number {
  let at = from;
  for (const token of /^(?:RUN|COPY|ADD)$/.test(word) ? tokensOf(rest) : []) {
    const [, dash, name = ''] = /^\d*<<(-?)([^<]+)$/.exec(token) ?? [];
    if (name === '') continue;
    const last = withoutQuotes(name);
    // With a dash, tabs may stand before the lines.
    const isLast = (line: string): boolean => (dash === '-' ? line.replace(/^\t+/, '') : line) === last;
    while (at < lines.length && !isLast((lines[at] ?? '').replace(/\r$/, ''))) at++;
    at++;
  }
  return Math.min(at, lines.length);
}

function instructionOf(text: string, line: number): Instruction {
  const end = text.search(/\s/);
  const word = (end < 0 ? text : text.slice(0, end)).toUpperCase();
  return { word, rest: end < 0 ? '' : text.slice(end).trim(), line };
}

/** The stage that a FROM instruction begins. */
function openStage({ rest, line }: Instruction, common: Scope): OpenStage {
  const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
  const [base = '', as = '', name] = words;
  return {
    base: filledIn(base, common),
    name: as.toLowerCase() === 'as' ? name?.toLowerCase() : undefined,
    line,
    labels: new Map(),
    copies: [],
    runs: [],
    entrypoint: undefined,
    arguments: undefined,
    values: new Map(),
    budget: common.budget,
    environment: new Set(),
    folder: '/',
    shell: '',
  };
}

/** Changes a stage as an instruction does. */
function addTo(stage: OpenStage, instruction: Instruction, common: Scope): void {
  const { word, rest, line } = instruction;
  if (word === 'ARG') setArguments(instruction, stage, common.values);
  if (word === 'ENV' || word === 'LABEL') {
    // Variables have the values from before the instruction in all of it.
    const pairs = pairsOf(rest).map(([key, value]) => [key, filledIn(value, stage)] as const);
    for (const [key, value] of pairs) {
      if (word === 'LABEL') stage.labels.set(key, { value, line });
      else {
        stage.values.set(key, value);
        stage.environment.add(key);
      }
    }
  }
  if (word === 'WORKDIR') {
    const folder = absolute(filledIn(withoutQuotes(rest), stage), stage.folder);
    stage.folder = folder === undefined ? undefined : pathAt('/', folder);
  }
  if (word === 'SHELL') stage.shell = `${(listOf(rest) ?? [rest]).join(' ')} `;
  if (word === 'RUN')
    stage.runs.push({ text: `${stage.shell}${programOf(rest, stage)}`, folder: stage.folder });
  if (word === 'ENTRYPOINT') {
    // What came before were arguments of another program.
    stage.entrypoint = commandOf(instruction);
    stage.arguments = undefined;
  }
  if (word === 'CMD') stage.arguments = commandOf(instruction);
  if (word === 'COPY' || word === 'ADD') stage.copies.push(copyOf(instruction, stage));
}

/** A list in JSON, which no shell reads, or a line of a shell. */
function commandOf({ rest, line }: Instruction): Command {
  const words = listOf(rest) ?? (/[`$]/.test(rest) ? undefined : tokensOf(rest).map(withoutQuotes));
  return { words, line };
}

/** What RUN runs, with the variables that the stage has and the program does not set. */
function programOf(written: string, { values, budget }: Scope): string {
  const rest = listOf(written)?.join(' ') ?? written;
  const own = new Set(Array.from(rest.matchAll(/(?<![\w${])[a-z_]\w{0,99}(?!\w)/gi), ([name]) => name));
  const known = new Map([...values].filter(([name]) => !own.has(name)));
  return filledIn(rest, { values: known, budget }) ?? rest;
}

/**
 * Sets the variables of an ARG instruction. Without a value, one has what was set before the first FROM. One that ENV sets
 * otherwise is not known: Docker's documentation says that ENV counts, and BuildKit takes the ARG.
 */
function setArguments(
  { rest }: Instruction,
  scope: Scope & Pick<OpenStage, 'environment'>,
  common: ReadonlyMap<string, string | undefined> = new Map(),
): void {
  const { values, environment } = scope;
  for (const written of tokensOf(rest)) {
    const at = written.indexOf('=');
    const name = at < 0 ? written : written.slice(0, at);
    const value = at < 0 ? common.get(name) : filledIn(withoutQuotes(written.slice(at + 1)), scope);
    const isOtherwise = environment.has(name) && value !== values.get(name);
    values.set(name, isOtherwise ? undefined : value);
  }
}

/** Flags of COPY and ADD that leave files out, or put them elsewhere than their sources say. */
const SELECTING = /^--(?:exclude|parents)(?:=|$)/;

/** Reads the operands of COPY or ADD: words or, for paths with spaces, a JSON list. */
function copyOf({ word: name, rest }: Instruction, stage: OpenStage): Copy {
  const words = rest.includes('[') ? (listOf(rest) ?? tokensOf(rest)) : tokensOf(rest);
  const flags = words.filter((word) => word.startsWith('--'));
  const filled = words
    .filter((word) => !word.startsWith('--'))
    .map((word) => filledIn(withoutQuotes(word), stage));
  const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
  const sources = filled.slice(0, -1);
  const isKnown = (source: string | undefined): source is string => source !== undefined;
  const selects = flags.some((flag) => SELECTING.test(flag) && flag !== '--parents=false');
  return {
    from,
    sources: !selects && sources.every(isKnown) ? sources : undefined,
    unpacks: name === 'ADD',
    to: absolute(filled.at(-1), stage.folder),
  };
}

/** The words of a list in JSON, with the flags before it; undefined if there is none. */
function listOf(rest: string): string[] | undefined {
  const at = rest.indexOf('[');
  try {
    const list: unknown = parseJson(rest.slice(at));
    return Array.isArray(list) ? [...tokensOf(rest.slice(0, at)), ...list.map(String)] : undefined;
  } catch {
    // What has a bracket may still be words.
    return undefined;
  }
}

function absolute(path: string | undefined, folder: string | undefined): string | undefined {
  if (path === undefined || path.startsWith('/')) return path;
  return folder === undefined ? undefined : `${folder.replace(/\/$/, '')}/${path.replace(/^\.(?:\/|$)/, '')}`;
}

/** `a=b "c"="d e"`, or `a b` for one pair. */
function pairsOf(rest: string): (readonly [string, string])[] {
  const tokens = tokensOf(rest);
  const [first = ''] = tokens;
  if (!first.includes('=')) return [[withoutQuotes(first), withoutQuotes(rest.slice(first.length).trim())]];
  return tokens.flatMap((token) => {
    const at = token.startsWith('"') ? token.indexOf('=', token.indexOf('"', 1)) : token.indexOf('=');
    return at < 0 ? [] : [[withoutQuotes(token.slice(0, at)), withoutQuotes(token.slice(at + 1))] as const];
  });
}

/** Words apart by blanks outside of quotes, which they keep. */
function tokensOf(text: string): string[] {
  return text.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\]|["'\\])+/g) ?? [];
}

/** A text without its quotes, and without the escapes between double ones. */
function withoutQuotes(text: string): string {
  return text.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
    double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1'),
  );
}

/** A text with its variables filled in: `$a`, `${a}`, `${a-b}` and `${a:-b}`; undefined if one has no value, or the budget is spent. */
function filledIn(text: string, { values, budget }: Scope): string | undefined {
  let isKnown = true;
  const filled = text.replace(
    /\$(?:\{(\w{1,100})(?::?-([^}]{0,500}))?\}|(\w{1,100}))/g,
    (_, braced?: string, otherwise?: string, plain?: string) => {
      const value = values.get(braced ?? plain ?? '') ?? otherwise;
      if (value !== undefined) budget.left -= value.length;
      isKnown &&= value !== undefined && budget.left >= 0;
      return isKnown && value !== undefined ? value : '';
    },
  );
  // Other forms of variables, such as `${a:+b}`, only a build fills in.
  return isKnown && !filled.includes('${') ? filled : undefined;
}

/** A source within what the build gets, as Docker reads it: `..` leads no higher than its top. */
export function inContext(written: string): string {
  const names: string[] = [];
  for (const name of written.split('/'))
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  return names.join('/');
}

/** A path as it is called from a folder, without `.`, `..` and empty names; `/` for the top. */
export function pathAt(folder: string, written: string): string {
  return `/${inContext(written.startsWith('/') ? written : `${folder}/${written}`)}`;
}

export function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '' ? '/' : `${folder}/`);
}
