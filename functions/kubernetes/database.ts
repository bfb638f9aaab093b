/** PostgreSQL: connections that are kept, and what goes wrong with them as a PipelineError. */
import { Pool } from 'pg';
import { type ErrorCode, PipelineError } from '../../pipeline/error.ts';

export interface Database {
  /** Rows of one statement. @throws PipelineError */
  query<T extends object>(text: string, values?: readonly unknown[]): Promise<readonly T[]>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://USER:PASSWORD@HOST/DATABASE`. */
  readonly url: string;
  /** Connections at most. */
  readonly connections: number;
  readonly log: (line: string) => void;
}

/** For a connection, and for an answer, in ms. Without them a connection that died is waited for until the system gives up. */
const CONNECTING = 5000;
const ANSWERING = 30_000;

/** A pool of connections to PostgreSQL. Failures are PipelineErrors. */
export function openDatabase({ url, connections, log }: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECTING,
    query_timeout: ANSWERING,
    keepAlive: true,
  });
  // Of a connection that nobody uses: the next query opens another one.
  pool.on('error', (error) => log(`a connection to the database ended: ${failureOf(error).message}`));
  return {
    query: async (text, values = []) => {
      try {
        return (await pool.query(text, [...values])).rows;
      } catch (error) {
        throw failureOf(error);
      }
    },
    close: () => pool.end(),
  };
}

/** What PostgreSQL or the way to it says, with nothing of the query or the password. */
function failureOf(error: unknown): PipelineError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // A message of PostgreSQL may quote the query: where there is a code, it is all that is said.
  const what = code === '' && error instanceof Error ? error.message : code;
  return new PipelineError(codeOf(code), `the database: ${what}`, {
    cause: error,
    retryable: !DENIED.test(code),
  });
}

/**
 * SQLSTATE of wrong passwords and missing rights; then the classes of connections, resources and operators' stops, which pass.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const DENIED = /^(?:28...|42501)$/;
const PASSING = /^(?:08|53|57)...$/;

/** The kind of a failure, from PostgreSQL's code or that of the connection. */
function codeOf(code: string): ErrorCode {
  if (DENIED.test(code)) return 'denied';
  // Five characters are a SQLSTATE, so the database answered; others, such as `ECONNREFUSED`, are Node's.
  return /^[0-9A-Z]{5}$/.test(code) && !PASSING.test(code) ? 'bad-answer' : 'unreachable';
}
