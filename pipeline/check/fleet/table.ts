/**
 * Tables: our own CSV, what Grafana, Thanos and telemetry export of the metrics `csv_succeeded` and
 * `subscription_sync_total`, and what the search of Advanced Cluster Management exports. The header says which.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/992bb097749e5994eedc5e4882583df952d8a70e/pkg/metrics/metrics.go#L173-L185
 * @see https://github.com/stolostron/console/blob/e8cd2463b1715cd03c11327adce34b8cfbbd9a65/frontend/src/routes/Search/SearchResults/utils.tsx
 */
import { nearest } from '../../../catalog/spelling.ts';
import { PipelineError } from '../../error.ts';
import type { FleetRecord } from './records.ts';

/** The columns that count, by their names in lower case. */
const COLUMNS: Readonly<Record<string, string>> = {
  cluster: 'cluster',
  _id: 'cluster',
  cluster_id: 'cluster',
  clusterid: 'cluster',
  group: 'group',
  count: 'count',
  clusters: 'count',
  platform: 'platform',
  openshift: 'platform',
  package: 'package',
  version: 'version',
  csv: 'csv',
  installed: 'installed',
  installplan: 'installed',
  name: 'name',
  channel: 'channel',
  channels: 'channel',
  approval: 'approval',
  olm: 'olm',
  catalog: 'catalog',
  source: 'catalog',
  range: 'range',
  label: 'labels',
  labels: 'labels',
  namespace: 'namespace',
};

/**
 * The records of a table.
 *
 * @throws PipelineError `usage` where its header has no columns of a fleet, or a quote is not closed
 */
export function tableRecords(text: string, path: string): FleetRecord[] {
  try {
    return recordsOf(text, path);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new PipelineError('usage', `${path}:${error.line}: ${error.message}`, {
      hint: 'close it, or write "" for a quote within quotes',
    });
  }
}

/**
 * The records of a CSV table, one a row.
 *
 * @throws PipelineError `usage` for a table that is not one of a fleet, or lacks what is installed
 */
function recordsOf(text: string, path: string): FleetRecord[] {
  const rows = csvRows(text);
  const header = rows.next();
  const cells: readonly string[] = header.done ? [] : header.value.cells;
  const names = cells.map((cell) => COLUMNS[cell.trim().toLowerCase()]);
  const has = (name: string): boolean => names.includes(name);
  const isFleet =
    (has('cluster') || has('group') || has('count')) &&
    (has('package') || has('csv') || has('name') || has('platform'));
  if (!isFleet) {
    const found = header.done ? 'nothing' : JSON.stringify(cells.join(',').slice(0, 120));
    throw new PipelineError('usage', `${path} is not a table of a fleet: found the header ${found}`, {
      hint: 'expected columns such as cluster,platform,package,version,channel,approval',
    });
  }
  const recordAt = recordsWith(path, cells);
  const records: FleetRecord[] = [];
  for (const row of rows) records.push(recordAt(`${path}:${row.line}`, row.cells));
  return records;
}

/**
 * What makes records of rows with these columns: cells of a table, or values of our own JSON, whose keys are the columns.
 *
 * @throws PipelineError `usage` for a column that is misspelt, has no other name than one before it, or does not say what is
 *   installed
 */
export function recordsWith(
  path: string,
  header: readonly string[],
): (place: string, cells: readonly string[]) => FleetRecord {
  const columns = header.map((cell) => cell.trim().toLowerCase());
  const names = columns.map((name) => COLUMNS[name] ?? '');
  const has = (name: string): boolean => names.includes(name);
  checkSpelling(path, columns);
  checkOnce(path, names);
  // As the console exports Subscriptions: of no use without what they have installed, and nobody would notice.
  if (has('package') && has('name') && !['installed', 'csv', 'version'].some(has)) {
    throw new PipelineError('usage', `${path} has no column with installed versions`, {
      hint: 'add version or csv; if this is an export of Subscriptions, leave it out, and export ClusterServiceVersions or the result of the search as JSON',
    });
  }
  const at = Object.fromEntries(
    [...new Set(Object.values(COLUMNS))].map((name) => [name, names.indexOf(name)]),
  );
  const once = textsOnce();
  return (place, cells) => recordOf(place, cellsBy(cells, at, once), has);
}

/** Columns whose loss would change the numbers without a row that cannot be read. */
const DECISIVE_COLUMNS = ['count', 'platform', 'channel', 'approval', 'catalog'];

/** @throws PipelineError `usage` for a column that is nearly one of a fleet which the table lacks */
function checkSpelling(path: string, columns: readonly string[]): void {
  // A name of three letters is near to many others.
  for (const name of columns.filter((one) => one.length > 3 && !Object.hasOwn(COLUMNS, one))) {
    const near = nearest(name, DECISIVE_COLUMNS);
    // `account` or `country` must not be taken for a misspelt `count`.
    const isNear = near?.[0] === name[0] && Math.abs((near?.length ?? 0) - name.length) < 2;
    if (near !== undefined && isNear && !columns.some((one) => COLUMNS[one] === near))
      throw new PipelineError('usage', `${path} has no column ${near}: found ${JSON.stringify(name)}`, {
        hint: `rename the column to ${near}, or remove it`,
      });
  }
}

