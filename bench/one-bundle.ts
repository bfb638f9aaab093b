/** A change as most merges are one: a version more at the head of a package's default channel. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package with one bundle more. */
export interface Addition {
  readonly package: string;
  /** The file that changes, and what it then holds. */
  readonly path: string;
  readonly text: string;
  /** Bytes of the bundle. */
  readonly bytes: number;
}

/**
 * What would be added to packages: a bundle each, a copy of the head's under the next version. Of all packages of
 * which the head can be told, the smallest first, those at the given parts of the way.
 *
 * @param root folder with a folder for each package
 * @param parts numbers from 0 to 1
 */
export function additions(root: string, parts: readonly number[]): Addition[] {
  const possible = readdirSync(root)
    .flatMap((name) => additionsTo(join(root, name), name))
    .sort((a, b) => a.text.length - b.text.length);
  return parts.flatMap((part) => possible[Math.round(part * (possible.length - 1))] ?? []);
}

function additionsTo(folder: string, name: string): Addition[] {
  return readdirSync(folder).flatMap((file) => {
    const path = join(folder, file);
    const added = addition(readFileSync(path, 'utf8').split(/^---\n/m));
    if (!added) return [];
    const { documents, bundle } = added;
    return [{ package: name, path, text: documents.join('---\n'), bytes: Buffer.byteLength(bundle) }];
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
