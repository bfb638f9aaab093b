/**
 * A repository over git's smart HTTP, without git: what a branch names, and the objects that are asked for. A token
 * goes to the repository's own host and nowhere else; ids are computed from the bytes that came.
 */
import { PipelineError } from '../../error.ts';
import type { Answer } from '../../oci/registry/http/exchange.ts';
import type { Transport } from '../../oci/registry/http/transport.ts';
import { failureOf, readAll } from '../../oci/registry/response.ts';
import { streamOf } from '../../oci/registry/stream.ts';
import { checkObjectIds, type GitObject } from '../objects.ts';
import { type PackLimits, readPack } from './pack.ts';
import {
  type Capabilities,
  fetchRequest,
  readCapabilities,
  readFetch,
  readRef,
  refRequest,
  type Wanted,
} from './protocol.ts';

export interface GitClient {
  /** What the server lacks so that parts of the repository can be read; empty when nothing. */
  lacking(): Promise<readonly string[]>;
  /**
   * Id of a branch's newest commit.
   *
   * @throws PipelineError `not-found` when there is no such branch
   */
  tip(branch: string): Promise<string>;
  /**
   * Fetches objects. Those that are named as wanted are among them, unless something is said to be here already.
   *
   * @throws PipelineError `not-found` for an object that the server does not have
   */
  fetch(wanted: Wanted): Promise<ReadonlyMap<string, GitObject>>;
}

export interface GitClientOptions {
  /** Such as `https://github.com/owner/name.git`. */
  readonly url: string;
  /** The `Authorization` header, asked for before each request; undefined to ask as nobody. */
  readonly authorization: () => Promise<string | undefined>;
  readonly transport: Transport;
  readonly limits?: Partial<ClientLimits>;
}

interface ClientLimits extends PackLimits {
  /** Bytes of one answer. */
  readonly answer: number;
}

const MEGABYTE = 1024 * 1024;
/** GitHub takes files of 100 MiB at most. */
const LIMITS: ClientLimits = {
  objects: 1_000_000,
  object: 128 * MEGABYTE,
  total: 512 * MEGABYTE,
  answer: 256 * MEGABYTE,
};
/** Bytes of what a server says of itself, or of a reference. */
const SMALL = MEGABYTE;

/** A client of a git server over HTTP, by protocol version 2. It needs no git and keeps nothing. */
export function openGitClient({ url, authorization, transport, limits }: GitClientOptions): GitClient {
  const most = { ...LIMITS, ...limits };
  const at = new URL(url);
  const ask = async (path: string, body: string | undefined, limit: number): Promise<Buffer> =>
    transport.attempt(at.host, async (budget) => {
      const target = new URL(`${at.href.replace(/\/$/, '')}${path}`);
      const answer = await transport.send(
        {
          method: body === undefined ? 'GET' : 'POST',
          url: target,
          headers: {
            'git-protocol': 'version=2',
            ...(body === undefined ? {} : { 'content-type': 'application/x-git-upload-pack-request' }),
          },
          authorization: await authorization(),
          ...(body === undefined ? {} : { body: bodyOf(body) }),
          what: `the repository ${at.pathname.slice(1)}`,
        },
        budget,
      );
      await checkAnswer(answer, target);
      return readAll(answer, limit, `the repository ${at.pathname.slice(1)}`);
    });
  let known: Promise<Capabilities> | undefined;
  const capabilities = (): Promise<Capabilities> => {
    known ??= ask('/info/refs?service=git-upload-pack', undefined, SMALL).then(readCapabilities);
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
  return {
    lacking: async () => (await capabilities()).lacking,
    tip: async (branch) => {
      const ref = `refs/heads/${branch}`;
      const { format } = await capabilities();
      const id = readRef(await ask('/git-upload-pack', refRequest(ref, format), SMALL), ref);
      if (id !== undefined) return id;
      throw new PipelineError('not-found', `the repository has no branch ${JSON.stringify(branch)}`);
    },
    fetch: async (wanted) => {
      const { wants, haves = [] } = wanted;
      checkObjectIds([...wants, ...haves]);
      const { format } = await capabilities();
      const answer = await ask('/git-upload-pack', fetchRequest(wanted, format), most.answer);
      const objects = readPack(readFetch(answer), format, most);
      const absent = haves.length > 0 ? undefined : wants.find((id) => !objects.has(id));
      if (absent === undefined) return objects;
      throw new PipelineError('corrupt', `the git server did not send ${absent}, or sent other bytes for it`);
    },
  };
}

function bodyOf(text: string): { size: number; open(): AsyncIterable<Uint8Array> } {
  const bytes = Buffer.from(text);
  return { size: bytes.length, open: () => streamOf(bytes) };
}

/**
 * Refuses an answer of a git server that is an error, a login page or a redirect.
 *
 * @throws PipelineError for an answer that is not the server's own success
 */
async function checkAnswer(answer: Answer, asked: URL): Promise<void> {
  const isMoved = answer.url.href !== asked.href || (answer.status >= 300 && answer.status < 400);
  if (isMoved) {
    await answer.discard();
    throw new PipelineError(
      'git',
      `${asked.origin}${asked.pathname} redirects, and Portolan sends no token there: ` +
        'use the new URL of a renamed or moved repository',
    );
  }
  if (answer.status === 200) return;
  const error = await failureOf(answer, 'the repository');
  // GitHub answers 404 to whoever may not know that a repository exists.
  const isHidden = answer.status === 404;
  if (!isHidden && error.code !== 'denied') throw error;
  throw new PipelineError('denied', `no permission to read the repository: ${error.message}`, {
    cause: error,
  });
}
