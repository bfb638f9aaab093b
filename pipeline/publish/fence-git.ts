/**
 * A fence with no cloud: a git ref, `refs/portolan/<catalog>/<place>`, of the catalogs' own
 * repository. Each claim is a commit whose parent is the claim before it, so the ref only moves
 * forward, and git itself compares and moves it in one step: the server of a remote one, or
 * `update-ref` in a directory. The lease is another ref, `refs/portolan-leases/<catalog>/<place>`.
 */
import { rmSync } from 'node:fs';
import { onceFor } from '../../catalog/go/once.ts';
import { PipelineError } from '../error.ts';
import { type ObjectFormat, objectId } from '../git/http/pack.ts';
import { type GitRun, type GitSettings, type Reach, runGit } from '../git/process.ts';
import { type NewObject, storeObjects } from '../git/store-objects.ts';
import type { Fence, StandingClaim, StandingLease } from '../ports.ts';
import { temporaryFolder } from '../write.ts';
import { claimText, leaseText, nextLease, parseClaim, parseLease } from './fence-records.ts';

/** The repository that holds the refs. */
interface FencePlace {
  /** `https://…`, `http://…` or `file:///…`; a directory, written with a slash before it, is used in place. */
  readonly repository: string;
  readonly settings: GitSettings;
  readonly reach?: Reach | undefined;
}

/** Texts by the names of rings, each with all that it was before: the commits of `refs/portolan-rings/<name>`. */
interface KeptTexts {
  readText(name: string): Promise<{ readonly text: string; readonly version: string } | undefined>;
  /** @returns false if the stored version is another one; nothing is written then */
  replaceText(name: string, text: string, version: string | undefined): Promise<boolean>;
}

