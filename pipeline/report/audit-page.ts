import { graphDocument } from '../../catalog/olm/graph/graph-document.ts';
import type { Audited } from '../check/audit.ts';
import { asked, catalogLine, headline } from './audit-text.ts';
import { pageText } from './page/page.ts';

/** An audit as one HTML file: the findings, and the graphs that they are about. */
export function auditPage({ report, worlds }: Audited): string {
  return pageText({
    title: titleOf(report),
    headline: headline(report),
    asked: asked(report),
    summary: report.catalogs.map((one) => catalogLine(one).trim()),
    findings: report.findings,
    graph: graphDocument(worlds),
    ...(report.fleet ? { fleet: report.fleet } : {}),
  });
}

function titleOf({ catalogs }: Audited['report']): string {
  const [first] = catalogs;
  return first && catalogs.length === 1 ? `Audit of ${first.name}` : `Audit of ${catalogs.length} catalogs`;
}
