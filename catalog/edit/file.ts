/**
 * A catalog's file as the texts of its documents, so that one can be changed or taken away and
 * every other stays as it was written: comments, order, formatting.
 */
import { decodeMeta, type Meta } from '../fbc/blob.ts';
import { readDocuments } from '../fbc/documents.ts';
import { DEFAULT_LIMITS } from '../fbc/load.ts';
import type { Blob } from '../fbc/model.ts';
import { startsLikeJson } from '../fbc/split.ts';
import type { Finding } from '../finding.ts';
import { JsonError, JsonReader } from '../go/json.ts';

export type FileFormat = 'json' | 'yaml';

export interface FileText {
  readonly path: string;
  readonly format: FileFormat;
  readonly pieces: readonly PieceText[];
}

/** One document with the separator before it, and the white space and comments around it. */
export interface PieceText {
  readonly text: string;
  /** What the document says; undefined for a piece that holds none. */
  readonly blob: (Meta & Pick<Blob, 'value'>) | undefined;
}

/** Cuts a file into its pieces. Joined, their texts are the file's text. Only for files that can be read. */
export function fileText(path: string, bytes: Uint8Array): FileText {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const json = startsLikeJson(text) ? jsonPieces(text) : undefined;
  return { path, format: json ? 'json' : 'yaml', pieces: (json ?? yamlPieces(text)).map(pieceOf) };
}

/** The piece of a text. */
export function pieceOf(text: string): PieceText {
  const findings: Finding[] = [];
  const bytes = new TextEncoder().encode(text);
  const [read] = readDocuments('', bytes, { limits: DEFAULT_LIMITS, findings });
  return { text, blob: read && decodeMeta(read.value, read.document, findings) };
}

/** The file's text; the empty text when no piece holds a document. */
export function joinedText({ pieces }: FileText): string {
  return pieces.some(({ blob }) => blob) ? pieces.map(({ text }) => text).join('') : '';
}

/** The text of a YAML file, cut before each separator. Only a line feed ends a line here, as where files are read. */
function yamlPieces(text: string): string[] {
  return text.split(/(?<![^\n])(?=---)/).filter((piece) => piece !== '');
}

/** The text of a JSON file, cut behind each value. @returns undefined for what begins like JSON and is YAML */
function jsonPieces(text: string): string[] | undefined {
  const reader = new JsonReader(text, DEFAULT_LIMITS.depth);
  const pieces: string[] = [];
  let from = 0;
  try {
    while (reader.next()) {
      pieces.push(text.slice(from, reader.offset));
      from = reader.offset;
    }
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
  const last = pieces.pop();
  return last === undefined ? [text] : [...pieces, last + text.slice(from)];
}
