/** Files that people drop or open: their texts by path, and what was left out. */

export interface Opened {
  readonly texts: Readonly<Record<string, string>>;
  /** Why files were left out, a sentence each. */
  readonly left: readonly string[];
}

const MOST_FILES = 5000;
const MOST_BYTES = 64 * 1024 * 1024;

interface Placed {
  readonly path: string;
  readonly file: File;
}

/** Files of a dialog; those of a folder have paths. */
export function chosenFiles(files: FileList): Promise<Opened> {
  return readAll([...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

/** Files and folders that were dropped. */
export async function droppedFiles(data: DataTransfer): Promise<Opened> {
  // All of it is taken before the first wait: after the event, a browser has nothing more to give.
  const items = [...data.items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const placed: Placed[] = [];
  for (const { entry, file } of items) {
    if (entry) await collect(entry, placed);
    else if (file) placed.push({ path: file.name, file });
  }
  return readAll(placed);
}

async function collect(entry: FileSystemEntry, into: Placed[]): Promise<void> {
  if (into.length > MOST_FILES) return;
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    into.push({ path: entry.fullPath.replace(/^\/+/, ''), file });
    return;
  }
  if (!(entry instanceof FileSystemDirectoryEntry)) return;
  const reader = entry.createReader();
  for (;;) {
    // A reader gives its entries in portions, and an empty one at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return;
    for (const one of some) await collect(one, into);
  }
}

async function readAll(placed: readonly Placed[]): Promise<Opened> {
  const shown = placed.filter(({ path }) => !path.split('/').some((part) => part.startsWith('.')));
  const bytes = shown.reduce((sum, { file }) => sum + file.size, 0);
  if (shown.length > MOST_FILES || bytes > MOST_BYTES) {
    throw new Error(
      `${shown.length} files with ${Math.round(bytes / 1e6)} MB are too many: the page takes ${MOST_FILES} files with ${MOST_BYTES / 1024 / 1024} MiB. Use the command line.`,
    );
  }
  const top = commonFolder(shown.map(({ path }) => path));
  const texts: Record<string, string> = {};
  const left: string[] = [];
  for (const { path, file } of shown) {
    const text = textOf(await file.arrayBuffer());
    if (text === undefined) left.push(`${path} is not UTF-8 text, and was left out`);
    else texts[path.slice(top.length)] = text;
  }
  return { texts, left };
}

function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The folder, with a slash at its end, that all paths begin with. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  const parts = first.split('/').slice(0, -1);
  while (parts.length > 0 && !others.every((path) => path.startsWith(`${parts.join('/')}/`))) parts.pop();
  return parts.length === 0 ? '' : `${parts.join('/')}/`;
}
