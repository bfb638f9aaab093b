/** What the playground's page shows of a catalog or of a bundle: everything is found out here, as plain data. */
import { gzip } from 'pako';
import { inspectedBundle } from '../catalog/bundle/inspect.ts';
import { isInSuite } from '../catalog/bundle/suite.ts';
import { load } from '../catalog/fbc/load.ts';
import { catalogOf } from '../catalog/fbc/model.ts';
import { minorOfCatalog } from '../catalog/fbc/openshift.ts';
import { compareFindings, type Finding } from '../catalog/finding.ts';
import { mirrorDocuments } from '../catalog/mirror/documents/documents.ts';
import { planFiles } from '../catalog/mirror/files.ts';
import { catalogImages } from '../catalog/mirror/images.ts';
import { InvalidOption } from '../catalog/mirror/invalid-option.ts';
import { planMirror } from '../catalog/mirror/plan.ts';
import { lacksNothing, mirrorReport, planFindings, readinessLines } from '../catalog/mirror/report.ts';
import { diffOf } from '../catalog/olm/diff.ts';
import { changeOf, type WorldOptions } from '../catalog/olm/foresight/world.ts';
import { type GraphDocument, graphDocument } from '../catalog/olm/graph/graph-document.ts';
import { type HopGraph, hopChange, withStranded } from '../catalog/olm/graph/hop-graph.ts';
import { RULES } from '../catalog/rules/index.ts';
import { INSPECTION_RULES } from '../catalog/rules/inspection.ts';
import { runComparison, runInspection } from '../catalog/rules/rule.ts';
import { type CatalogSource, sourceOf } from '../catalog/source.ts';
import { auditCatalogs } from '../pipeline/check/audit.ts';
import { auditHeadline, catalogLine } from '../pipeline/report/audit-text.ts';
import { impactLines } from '../pipeline/report/text-report.ts';
import { amountText, countText } from '../pipeline/text.ts';
import type { Answer, Mirror, Question, Texts } from './answer.ts';

const NO_GRAPH: GraphDocument = { apiVersion: 'portolan/v1alpha1', kind: 'UpgradeGraph', catalogs: [] };

/** Examines files as a bundle where they have a folder `manifests/`, else as one catalog. */
export async function examine(question: Question): Promise<Answer> {
  const folders = bundleFolders(Object.keys(question.files));
  return folders.length > 0 ? examineBundles(question.files, folders) : examineCatalog(question);
}

/** The folders, each empty or with a slash at its end, that have `manifests/` with files in it. */
function bundleFolders(paths: readonly string[]): string[] {
  const folders = paths.flatMap((path) => /^((?:.*\/)?)manifests\/[^/]+$/.exec(path)?.[1] ?? []);
  return [...new Set(folders)];
}

async function examineBundles(files: Texts, folders: readonly string[]): Promise<Answer> {
  const findings: Finding[] = [];
  for (const folder of folders) {
    const own = Object.entries(files).filter(([path]) => path.startsWith(folder));
    const source = sourceOf(Object.fromEntries(own.map(([path, text]) => [path.slice(folder.length), text])));
    const bundle = await inspectedBundle(source, { gzipLength: (bytes) => gzip(bytes).length });
    for (const finding of runInspection(bundle, INSPECTION_RULES)) {
      if (!isInSuite(finding.rule, 'default')) continue;
      const location = { ...finding.location, file: `${folder}${finding.location.file}` };
      findings.push({ ...finding, location });
    }
  }
  findings.sort(compareFindings);
  return {
    kind: 'bundle',
    headline: `${amountText(folders.length, 'bundle')}: ${countText(findings)}`,
    summary: [],
    findings,
    graph: NO_GRAPH,
  };
}

async function examineCatalog(question: Question): Promise<Answer> {
  const { name, files, before, today } = question;
  const source = sourceOf(files);
  const { blobs, findings: unread } = await load(source);
  const catalog = catalogOf(blobs);
  const read = { name, prefix: '', source, catalog, unread, files: [] };
  const { report, worlds } = await auditCatalogs({ catalogs: [read], olm: ['v0', 'v1'], today });
  const compared = before && (await compare(question, before, catalog));
  const findings = [...(compared?.findings ?? []), ...report.findings].sort(compareFindings);
  return {
    kind: 'catalog',
    headline: auditHeadline({ ...report, findings }),
    summary: report.catalogs.map((one) => catalogLine(one).trim()),
    findings,
    graph: graphDocument(worlds),
    ...(compared ? { impact: compared.impact, changes: compared.changes } : {}),
    mirror: await mirrorOf(source, question),
  };
}

/** What the edit does to clusters that have any version of the catalog before it. */
async function compare(
  { name, today }: Question,
  before: Texts,
  catalog: WorldOptions['catalog'],
): Promise<{ findings: Finding[]; impact: string[]; changes: Record<string, HopGraph> }> {
  const { blobs } = await load(sourceOf(before));
  const platform = minorOfCatalog(name);
  const both = { name, asOf: today, ...(platform ? { platform } : {}) };
  const change = await changeOf({ ...both, catalog: catalogOf(blobs) }, { ...both, catalog });
  const changed = diffOf(change).packages.filter(({ fates }) => fates.length > 0);
  const impact = changed.flatMap((diff) => impactLines({ ...diff, catalogs: [name] }));
  const changes = Object.fromEntries(
    changed.map(({ package: of }) => [of, withStranded(change, hopChange(change, of))] as const),
  );
  return { findings: runComparison(change, RULES), impact, changes };
}

async function mirrorOf(source: CatalogSource, { image, mirrorTo }: Question): Promise<Mirror> {
  try {
    const images = await catalogImages(source);
    const plan = planMirror({
      to: mirrorTo,
      catalogs: [{ reference: image, images, selected: false }],
    });
    const documents = mirrorDocuments(plan, {});
    const report = mirrorReport(plan, documents, { images: [images] });
    const wrong = planFindings(plan).map(({ message }) => message);
    return {
      lines: [...readinessLines(report.ready), ...wrong],
      ready: lacksNothing(report.ready),
      files: Object.fromEntries(planFiles({ plan, documents, report, options: {} })),
    };
  } catch (error) {
    if (!(error instanceof InvalidOption)) throw error;
    return { lines: [error.message], ready: false, files: {} };
  }
}
