/**
 * A cluster's operators as lines: first those that are stuck now, then those that will be.
 */
import type { PathSummary } from '../../catalog/olm/foresight/upgrade-impact.ts';
import type { ClusterAudit, Prospect } from '../check/prospects.ts';
import { amount, plain } from '../text.ts';
import { pathText } from './text-report.ts';

/** Lines about a cluster, the first of which is a headline. */
export function clusterLines({ today, next, prospects, unknown }: ClusterAudit): string[] {
  const then = next.length > 0 ? `, then ${next.join(', ')}` : '';
  const stuckNow = prospects.filter((one) => !one.today.arrives);
  const stuckThen = prospects.filter((one) => one.today.arrives && one.next && !one.next.arrives);
  const holding = prospects.filter(({ holdsBack }) => holdsBack);
  const fine = prospects.length - stuckNow.length - stuckThen.length;
  return [
    `cluster: ${amount(prospects.length, 'operator')} checked against ${today.join(', ')}${then}: ${stuckNow.length} stuck now${next.length > 0 ? `, ${stuckThen.length} more after the platform upgrade` : ''}`,
    ...stuckNow.map((one) => `  STUCK NOW  ${prospectText(one, one.today)}`),
    ...stuckThen.map((one) => `  STUCK IN ${next.join(', ')}  ${prospectText(one, one.next)}`),
    ...holding.map((one) => `  BLOCKS THE PLATFORM UPGRADE  ${whoText(one)}: its olm.maxOpenShiftVersion`),
    ...(fine > 0
      ? [
          `  ${amount(fine, 'operator')} can reach a channel head${next.length > 0 ? ', now and after the platform upgrade' : ''}`,
        ]
      : []),
    ...(unknown.length > 0
      ? [`  not checked, because their catalog was not given: ${unknown.join(', ')}`]
      : []),
  ].map(plain);
}

/** Whether any operator of the cluster has no upgrade path to a head, now or after the platform upgrade. */
export function isAnyStuck({ prospects }: ClusterAudit): boolean {
  return prospects.some(({ today, next }) => !today.arrives || next?.arrives === false);
}

function whoText({ olm, namespace, name, package: of, installed, channels }: Prospect): string {
  const channel = channels.length > 0 ? `, channel ${channels.join(', ')}` : '';
  const own = name === of ? '' : ` of package ${of}`;
  return `${namespace === '' ? '' : `${namespace}/`}${name}${own} ${installed} (OLM ${olm}${channel})`;
}

function prospectText(prospect: Prospect, summary: PathSummary | undefined): string {
  if (!summary) return whoText(prospect);
  const next =
    summary.kind === 'upgrade' ? ` upgrades to ${plain(pathText({ ...summary, arrives: true }))}, then` : '';
  return `${whoText(prospect)}:${next} ${summary.why}`;
}
