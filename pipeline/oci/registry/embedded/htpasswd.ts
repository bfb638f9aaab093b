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

// Limits failed passwords for each address, so that they do not delay others.

/** Wrong passwords of one address in a minute, with those that are being checked. */
const MOST_WRONG = 10;
/** Addresses that wait for a check at most. */
const MOST_WAITING = 100;
const MINUTE = 60_000;

type Check = () => Promise<boolean>;

interface Attempt {
  readonly address: string;
  /** Name and password in one: the same of an address is checked once at a time. */
  readonly what: string;
}

interface Waiting {
  readonly check: Check;
  readonly done: (result: Promise<boolean>) => void;
}

/**
 * Runs checks one at a time, in turn for each address: a right password waits for one check of each other address at most.
 *
 * @returns what runs a check for an address
 * @throws PipelineError `rate-limited` after too many wrong passwords, or while too many addresses wait
 */
export function passwordAttempts(): (attempt: Attempt, check: Check) => Promise<boolean> {
  /** When each address was wrong; the one that was wrong last comes last. */
  const failures = new Map<string, number[]>();
  /** Checks of each address that wait or run, by what they check. */
  const checks = new Map<string, Map<string, Promise<boolean>>>();
  const inTurn = takeTurns();
  return async ({ address, what }, check) => {
    const own = checks.get(address) ?? new Map<string, Promise<boolean>>();
    // Clients send a password with several requests at once.
    const same = own.get(what);
    if (same) return same;
    const since = Date.now() - MINUTE;
    const recent = (failures.get(address) ?? []).filter((time) => time > since);
    // Checks under way count as wrong until they end: otherwise many at once would all be admitted.
    const isTooMany = recent.length + own.size >= MOST_WRONG;
    if (isTooMany || (own.size === 0 && checks.size >= MOST_WAITING))
      throw new PipelineError('rate-limited', 'too many passwords were tried; try again in a minute');
    const result = settleAttempt(inTurn(address, check), (isRight) => {
      // At once: a check that has failed counts without a gap.
      own.delete(what);
      if (own.size === 0) checks.delete(address);
      forgetOld(failures, since);
      if (!isRight) countFailure(failures, address);
    });
    checks.set(address, own.set(what, result));
    return result;
  };
}

/**
 * Waits for a check of a password.
 *
 * @param end called with whether it was right; a check that could not be made counts as wrong
 */
async function settleAttempt(result: Promise<boolean>, end: (isRight: boolean) => void): Promise<boolean> {
  let isRight = false;
  try {
    isRight = await result;
  } finally {
    end(isRight);
  }
  return isRight;
}

/** Runs one check at a time; addresses take turns. */
function takeTurns(): (address: string, check: Check) => Promise<boolean> {
  const waiting = new Map<string, Waiting[]>();
  let isRunning = false;
  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let next = nextOf(waiting); next; next = nextOf(waiting)) {
      const result = next.check();
      next.done(result);
      await result.catch(() => undefined);
    }
    isRunning = false;
  };
  return (address, check) => {
    const own = waiting.get(address) ?? [];
    const result = new Promise<boolean>((done) => own.push({ check, done }));
    waiting.set(address, own);
    void run();
    return result;
  };
}

/** Takes the first of the address that has waited the longest; the address waits again behind the others. */
function nextOf(waiting: Map<string, Waiting[]>): Waiting | undefined {
  const [first] = waiting;
  if (!first) return undefined;
  const [address, own] = first;
  waiting.delete(address);
  const next = own.shift();
  if (own.length > 0) waiting.set(address, own);
  return next;
}

/** Notes a wrong password of an address, which then stands last. */
function countFailure(failures: Map<string, number[]>, address: string): void {
  const times = [...(failures.get(address) ?? []), Date.now()].slice(-MOST_WRONG);
  failures.delete(address);
  failures.set(address, times);
}

/** Who failed last stands last: the first that is not old ends the search. */
function forgetOld(failures: Map<string, number[]>, since: number): void {
  for (const [address, times] of failures) {
    if ((times.at(-1) ?? 0) > since) return;
    failures.delete(address);
  }
}
