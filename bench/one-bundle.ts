/** A change as most merges are one: a version more at the head of a package's default channel. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Changed {
  readonly package: string;
  /** Bytes of the bundle that was added. */
  readonly bytes: number;
}

/**
 * Adds a bundle, a copy of the head's under the next version, to the package whose catalog is the nearest
 * in size to `bytes`.
 *
 * @param root folder with a folder for each package
 */
export function addOneBundle(root: string, bytes: number): Changed {
  const [smallest] = readdirSync(root)
    .flatMap((name) => candidates(join(root, name), name))
    .sort((a, b) => Math.abs(a.size - bytes) - Math.abs(b.size - bytes));
  if (!smallest) throw new Error(`${root} holds no package that a version can be added to`);
  const { path, package: name, text } = smallest;
  const documents = text.split(/^---\n/m);
  const added = addition(documents);
  if (!added) throw new Error(`${path} names no head`);
  writeFileSync(path, added.documents.join('---\n'));
  return { package: name, bytes: Buffer.byteLength(added.bundle) };
}

interface Candidate {
  readonly package: string;
  readonly path: string;
  readonly size: number;
  readonly text: string;
}

function candidates(folder: string, name: string): Candidate[] {
  return readdirSync(folder).flatMap((file) => {
    const path = join(folder, file);
    const { size } = statSync(path);
    if (size > 4e6 || size < 5e5) return [];
    const text = readFileSync(path, 'utf8');
    return addition(text.split(/^---\n/m)) ? [{ package: name, path, size, text }] : [];
  });
}

/** The documents with one bundle more; undefined where the head or its version cannot be told. */
function addition(documents: readonly string[]): { documents: string[]; bundle: string } | undefined {
  const channel = /^defaultChannel: (\S+)$/m.exec(
    documents.find((document) => /^schema: olm\.package$/m.test(document)) ?? '',
  )?.[1];
  const at = documents.findIndex(
    (document) =>
      /^schema: olm\.channel$/m.test(document) && document.split('\n').includes(`name: ${channel}`),
  );
  const text = documents[at] ?? '';
  const names = [...text.matchAll(/^- name: (\S+)$/gm)].map(([, name = '']) => name);
  const left = new Set([...text.matchAll(/^ +(?:replaces: |- )(\S+)$/gm)].map(([, name]) => name));
  const heads = names.filter((name) => !left.has(name));
  const head = heads[0] ?? '';
  const version = /\d+\.\d+\.(\d+)$/.exec(head);
  const bundle = documents.find((document) => document.split('\n').includes(`name: ${head}`));
  if (heads.length !== 1 || !version || bundle === undefined) return undefined;
  const next = version[0].replace(/\d+$/, String(Number(version[1]) + 1));
  const name = head.replace(version[0], next);
  if (documents.some((document) => document.includes(name))) return undefined;
  const entry = text.replace(`- name: ${head}\n`, `- name: ${name}\n  replaces: ${head}\n- name: ${head}\n`);
  const copy = bundle.replaceAll(version[0], next);
  return {
    documents: [...documents.slice(0, at), entry, ...documents.slice(at + 1), copy],
    bundle: copy,
  };
}
