/** A job of the Action asks functions to publish a catalog, by its identity and no other secret. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { getIDToken } from '@actions/core';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { PipelineError } from '../error.ts';
import type { PublishReceipt } from '../publish/receipt.ts';
import { plainText } from '../text.ts';
import { writeFiles } from '../write.ts';
import { info } from './log.ts';
import type { Ended } from './publish-clone.ts';
import type { Push } from './release.ts';

/** How long functions may take (several requests: each is answered within 270 s), and the pause between two, in ms. */
const [TIMEOUT, PAUSE] = [15 * 60_000, 1000];

/**
 * HTTP statuses that end nothing: functions have not published yet (503), or what is before them was too busy or did not wait.
 * The same request may be sent again: the queue takes all of one run for one message.
 */
const NOT_YET: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504]);

/** Asks the functions at a URL until they have published a catalog or refused it, and writes the files that they return. */
export async function publishByFunctions(
  { inputs, forge, commit }: Pick<Push, 'inputs' | 'forge' | 'commit'>,
  { catalog, url }: { readonly catalog: string; readonly url: string },
): Promise<Ended> {
  const { owner, repo } = forge.repository;
  const body = JSON.stringify({ repository: `${owner}/${repo}`, commit, catalog });
  const signal = AbortSignal.timeout(TIMEOUT);
  let reply = await ask(url, body, signal);
  while (NOT_YET.has(reply.status)) {
    await setTimeout(PAUSE);
    const next = await ask(url, body, signal);
    // A request that was cut off by the end of the time says nothing.
    if (signal.aborted) break;
    reply = next;
  }
  const { status, answer } = reply;
  if (status !== 200) {
    const what = status === undefined ? 'cannot reach the functions' : `the functions returned ${status}`;
    const { error } = answer;
    const why = typeof error === 'string' ? `${what}: ${error}` : what;
    const open = NOT_YET.has(status) ? '; they may still publish it: run the job again to see' : '';
    return { catalog, kind: 'refused', why: `${why}${open}` };
  }
  if (answer['published'] !== true || !isObject(answer['receipt']))
    return { catalog, kind: 'refused', why: 'the functions refused the catalog' };
  writeAnswer(join(inputs.publish.out, catalog), answer['files']);
  const tooLarge: unknown = answer['tooLarge'];
  for (const key of Array.isArray(tooLarge) ? tooLarge : [])
    info(plainText(`${catalog}: too large for the response, download it from the bucket: ${key}`));
  return { catalog, kind: 'published', receipt: answer['receipt'] as unknown as PublishReceipt };
}

interface Reply {
  /** Undefined where nothing answered. */
  readonly status: number | undefined;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** The job's identity token. @throws PipelineError `denied` for a job that may have none */
async function identityToken(audience: string): Promise<string> {
  try {
    return await getIDToken(audience);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PipelineError('denied', `cannot get an identity token for the functions: ${why}`, {
      cause,
      hint: 'give the job the permission id-token: write',
    });
  }
}

/** Asks once. Functions that do not answer must not keep the job from the other catalogs. */
async function ask(url: string, body: string, signal: AbortSignal): Promise<Reply> {
  // Each time another token: it expires within minutes.
  const token = await identityToken(url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  try {
    const response = await fetch(url, { method: 'POST', redirect: 'error', headers, body, signal });
    const answer = parsedJson(await response.text());
    return { status: response.status, answer: isObject(answer) ? answer : {} };
  } catch (error) {
    // What a failed `fetch` says is in its cause, of which a failure at several addresses has no message.
    const { cause = error } = error as Error;
    const { message, code } = cause as NodeJS.ErrnoException;
    return { status: undefined, answer: { error: message || code } };
  }
}

/** Writes the files of an answer, text by name, to a folder; leaves out whatever is not one. */
function writeAnswer(out: string, files: unknown): void {
  if (!isObject(files)) return;
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries(files)) {
    // The names come from the publisher: none may lead out of the folder.
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) && typeof text === 'string') texts.set(name, text);
  }
  writeFiles(out, texts);
}
