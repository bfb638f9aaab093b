/** The files of a plan beside an archive: manifests, mapping and report cross the gap with the images. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { PLAN_FILES } from '../../../catalog/mirror/files.ts';
import { entriesIn, isDirectory, readFileBytes, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { digestMismatch, digestOf } from '../../oci/digest.ts';
import { writeFiles } from '../../write.ts';
import { FRESHNESS, statementIn } from '../freshness.ts';
import { fileInside, statsOf } from './files.ts';
import { receiptAt } from './reader.ts';
import { type ArchivedFile, RECEIPT } from './receipt.ts';

/** Charts of repositories, which clusters install from there. */
const CHARTS = 'charts';
/** A chart's file in that folder, not a hidden one: names in a receipt lead nowhere else. */
const CHART = /^charts\/(?!\.)[\w.+-]+\.tgz$/;

/** Copies the files of a plan to an archive. @returns what to write into its receipt */
export function archivePlan(folder: string, archive: string): ArchivedFile[] {
  const charts = join(folder, CHARTS);
  const names = isDirectory(charts) ? entriesIn(charts).map(({ name }) => `${CHARTS}/${name}`) : [];
  const found = [...PLAN_FILES, ...names.filter((name) => CHART.test(name))].filter((name) =>
    existsSync(join(folder, name)),
  );
  const files = new Map(found.map((name) => [name, readFileBytes(join(folder, name))]));
  writePlan(archive, files);
  return [...files].map(([name, bytes]) => ({ name, digest: digestOf(bytes) }));
}

/** The mapping in an archive. */
export const MAPPING = 'mapping.txt';

/**
 * Reads the files of a plan from an archive, each with its digest in the receipt. Archives of before have no digests:
 * of them, only the mapping is read.
 *
 * @throws PipelineError `corrupt`, also for links and pipes; `not-found`
 */
export function archivedPlan(archive: string): ReadonlyMap<string, Uint8Array> {
  for (const name of [RECEIPT, FRESHNESS]) fileInside(archive, name);
  const { files } = receiptAt(archive);
  if (files) return new Map(files.map((file) => [file.name, checkedFile(archive, file)]));
  return new Map(existsSync(join(archive, MAPPING)) ? [[MAPPING, readInside(archive, MAPPING)]] : []);
}

/**
 * A file of the plan.
 *
 * @throws PipelineError `corrupt` for a name that is not one of a plan, which could be any path, or for other
 * bytes than the receipt says
 */
function checkedFile(archive: string, { name, digest }: ArchivedFile): Uint8Array {
  if (!PLAN_FILES.includes(name) && !(typeof name === 'string' && CHART.test(name)))
    throw new PipelineError(
      'corrupt',
      `${join(archive, RECEIPT)} names ${JSON.stringify(name)}, which is not a file of a plan`,
    );
  const bytes = readInside(archive, name);
  const found = digestOf(bytes);
  if (found !== digest) throw digestMismatch(join(archive, name), digest, found);
  return bytes;
}

/**
 * Where a folder is an archive, compares the files of its plan with the receipt.
 *
 * @throws PipelineError as {@link archivedPlan}; `corrupt` for one that the receipt does not have
 */
export function checkPlanIn(folder: string): void {
  if (!isArchive(folder)) return;
  const read = archivedPlan(folder);
  // Receipts of earlier versions have no list of files.
  const hasDigests = receiptAt(folder).files !== undefined;
  for (const name of PLAN_FILES) {
    const isThere = fileInside(folder, name) !== undefined;
    if (isThere && hasDigests && !read.has(name))
      throw new PipelineError('corrupt', `${join(folder, RECEIPT)} has no digest of ${join(folder, name)}`);
  }
}

/** Whether the receipt in a folder is that of an archive: a publish writes one too, without a format. */
function isArchive(folder: string): boolean {
  const path = join(folder, RECEIPT);
  if (!statsOf(path, statSync)?.isFile()) return false;
  const receipt = parsedJson(readText(path));
  return !isObject(receipt) || receipt['format'] !== undefined;
}

/** The bytes of a file of the archive. @throws PipelineError `corrupt` for a link or a pipe */
function readInside(archive: string, name: string): Uint8Array {
  fileInside(archive, name);
  return readFileBytes(join(archive, name));
}

/** Writes what {@link archivedPlan} has read, with the freshness statement of the archive. */
export function unpackPlan(directory: string, archive: string, files: ReadonlyMap<string, Uint8Array>): void {
  const statement = statementIn(archive);
  writePlan(directory, new Map([...files, ...(statement ? [[FRESHNESS, statement.bytes] as const] : [])]));
}

/**
 * Writes files of a plan. Charts are in a folder of their own, the others replace all that an earlier plan
 * has left.
 */
function writePlan(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  const charts = [...files].filter(([name]) => CHART.test(name));
  const others = [...files].filter(([name]) => !CHART.test(name));
  writeFiles(folder, new Map(others), PLAN_FILES);
  if (charts.length === 0) return;
  writeFiles(
    join(folder, CHARTS),
    new Map(charts.map(([name, bytes]) => [name.slice(CHARTS.length + 1), bytes])),
  );
}