/** A fence whose names can be asked for. */
export interface GitFence extends Fence, KeptTexts {
  /** Names of all fences with a claim. */
  names(): Promise<readonly string[]>;
  /** The branches of the repository, with the ids of their tips. */
  branches(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

/** Prefix of the refs of branches. */
const HEADS = 'refs/heads/';

/** The name of the claim's file in its commit. */
const FILE = 'claim.json';

/** Author of all commits. Without a time, the same claim after the same one is the same commit. */
const PERSON = 'portolan <portolan@localhost> 0 +0000';

/**
 * A fence in the refs of a clone or of a git server.
 *
 * @throws PipelineError from its functions: `git`, and `denied` when the server lets nobody move the ref
 */
export function gitFence(place: FencePlace): GitFence {
  const isDirectory = place.repository.startsWith('/');
  if (!isDirectory && !/^(?:https?|file):\/\//.test(place.repository)) {
    throw new PipelineError(
      'usage',
      `cannot use ${JSON.stringify(place.repository)} as the fence: not a git repository`,
      {
        hint: 'use https://…, file:///… or a directory',
      },
    );
  }
  return isDirectory ? localFence(place) : remoteFence(place);
}

/** The ref of a fence's claims. */
function refOf(name: string): string {
  return `${CLAIMS}${name}`;
}

/** Beside the claims: no name of a catalog leads here. */
function leaseRefOf(name: string): string {
  return `refs/portolan-leases/${name}`;
}

/** The ref of the rings of this name. */
function ringsRefOf(name: string): string {
  return `refs/portolan-rings/${name}`;
}

/**
 * The id of exactly this ref, from lines `ID<tab>REF`: git also lists the branch `refs/heads/refs/portolan/…` if it is
 * asked for `refs/portolan/…`.
 */
function idOf(ref: string, lines: Buffer): string | undefined {
  const found = lines.toString('utf8').split('\n');
  return found.map((line) => line.split('\t')).find(([, name]) => name === ref)?.[0];
}

/** Prefix of the refs with claims. */
const CLAIMS = 'refs/portolan/';

/** Ids of branch tips by branch, from lines `ID<tab>REF`. */
function branchesIn(lines: Buffer): ReadonlyMap<string, string> {
  const tips = new Map<string, string>();
  for (const line of lines.toString('utf8').split('\n')) {
    const [id = '', ref = ''] = line.split('\t');
    if (ref.startsWith(HEADS)) tips.set(ref.slice(HEADS.length), id);
  }
  return tips;
}

/** Of `ID<tab>REF` lines the names of fences. */
function namesIn(lines: Buffer): string[] {
  const refs = lines
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t')[1] ?? '');
  return refs.filter((ref) => ref.startsWith(CLAIMS)).map((ref) => ref.slice(CLAIMS.length));
}

/** A place where refs are read, and moved only from where they were read. */
interface Refs {
  /** The run in whose repository commits are written. */
  readonly run: GitRun;
  /** The commit of a ref; undefined if there is none. */
  readRef(ref: string): Promise<string | undefined>;
  /** @returns false when the ref was moved by somebody else */
  updateRef(ref: string, to: string, from: string | undefined): Promise<boolean>;
}

/** A fence in git refs. Each claim is a commit on top of the one before; of leases only the last one is kept. */
function fenceOf({ run, readRef, updateRef }: Refs): Fence & KeptTexts {
  return {
    readText: async (name) => {
      const id = await readRef(ringsRefOf(name));
      return id === undefined ? undefined : { text: await textAt(run, id), version: id };
    },
    replaceText: async (name, text, version) =>
      updateRef(ringsRefOf(name), await textCommit(run, text, version), version),
    read: async (name) => {
      const id = await readRef(refOf(name));
      if (id === undefined) return undefined;
      return { ...parseClaim(await textAt(run, id), `commit ${id}`), version: id } satisfies StandingClaim;
    },
    replace: async (name, claim, standing) => {
      const next = { ...claim, sequence: (standing?.sequence ?? 0) + 1 };
      const id = await textCommit(run, claimText(next), standing?.version);
      return (await updateRef(refOf(name), id, standing?.version)) ? { ...next, version: id } : undefined;
    },
    readLease: async (name) => {
      const id = await readRef(leaseRefOf(name));
      if (id === undefined) return undefined;
      return { ...parseLease(await textAt(run, id), `commit ${id}`), version: id } satisfies StandingLease;
    },
    replaceLease: async (name, until, standing) => {
      const next = nextLease(until, standing);
      const id = await textCommit(run, leaseText(next), undefined);
      return (await updateRef(leaseRefOf(name), id, standing?.version))
        ? { ...next, version: id }
        : undefined;
    },
  };
}

/** A fence in the refs of a clone. */
function localFence({ repository, settings }: FencePlace): GitFence {
  const run: GitRun = { settings, directory: repository };
  const readRef = async (ref: string): Promise<string | undefined> => {
    const { output } = await runGit(run, ['for-each-ref', '--format=%(objectname)%09%(refname)', ref]);
    return idOf(ref, output);
  };
  const updateRef: Refs['updateRef'] = async (ref, to, from) => {
    // Zeros: the ref must not exist.
    const parameters = ['update-ref', ref, to, from ?? '0'.repeat(to.length)];
    const { code } = await runGit({ ...run, accept: [0, 128] }, parameters);
    if (code === 0) return true;
    // git exits with 128 if the ref has moved, and if it cannot be written. Only the second is an error.
    if ((await readRef(ref)) !== from) return false;
    throw new PipelineError('git', `cannot write ${ref} in ${repository}`, {
      retryable: true,
      hint: 'make the repository writable, or store the fence in another one: --fence URL',
    });
  };
  const names = async (): Promise<string[]> => {
    const { output } = await runGit(run, ['for-each-ref', '--format=%(objectname)%09%(refname)', CLAIMS]);
    return namesIn(output);
  };
  const branches = async (): Promise<ReadonlyMap<string, string>> =>
    branchesIn((await runGit(run, ['for-each-ref', '--format=%(objectname)%09%(refname)', HEADS])).output);
  return { ...fenceOf({ run, readRef, updateRef }), names, branches, close: async () => undefined };
}

/** A fence in the refs of a git server, by pushes that fail if somebody else was first. */
function remoteFence({ repository, settings, reach }: FencePlace): GitFence {
  const scratch = temporaryFolder('fence');
  const run: GitRun = { settings, directory: scratch, bare: true };
  const remoteRun: GitRun = { ...run, reach: reach ?? {} };
  // One at a time: git keeps locks in its directory.
  let last: Promise<unknown> = runGit({ settings, directory: scratch }, ['init', '--quiet', '--bare', '.']);
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const updateRef: Refs['updateRef'] = async (ref, to, from) => {
    await runGit(run, ['update-ref', ref, to]);
    const lease = `--force-with-lease=${ref}:${from ?? ''}`;
    // With the star the server's ref is this very one: git looks a whole name up, and finds branches too.
    const parameters = ['push', '--porcelain', lease, '--', repository, `${ref}*:${ref}*`];
    // git exits with 1 for a ref that the server did not take.
    const { code, output } = await runGit({ ...remoteRun, accept: [0, 1] }, parameters);
    if (code === 0) return true;
    throwUnlessRace(output.toString('utf8'), repository);
    return false;
  };
  const fence = fenceOf({
    run,
    readRef: (ref) => readRemote(run, remoteRun, { repository, ref }),
    updateRef,
  });
  return {
    read: (name) => inTurn(() => fence.read(name)),
    replace: (...parameters) => inTurn(() => fence.replace(...parameters)),
    readLease: (name) => inTurn(() => fence.readLease(name)),
    replaceLease: (...parameters) => inTurn(() => fence.replaceLease(...parameters)),
    readText: (name) => inTurn(() => fence.readText(name)),
    replaceText: (...parameters) => inTurn(() => fence.replaceText(...parameters)),
    branches: () =>
      inTurn(async () =>
        branchesIn((await runGit(remoteRun, ['ls-remote', '--', repository, `${HEADS}*`])).output),
      ),
    names: () =>
      inTurn(async () =>
        namesIn((await runGit(remoteRun, ['ls-remote', '--', repository, `${CLAIMS}*`])).output),
      ),
    close: async () => {
      await last.catch(() => undefined);
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** The commit of a ref, fetched. */
async function readRemote(
  run: GitRun,
  remoteRun: GitRun,
  { repository, ref }: { readonly repository: string; readonly ref: string },
): Promise<string | undefined> {
  const { output } = await runGit(remoteRun, ['ls-remote', '--', repository, ref]);
  const id = idOf(ref, output);
  if (id === undefined) return undefined;
  // Fetched only if no earlier read has brought it.
  const { code } = await runGit({ ...run, accept: [0, 1, 128] }, ['cat-file', '-e', `${id}:${FILE}`]);
  const fetch = ['fetch', '--quiet', '--no-tags', '--depth=1', '--no-write-fetch-head', '--', repository];
  if (code !== 0) await runGit(remoteRun, [...fetch, id]);
  return id;
}

/** A server's errors for the second of two simultaneous updates of a ref. */
const RACE = /\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|already exists/;

/** Looks why git's push failed. @throws PipelineError unless somebody else has moved the ref meanwhile */
function throwUnlessRace(answer: string, repository: string): void {
  // With --porcelain, the line of a ref that was not taken begins with an exclamation mark, and ends with the reason.
  const line = answer.split('\n').find((one) => one.startsWith('!'));
  if (line !== undefined && RACE.test(line)) return;
  const why = line?.split('\t').at(-1) ?? 'no answer';
  throw new PipelineError('denied', `${repository} rejected the fence update: ${why.slice(0, 200)}`, {
    hint: 'the token needs write access to refs/portolan/* and refs/portolan-leases/* (contents: write)',
  });
}

/** The text of a claim, a lease or rings: each is the one file of its commit. */
async function textAt(run: GitRun, id: string): Promise<string> {
  const { output } = await runGit(run, ['cat-file', 'blob', `${id}:${FILE}`]);
  return output.toString('utf8');
}

/** Writes the commit of a claim or a lease; the same one after the same one has the same id. */
async function textCommit(run: GitRun, text: string, parent: string | undefined): Promise<string> {
  const format = await formatOf(run);
  const idIn = ({ type, bytes }: NewObject): string => objectId(type, bytes, format);
  const blob = { type: 'blob', bytes: Buffer.from(text) } as const;
  // An entry as git writes it: mode, name, a zero byte, and the id in binary.
  const entry = [Buffer.from(`100644 ${FILE}\0`), Buffer.from(idIn(blob), 'hex')];
  const tree = { type: 'tree', bytes: Buffer.concat(entry) } as const;
  const parents = parent === undefined ? [] : [`parent ${parent}`];
  const lines = [`tree ${idIn(tree)}`, ...parents, `author ${PERSON}`, `committer ${PERSON}`, '', text];
  const commit = { type: 'commit', bytes: Buffer.from(lines.join('\n')) } as const;
  await storeObjects(run, format, [blob, tree, commit]);
  return idIn(commit);
}

/** How a repository names its objects, asked once. */
const formatOf = onceFor(async (run: GitRun): Promise<ObjectFormat> => {
  const { output } = await runGit(run, ['rev-parse', '--show-object-format']);
  return output.toString('utf8').trim() === 'sha256' ? 'sha256' : 'sha1';
});
