// What the functions cost a month, in US dollars: node scripts/function-costs.mjs prints the table of docs/functions.md.
import { pathToFileURL } from 'node:url';

const DAYS = 365 / 12;
/** Catalogs that a merge changes. */
export const CATALOGS = 7;

/** What one merge uses; test/functions/aws/costs.test.ts counts the calls. */
export const MERGE = {
  /** Calls of functions: seconds and GB of each, without git. */
  receive: { calls: 1, seconds: 0.1, memory: 0.25 },
  push: { calls: 1, seconds: 0.1, memory: 2 },
  catalog: { calls: CATALOGS, seconds: 1, memory: 2 },
  // One of them is a pause: GitHub asks for a second between writes.
  report: { calls: 4 * CATALOGS, seconds: 1.5, memory: 0.25 },
  /** Seconds and bytes until a sandbox has read what it needs of a branch; every message may have a new one. */
  git: { calls: 1 + CATALOGS, seconds: 1.5, memory: 2, megabytes: 4.8 },
  messages: 1 + CATALOGS + 4 * CATALOGS,
  /** In S3: a catalog's documents, outcomes and memory; and the webhook's record. */
  written: 1 + 19 * CATALOGS,
  read: 1 + 15 * CATALOGS,
  listed: 1,
  /** In DynamoDB: claims and leases. */
  fenceRead: 6 * CATALOGS,
  fenceWritten: 3 * CATALOGS,
  events: CATALOGS,
  /** MB that stay in S3, and in the registry: layers, plan and page. */
  documents: 0.3 * CATALOGS,
  image: 0.45 * CATALOGS,
};

/** What a day uses without any merge. */
const DAY = {
  reconcile: { calls: 96, seconds: 3, memory: 1 },
  drift: { calls: 24, seconds: 3, memory: 1 },
  transitions: 96 * 2,
  // Of ten catalogs each: the fence, what is published, the last outcome.
  fenceRead: 96 * 20,
  read: 96 * 20,
  listed: 96,
};

/** List prices in us-east-1 on arm64. */
const PRICE = {
  gbSecond: 0.0000133334,
  call: 0.2e-6,
  put: 5e-6,
  get: 0.4e-6,
  message: 3 * 0.5e-6,
  fenceRead: 0.125e-6,
  fenceWritten: 0.625e-6,
  transition: 25e-6,
  event: 1e-6,
  /** A GB taken in, and a GB a month that is kept; 90 days are. */
  logTaken: 0.5,
  logKept: 0.03,
  s3: 0.023,
  ecr: 0.1,
};
/** GB of log a call. */
const LOG = 3e-6;
const LOG_MONTHS = 3;
/** Months after which storage is counted, and images that `keep: 20` leaves of each of ten catalogs. */
const MONTHS = 12;
const KEPT = 20 * 10;

const lambda = ({ calls, seconds, memory }) => calls * (seconds * memory * PRICE.gbSecond + PRICE.call);

/** @returns dollars a month by column, for so many merges a day */
export function costs(merges) {
  const { receive, push, catalog, report, git } = MERGE;
  const month = (perMerge, perDay = 0) => DAYS * (merges * perMerge + perDay);
  const work = lambda(receive) + lambda(push) + lambda(catalog) + lambda(report);
  const calls = receive.calls + push.calls + catalog.calls + report.calls;
  const daily = DAY.reconcile.calls + DAY.drift.calls;
  const gitSeconds = git.calls * git.seconds * git.memory * PRICE.gbSecond;
  const logs = LOG * (PRICE.logTaken + PRICE.logKept * LOG_MONTHS);
  const images = Math.min(KEPT, merges * CATALOGS * DAYS * MONTHS) * (MERGE.image / CATALOGS);
  const parts = {
    lambda: month(work, lambda(DAY.reconcile) + lambda(DAY.drift)),
    git: month(gitSeconds),
    requests: month(
      MERGE.written * PRICE.put + MERGE.listed * PRICE.put + MERGE.read * PRICE.get,
      DAY.read * PRICE.get + DAY.listed * PRICE.put,
    ),
    queue: month(
      MERGE.messages * PRICE.message +
        MERGE.fenceRead * PRICE.fenceRead +
        MERGE.fenceWritten * PRICE.fenceWritten,
      DAY.fenceRead * PRICE.fenceRead,
    ),
    transitions: month(0, DAY.transitions * PRICE.transition),
    logs: month(calls * logs + MERGE.events * PRICE.event, daily * logs),
    storage: (merges * DAYS * MONTHS * MERGE.documents * PRICE.s3 + images * PRICE.ecr) / 1000,
  };
  return { ...parts, together: Object.values(parts).reduce((a, b) => a + b, 0) };
}

/** The table of docs/functions.md. */
export function costTable() {
  const rows = [10, 100, 1000].map((merges) => {
    const figures = Object.values(costs(merges)).map((dollars) => dollars.toFixed(2));
    return `| ${[merges.toLocaleString('en'), ...figures].join(' | ')} |`;
  });
  return [
    '| merges a day | Lambda | git, in Lambda | S3 requests | SQS, DynamoDB | Step Functions | logs, events | storage after a year | together |',
    `|${'---|'.repeat(9)}`,
    ...rows,
    '',
  ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(costTable());
