/**
 * Accounts of an htpasswd file, as Docker's registry reads it: bcrypt alone (`htpasswd -B`).
 *
 * @see https://distribution.github.io/distribution/about/configuration/#htpasswd
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { PipelineError } from '../../../error.ts';
import { networkOf } from '../../../server-limits.ts';
import type { PasswordCheck } from './access.ts';
import { passwordAttempts } from './attempts.ts';
import { PROGRAM } from './password-program.ts';

/** Bytes of a password at most: bcrypt leaves out what follows, so that longer ones with the same beginning are alike. */
const LONGEST = 72;

/** Right passwords that are remembered, of all networks together: beyond that all are forgotten at once, and proven again. */
const MOST_PROVEN = 10_000;

/** Highest cost of a hash: a comparison doubles with each, and takes about a second with this one. */
const HIGHEST_COST = 14;

/**
 * Reads the accounts of an htpasswd file.
 *
 * @param path to name in errors
 * @returns whether a password is the one of a name; never for one of more than 72 bytes
 * @throws PipelineError `usage` for a line that is not an account, not in bcrypt, or too costly to compare
 */
export function htpasswdAccounts(text: string, path: string): PasswordCheck {
  const hashes = hashesIn(text, path);
  // A password costs a tenth of a second; clients send it with every request. Each network proves it for itself: whoever
  // may try no more passwords would learn from an answer that a guess is the one of somebody elsewhere.
  const proven = new Map<string, Buffer>();
  const attempts = passwordAttempts();
  const compare = passwordThread();
  const key = randomBytes(32);
  const [anyHash = ''] = hashes.values();
  return async (name, password, address) => {
    if (Buffer.byteLength(password) > LONGEST) return false;
    const hash = hashes.get(name);
    const digest = createHmac('sha256', key).update(password).digest();
    const network = networkOf(address);
    const account = `${network} ${name}`;
    const provenDigest = proven.get(account);
    if (provenDigest && timingSafeEqual(provenDigest, digest)) return true;
    const attempt = { address: network, what: `${name}:${digest.toString('hex')}` };
    // A comparison with any hash: an unknown name must not be known by a quicker answer.
    const isRight = await attempts(
      attempt,
      async () => (await compare(password, hash ?? anyHash)) && hash !== undefined,
    );
    if (!isRight) return false;
    if (proven.size >= MOST_PROVEN) proven.clear();
    proven.set(account, digest);
    return true;
  };
}

/**
 * The bcrypt hashes of an htpasswd file, by account.
 *
 * @throws PipelineError `usage` for other hashes, or costs that would block the registry
 */
function hashesIn(text: string, path: string): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    // `NAME:$2y$COST$` and 53 characters of salt and hash.
    const [, name, hash, cost] = /^([^:]+):(\$2[aby]\$(\d\d)\$[./0-9A-Za-z]{53})$/.exec(line) ?? [];
    if (name === undefined || hash === undefined) {
      throw new PipelineError('usage', `${path}:${i + 1} is not an account with a bcrypt password`, {
        hint: `write it with: htpasswd -B ${path} NAME`,
      });
    }
    if (Number(cost) > HIGHEST_COST) {
      const message = `${path}:${i + 1} has a password of cost ${Number(cost)}, more than ${HIGHEST_COST}`;
      throw new PipelineError('usage', message, {
        hint: `write it with: htpasswd -B -C 10 ${path} NAME`,
      });
    }
    hashes.set(name, hash);
  }
  return hashes;
}

// Passwords compared in a thread of their own, so that no request waits for those of others.

interface PendingCheck {
  readonly resolve: (isRight: boolean) => void;
  readonly reject: (error: PipelineError) => void;
}

/**
 * Checks passwords in a thread, because bcrypt takes long.
 *
 * @returns what decides whether a password is the one of a bcrypt hash
 * @throws PipelineError `io`, from what is returned, when the thread ends; the next password starts another one
 */
function passwordThread(): (password: string, hash: string) => Promise<boolean> {
  const asked = new Map<number, PendingCheck>();
  let worker: Worker | undefined;
  let count = 0;
  const ended = (one: Worker): void => {
    if (worker === one) worker = undefined;
    for (const { reject } of asked.values())
      reject(new PipelineError('io', 'the thread that compares passwords has ended'));
    asked.clear();
  };
  const start = (): Worker => {
    const one = new Worker(PROGRAM, { eval: true, env: {} });
    one.on('message', ({ id, isRight }: { id: number; isRight: boolean }) => {
      asked.get(id)?.resolve(isRight);
      asked.delete(id);
    });
    one.once('error', () => ended(one));
    one.once('exit', () => ended(one));
    // It keeps no program from its end.
    one.unref();
    return one;
  };
  return (password, hash) =>
    new Promise((resolve, reject) => {
      worker ??= start();
      const id = count++;
      asked.set(id, { resolve, reject });
      worker.postMessage({ id, password, hash });
    });
}
