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

/** The files of a package with a bundle more; none where its head cannot be told. */
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
  const head = headOf(text);
  const version = /\d+\.\d+\.\d+/.exec(head)?.[0];
  const bundle = documents.find((document) => document.split('\n').includes(`name: ${head}`));
  if (version === undefined || bundle === undefined) return undefined;
  const next = nextFree(version, (one) =>
    documents.some((document) => document.includes(head.replace(version, one))),
  );
  const name = head.replace(version, next);
  const entry = text.replace(
    new RegExp(`^( *)- name: ${escaped(head)}$`, 'm'),
    (line, indent) => `${indent}- name: ${name}\n${indent}  replaces: ${head}\n${line}`,
  );
  const copy = bundle.replaceAll(version, next);
  return {
    documents: [...documents.slice(0, at), entry, ...documents.slice(at + 1), copy],
    bundle: copy,
  };
}

/** The entry that no other replaces or skips; empty when there is not just one. */
function headOf(channel: string): string {
  const names = [...channel.matchAll(/^ *- name: (\S+)$/gm)].map(([, name = '']) => name);
  const left = new Set([...channel.matchAll(/^ +(?:replaces: |- )(\S+)$/gm)].map(([, name]) => name));
  const heads = names.filter((name) => !left.has(name));
  return heads.length === 1 ? (heads[0] ?? '') : '';
}

/** The version with the least higher last number that is not taken. */
function nextFree(version: string, isTaken: (version: string) => boolean): string {
  const [major, minor, patch] = version.split('.');
  for (let number = Number(patch) + 1; ; number++) {
    const next = `${major}.${minor}.${number}`;
    if (!isTaken(next)) return next;
  }
}

/** A text as a part of a pattern. */
function escaped(text: string): string {
  return text.replaceAll(/[.\\+*?[^\]$(){}=!<>|:-]/g, '\\$&');
}
