/** The files of a plan beside an archive: manifests, mapping and report cross the gap with the images. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PLAN_FILES } from '../../catalog/mirror/files.ts';
import { isDirectory, readFileBytes } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { digestOf } from '../oci/image/content.ts';
import { corrupt } from '../oci/registry/digest.ts';
import { writeFiles } from '../write.ts';
import { FRESHNESS, statementIn } from './freshness.ts';
import { type ArchivedFile, RECEIPT } from './receipt.ts';

/** Charts of repositories, which clusters install from there. */
const CHARTS = 'charts';
/** What may be beside an archive: names in a receipt lead nowhere else. */
const CHART = /^charts\/(?!\.)[\w.+-]+\.tgz$/;

/** Copies the files of a plan to an archive. @returns what to write into its receipt */
export function archivePlan(folder: string, archive: string): ArchivedFile[] {
  const charts = join(folder, CHARTS);
  const names = isDirectory(charts) ? readdirSync(charts).map((name) => `${CHARTS}/${name}`) : [];
  const found = [...PLAN_FILES, ...names.filter((name) => CHART.test(name))].filter((name) =>
    existsSync(join(folder, name)),
  );
  const files = new Map(found.map((name) => [name, readFileBytes(join(folder, name))]));
  writePlan(archive, files);
  return [...files].map(([name, bytes]) => ({ name, digest: digestOf(bytes) }));
}

/**
 * Reads the files of a plan from an archive.
 *
 * @throws PipelineError `corrupt`, `not-found`
 */
export function archivedPlan(
  archive: string,
  files: readonly ArchivedFile[],
): ReadonlyMap<string, Uint8Array> {
  return new Map(
    files.map(({ name, digest }) => {
      const path = join(archive, name);
      if (!PLAN_FILES.includes(name) && !CHART.test(name))
        throw new PipelineError(
          'corrupt',
          `${join(archive, RECEIPT)} names ${JSON.stringify(name)}, which is not a file of a plan`,
        );
      const bytes = readFileBytes(path);
      const found = digestOf(bytes);
      if (found !== digest) throw corrupt(path, digest, found);
      return [name, bytes];
    }),
  );
}

/** Writes what {@link archivedPlan} has read, with the freshness statement of the archive. */
export function unpackPlan(directory: string, archive: string, files: ReadonlyMap<string, Uint8Array>): void {
  const statement = statementIn(archive);
  writePlan(directory, new Map([...files, ...(statement ? [[FRESHNESS, statement.bytes] as const] : [])]));
}

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
