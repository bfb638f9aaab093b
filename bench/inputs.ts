/**
 * The catalogs that are measured, made from the real ones at the head of a history: the same blobs
 * under other package names, so that sizes can be chosen.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface Input {
  readonly name: string;
  readonly directory: string;
}

const LETTERS = 'abcdefghijklmn';

/**
 * Makes what is not there yet.
 *
 * @param history a git bundle or clone with `catalogs/<catalog>/<package>/`
 * @param root where inputs are kept between runs
 * @param names which of them: `text`, `base64`, `big`, `huge`
 */
export function makeInputs(history: string, root: string, names: ReadonlySet<string>): Input[] {
  const catalogs = join(root, 'history', 'catalogs');
  if (!existsSync(catalogs)) {
    execFileSync('git', ['clone', '--quiet', '--depth', '1', history, join(root, 'history')], {
      stdio: 'ignore',
    });
  }
  const all = readdirSync(catalogs).sort();
  const recipes: Record<string, () => Iterable<Copy>> = {
    text: () => limited(copiesOf(catalogs, ['v4.17', 'v4.18', 'v4.19', 'v4.20'], 1), 12e6),
    base64: () => [
      ...copiesOf(catalogs, ['v4.16'], 1),
      ...everyOther(copiesOf(catalogs, ['v4.16'], 2).slice(packagesIn(catalogs, 'v4.16').length)),
    ],
    big: () => copiesOf(catalogs, all, 2),
    huge: () => copiesOf(catalogs, all, 14),
  };
  return Object.entries(recipes).flatMap(([name, copies]) => {
    if (!names.has(name)) return [];
    const directory = join(root, 'inputs', name);
    if (!existsSync(directory)) writeCopies(directory, copies());
    return [{ name, directory }];
  });
}

/** Has git know the files of an input, so that their blobs name them. */
export function track({ directory }: Input): void {
  const git = (...words: readonly string[]): void => {
    execFileSync('git', ['-C', dirname(directory), ...words], { stdio: 'ignore' });
  };
  if (!existsSync(join(dirname(directory), '.git'))) git('init', '--quiet');
  git('add', '--', basename(directory));
}

/** Changes one file of an input: its last line is a comment with a number. */
export function changeOneFile({ directory }: Input, to: number): void {
  const [file = ''] = filesIn(directory);
  const text = readFileSync(file, 'utf8').replace(/# changed [0-9]+\n$/, '');
  writeFileSync(file, `${text}# changed ${to}\n`);
}

interface Copy {
  readonly from: string;
  readonly package: string;
  readonly as: string;
}

/** Each package of the catalogs so many times, `<package>-<catalog>-a`, `-b` and so on; all of one round first. */
function copiesOf(root: string, catalogs: readonly string[], times: number): Copy[] {
  return Array.from({ length: times }, (_, round) =>
    catalogs.flatMap((catalog) =>
      packagesIn(root, catalog).map((name) => ({
        from: join(root, catalog, name),
        package: name,
        as: `${name}-${catalog.replace('.', '-')}-${LETTERS[round]}`,
      })),
    ),
  ).flat();
}

/** The folders of a catalog, one for each package, sorted. */
function packagesIn(root: string, catalog: string): string[] {
  return readdirSync(join(root, catalog), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** The first, the third and so on: for half a round. */
function everyOther(copies: readonly Copy[]): Copy[] {
  return copies.filter((_, i) => i % 2 === 0);
}

/** Copies as long as they fit into so many bytes; one that is too large is left out. */
function* limited(copies: readonly Copy[], bytes: number): Generator<Copy> {
  let left = bytes;
  for (const copy of copies) {
    const size = filesIn(copy.from).reduce((sum, file) => sum + readFileSync(file).length, 0);
    if (size > left) continue;
    left -= size;
    yield copy;
  }
}

/** Writes each copy into a folder of its own, under its new name. */
function writeCopies(directory: string, copies: Iterable<Copy>): void {
  for (const { from, package: name, as } of copies) {
    const folder = join(directory, as);
    mkdirSync(folder, { recursive: true });
    for (const [i, file] of filesIn(from).entries()) {
      writeFileSync(join(folder, `${i}.yaml`), renamed(readFileSync(file, 'utf8'), name, as));
    }
  }
}

/** The files with blobs below a folder, sorted. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

/** The same blobs of another package: where YAML or JSON names the package, and nowhere else. */
function renamed(text: string, name: string, as: string): string {
  const escaped = name.replaceAll(/[.\\+*?[^\]$(){}=!<>|:-]/g, '\\$&');
  const keys = new RegExp(`^(\\s*(?:- )?"?(?:package|packageName)"?: *"?)${escaped}("?,?)$`, 'gm');
  const own = new RegExp(`(^schema: olm\\.package\\n(?:(?!---)[^\\n]*\\n)*?name: )${escaped}$`, 'm');
  const before = new RegExp(`(^name: )${escaped}(\\n(?:(?!---)[^\\n]*\\n)*?schema: olm\\.package$)`, 'm');
  return text.replaceAll(keys, `$1${as}$2`).replace(own, `$1${as}`).replace(before, `$1${as}$2`);
}