/**
 * Refuses a table in which two columns say one thing, because readers do not agree on which of them counts.
 *
 * @param names what each column stands for
 * @throws PipelineError `usage`
 */
function checkOnce(path: string, names: readonly string[]): void {
  const repeated = DECISIVE_COLUMNS.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated === undefined) return;
  throw new PipelineError('usage', `${path} has more than one column ${repeated}`, {
    hint: 'remove or rename all but one of them',
  });
}

type Cells = (name: string) => string;

/** Reads the cells of a row by the names of their columns; a cell that is not there is empty. */
function cellsBy(
  cells: readonly string[],
  at: Readonly<Record<string, number>>,
  once: (text: string) => string,
): Cells {
  return (name) => {
    const text = cells[at[name] ?? -1]?.trim() ?? '';
    // What the console exports of a field that is not there.
    return text === '-' ? '' : once(text);
  };
}

/** Equal texts of a table as one text, to save memory: most cells of a column repeat. */
function textsOnce(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    known.set(text, text);
    return text;
  };
}

/** The record of one row. @param has whether the table has a column */
function recordOf(place: string, cell: Cells, has: (name: string) => boolean): FleetRecord {
  const isSubscription = has('installed');
  // The name of a row is its subscription's, where a column of its own has the installed ClusterServiceVersion.
  const csv = cell('csv') || (isSubscription ? cell('installed') : cell('name'));
  const channel = cell('channel');
  return {
    place,
    cluster: cell('cluster') || cell('group'),
    ...(has('count') ? { count: cell('count') } : {}),
    platform: cell('platform'),
    olm: cell('olm'),
    package: cell('package') || packageOfLabels(cell('labels'), cell('namespace')),
    ...(has('channel') ? { channels: channel.split(/[ ;]+/).filter((name) => name !== '') } : {}),
    range: cell('range'),
    catalog: cell('catalog'),
    csv,
    version: cell('version'),
    approval: cell('approval'),
    ...(isSubscription ? { isSubscription } : {}),
  };
}

/** OLM labels what it installs with `operators.coreos.com/PACKAGE.NAMESPACE`. */
export function packageOfLabels(labels: string, namespace: string): string {
  const ending = `.${namespace}`;
  for (const label of labels.split(/[;,\s]+/)) {
    const [key = ''] = label.split('=');
    const name = key.startsWith('operators.coreos.com/') ? key.slice('operators.coreos.com/'.length) : '';
    if (name !== '' && namespace !== '' && name.endsWith(ending)) return name.slice(0, -ending.length);
  }
  return '';
}

// CSV as RFC 4180 has it, and as consoles export it: quotes are needed only around commas, quotes and line breaks.

interface CsvRow {
  /** Line of the file at which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A quote that is never closed: the rows behind it would be one cell. */
class CsvError extends Error {
  readonly line: number;

  constructor(line: number) {
    super('a quote is not closed');
    this.name = 'CsvError';
    this.line = line;
  }
}

/** The rows of a text, without empty lines. @throws CsvError */
function* csvRows(written: string): Generator<CsvRow> {
  // Old programs on a Mac end lines with a carriage return alone: without this, two rows would be one.
  const text = written.replaceAll(/\r\n?/g, '\n');
  let line = 1;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  // Looked for once, not from each line on: most tables have no quotes.
  let quote = text.indexOf('"');
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    if (quote >= 0 && quote < at) quote = text.indexOf('"', at);
    const firstLine = line;
    if (quote < 0 || quote > stop) {
      const whole = text.slice(at, stop);
      at = stop + 1;
      line++;
      if (whole !== '') yield { line: firstLine, cells: whole.split(',') };
      continue;
    }
    const row = quotedRow(text, at);
    if (!row) throw new CsvError(firstLine);
    at = row.end;
    line += row.lines;
    yield { line: firstLine, cells: row.cells };
  }
}

/** A row with quotes, with the offset after it and how many lines it takes; undefined where a quote is not closed. */
function quotedRow(text: string, from: number): { cells: string[]; end: number; lines: number } | undefined {
  const cells: string[] = [];
  let lines = 1;
  for (let at = from; ; ) {
    let cell = '';
    if (text[at] === '"') {
      const quoted = quotedCell(text, at + 1);
      if (!quoted) return undefined;
      const { value, end } = quoted;
      cell = value;
      lines += value.split('\n').length - 1;
      at = end;
    }
    const stop = nextEnd(text, at);
    cells.push(cell + text.slice(at, stop));
    if (text[stop] !== ',') return { cells, end: stop + 1, lines };
    at = stop + 1;
  }
}

/** A cell in quotes, in which two quotes stand for one. @param from behind the opening quote */
function quotedCell(text: string, from: number): { value: string; end: number } | undefined {
  const parts: string[] = [];
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return undefined;
    parts.push(text.slice(at, quote));
    if (text[quote + 1] !== '"') return { value: parts.join(''), end: quote + 1 };
    parts.push('"');
    at = quote + 2;
  }
}

/** Offset of the comma or line break that ends a cell, or of the end of the text. */
function nextEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === ',' || text[at] === '\n') return at;
  return text.length;
}
