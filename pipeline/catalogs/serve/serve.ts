/** Serving a catalog as clusters see it: the registry API of OLM v0, catalogd's API of OLM v1. */
import { createHash, type Hash } from 'node:crypto';
import { DEFAULT_LIMITS, load } from '../../../catalog/fbc/load.ts';
import { type Blob, catalogOf } from '../../../catalog/fbc/model.ts';
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { answersOf } from '../../../catalog/opm/serve/answers.ts';
import { refusals } from '../../../catalog/rules/serve-refusals.ts';
import type { CatalogSource, FilePieces, SourceFile, TextPiece } from '../../../catalog/source.ts';
import type { Listening } from '../../server-limits.ts';

export interface Address {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
}

interface ServeRequest {
  readonly source: CatalogSource;
  /** Under which OLM v1 asks for the catalog. */
  readonly name: string;
  /** Where OLM v0's API listens; nowhere when left out. */
  readonly grpc?: Address | undefined;
  /** Where OLM v1's API listens; nowhere when left out. */
  readonly http?: Address | undefined;
  readonly now: Date;
}

type Serving =
  /** opm refuses to serve the catalog; the findings say why. */
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }
  | {
      readonly kind: 'serving';
      readonly packages: number;
      /** Ports that are listened on. */
      readonly grpc: number | undefined;
      readonly http: number | undefined;
      close(): Promise<void>;
    };

/**
 * Reads a catalog and serves it until it is closed.
 *
 * @throws PipelineError `io` when an address cannot be listened on
 */
export async function serveCatalog({ source, name, grpc, http, now }: ServeRequest): Promise<Serving> {
  const ordered: Blob[] = [];
  const note = <B extends Blob>(blob: B): B => {
    ordered.push(blob);
    return blob;
  };
  const { source: hashed, version } = hashingSource(source);
  const { blobs, findings: unread } = await load(hashed, DEFAULT_LIMITS, {
    package: note,
    channel: note,
    bundle: note,
    deprecations: note,
    other: note,
  });
  const catalog = catalogOf(blobs);
  const refused = refusals(catalog, unread);
  if (refused.length > 0) return { kind: 'refused', findings: refused.sort(compareFindings) };
  const servers: Listening[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
  };
  try {
    // The libraries of gRPC are large: nothing else loads them.
    const byGrpc = grpc && (await (await import('./grpc.ts')).serveGrpc(answersOf(catalog), grpc));
    if (byGrpc) servers.push(byGrpc);
    const served = { name, blobs: ordered, version: version(), since: now };
    const byHttp = http && (await (await import('./http.ts')).serveHttp(served, http));
    if (byHttp) servers.push(byHttp);
    return {
      kind: 'serving',
      packages: catalog.packages.size,
      grpc: byGrpc?.port,
      http: byHttp?.port,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A source whose content is hashed as it is read, whole or in pieces, so that the same catalog has the same version. */
function hashingSource(source: CatalogSource): { source: CatalogSource; version: () => string } {
  const hashes = new Map<string, Hash>();
  const startHash = (path: string): Hash => {
    const hash = createHash('sha256');
    hashes.set(path, hash);
    return hash;
  };
  const hashed = (file: SourceFile): SourceFile => {
    const { path, readPieces } = file;
    const read = async (): Promise<Uint8Array> => {
      const bytes = await file.read();
      startHash(path).update(bytes);
      return bytes;
    };
    if (!readPieces) return { ...file, read };
    const inPieces = (): FilePieces => {
      const { size, pieces } = readPieces();
      return { size, pieces: hashedPieces(pieces, startHash(path)) };
    };
    return { ...file, read, readPieces: inPieces };
  };
  const version = (): string => {
    // A digest ends its hash, so it is taken of a copy.
    const digests = [...hashes].map(([path, hash]) => [path, hash.copy().digest('hex')] as const);
    const sorted = digests.sort(([a], [b]) => compareText(a, b));
    return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  };
  return { source: { files: async () => (await source.files()).map(hashed) }, version };
}

/** The pieces, each hashed as it is read: a large file is not read twice, nor held in memory. */
function* hashedPieces(pieces: FilePieces['pieces'], hash: Hash): Generator<TextPiece | Uint8Array> {
  for (const piece of pieces) {
    hash.update(piece instanceof Uint8Array ? piece : piece.text);
    yield piece;
  }
}
