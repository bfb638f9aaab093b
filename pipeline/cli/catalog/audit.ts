import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { isDay } from '../../../catalog/go/time.ts';
import type { CrdsOf } from '../../../catalog/olm/foresight/world.ts';
import { graphDocument } from '../../../catalog/olm/graph/graph-document.ts';
import { crdsBelow, manifestLookups } from '../../catalogs/bundle/manifest-lookups.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import { type Audited, type AuditReport, auditCatalogs } from '../../check/audit.ts';
import { readCluster } from '../../check/cluster.ts';
import { auditFleet, type FleetNumbers, isFleetStuck } from '../../check/fleet/fleet-audit.ts';
import { prospectsOf } from '../../check/prospects.ts';
import type { HarmfulMerge, HistoryAudit } from '../../check/rehearsal/history.ts';
import { entriesIn, readText } from '../../directory.ts';
import {
  auditHeadline,
  auditText,
  catalogLine,
  isAnyStuck,
  mergeLines,
  pastHeadline,
  requestedLines,
  uncheckedLines,
} from '../../report/audit-text.ts';
import { pageText } from '../../report/page/page.ts';
import { rulePagesOf } from '../../report/rule-help.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { amountText, plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { FLEET_OPTION, fleetOption } from '../fleet-option.ts';
import { formedOption, OPENSHIFT_VERSION } from '../formed-option.ts';
import { readOperands } from '../operands.ts';
import { platformFolders } from '../platform-folders.ts';
import { progressLine } from '../progress-line.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'audit',
  operands: 'DIR|REFERENCE…',
  options: {
    olm: { value: 'v0|v1', description: 'OLM version on the clusters (default: both)' },
    installed: {
      value: 'FILE',
      description:
        'operators on a cluster: the output of oc get subscriptions.operators.coreos.com,csv -A -o json, or of oc get clusterextensions -o json',
    },
    ...FLEET_OPTION,
    platform: {
      value: 'VERSION',
      description: 'OpenShift version of the cluster, for example 4.19 (default: the lowest of the catalogs)',
    },
    commit: {
      value: 'COMMIT',
      description:
        'audit the catalogs in this commit, including those that its policy builds from bundle directories',
    },
    history: {
      description:
        'also report which past merges stranded installed versions; requires a checkout of the repository',
    },
    since: { value: 'YYYY-MM-DD', description: 'start date for --history (default: the first commit)' },
    bundles: {
      value: 'DIR',
      description:
        'bundle directories PACKAGE/VERSION, to check whether CRD upgrades are safe (default: operators/ next to catalogs/)',
    },
    all: { description: 'include informational findings' },
    format: {
      value: 'text|json|html',
      description: 'output format (default: text); html is a single file that you can share',
    },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Each finding comes with a fix. Each argument is a catalog (a directory or an index image), a checkout of a repository',
    'with one folder per catalog in catalogs/, or a folder with catalogs named after OpenShift versions (v4.20). For the',
    'latter, Portolan also checks what happens to installed versions when a cluster moves to the next OpenShift version.',
  ].join('\n'),
  examples: [
    'portolan audit catalogs/v4.20',
    'portolan audit ../community-operators --format html > audit.html',
    'portolan audit ../community-operators --history --since 2026-01-01',
    'portolan audit catalogs/v4.19 catalogs/v4.20 --installed cluster.json',
    'portolan audit ../community-operators --fleet fleet.csv',
  ],
  run: async (invocation, terminal) => {
    const { operands, text, word, flag } = invocation;
    const format = text('format') ?? 'text';
    const olm = word('olm', ['v0', 'v1']);
    formedOption(command, invocation, { option: 'platform', form: OPENSHIFT_VERSION });
    const past = askedPast(invocation);
    // Who asks about the past reads the first answers while the others are found out.
    if (past && format === 'text') await reportPast(past, invocation, terminal);
    const fleet = fleetOption(invocation, terminal);
    const catalogs = await catalogsOf(invocation, terminal);
    // The CRDs of a package stay until it is checked: more room for what goes soon is only more memory.
    setFlagsFromString('--semi-space-growth-factor=1');
    const audited = await auditCatalogs({
      catalogs,
      olm: olm === undefined ? ['v0', 'v1'] : [olm],
      today: terminal.now().toISOString().slice(0, 10),
      ...(text('bundles') === undefined
        ? ownCrds(operands, terminal)
        : manifestLookups(text('bundles'), terminal)),
    });
    const report = {
      ...audited.report,
      ...clusterOf(audited, invocation, terminal),
      ...(fleet ? withFleet(audited, auditFleet(fleet, audited.worlds)) : {}),
      ...(past && format !== 'text' ? { history: await pastOf(past, terminal) } : {}),
    };
    if (format === 'html') await terminal.out(auditPage({ ...audited, report }));
    else if (format === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else await terminal.out(auditText(report, { all: flag('all') }));
    for (const { name, packages, bundles } of report.catalogs) {
      if (packages + bundles === 0) terminal.err(`${plainText(name)} contains no packages: check the path\n`);
    }
    return exitOf(report);
  },
};

/** How many clusters of a fleet have each outcome, and the findings, each with the number of clusters it concerns. */
function withFleet(
  { report }: Audited,
  { report: fleet, withClusterCount }: FleetNumbers,
): Pick<AuditReport, 'fleet' | 'findings'> {
  return { fleet, findings: report.findings.map(withClusterCount) };
}

/** 1 where something is bad; 2 where nothing that is known is, but rows of the fleet could not be read. */
function exitOf({ findings, cluster, fleet }: AuditReport): ExitCode {
  const isBad =
    findings.some(({ severity }) => severity === 'error') ||
    (cluster !== undefined && isAnyStuck(cluster)) ||
    (fleet !== undefined && isFleetStuck(fleet));
  if (isBad) return 1;
  return fleet && fleet.unread > 0 ? 2 : 0;
}

/** What becomes of the cluster that is asked about. */
function clusterOf(
  { worlds }: Audited,
  { text }: Invocation,
  { directory }: Terminal,
): Pick<AuditReport, 'cluster'> {
  const file = text('installed');
  if (file === undefined) return {};
  const installations = readCluster(readText(resolve(directory, file)), file);
  return { cluster: prospectsOf(installations, { worlds, platform: text('platform') }) };
}

/** Whose past is asked for, and from which day on. */
interface Past {
  readonly root: string;
  readonly since: string | undefined;
}

/** What `--history` asks for; undefined without it. @throws PipelineError `usage` */
function askedPast({ operands, text, flag }: Invocation): Past | undefined {
  if (!flag('history')) return undefined;
  const [root, another] = operands;
  const since = text('since');
  if (root === undefined || another !== undefined) {
    throw usageError(command, '--history requires exactly one argument, the checkout of a repository');
  }
  if (since !== undefined && !isDay(since)) {
    throw usageError(command, `--since must be a date such as 2026-01-31, not ${JSON.stringify(since)}`);
  }
  return { root, since };
}

/** Prints what the merges of the past did, each as soon as it is found. */
async function reportPast(past: Past, { operands }: Invocation, terminal: Terminal): Promise<void> {
  const roots = operands.flatMap((root) => catalogRoots(root, terminal));
  // The catalogs of a merge are named in the order of their folders.
  const order = roots.map((root) => basename(resolve(terminal.directory, root)));
  const lines = (all: readonly string[]): Promise<void> =>
    terminal.out(all.map((line) => `${line}\n`).join(''));
  await lines(['history, latest merge first:']);
  const found = await pastOf(past, terminal, (merge) => lines(mergeLines(merge, order)));
  await lines([pastHeadline(found), ...uncheckedLines(found), '']);
}

/** What the merges of the past did; how far it is goes to standard error. @param found called for each that did harm, as it is found */
async function pastOf(
  { root, since }: Past,
  terminal: Terminal,
  found?: (merge: HarmfulMerge) => Promise<void>,
): Promise<HistoryAudit> {
  // Few audits look back: what reads git is loaded for those that do.
  const { openRepository } = await import('../../git/repository.ts');
  const { auditHistory: history } = await import('../../check/rehearsal/history.ts');
  const directory = resolve(terminal.directory, root);
  const repository = await openRepository(directory, searchPath(terminal));
  // Merges that change nothing there need not be looked at; without the folder, catalogs may be anywhere.
  const paths = existsSync(join(directory, 'catalogs')) ? ['catalogs'] : [];
  const { tell, clear } = progressLine(terminal);
  try {
    return await history(repository, {
      head: 'HEAD',
      paths,
      since,
      progress: ({ done, merges, harmful }) =>
        tell(
          () =>
            `checked ${done} of ${amountText(merges, 'merge')}: ${harmful} stranded or broke installations`,
        ),
      found: async (merge) => {
        // What is printed next must not follow the line of progress.
        clear();
        await found?.(merge);
      },
    });
  } finally {
    clear();
    await repository.close();
  }
}

/** The catalogs that the arguments name: directories and images, or those of a commit. */
async function catalogsOf(invocation: Invocation, terminal: Terminal): Promise<ReadCatalog[]> {
  const { operands, text } = invocation;
  const commit = text('commit');
  if (commit === undefined) {
    const roots = operands.flatMap((root) => catalogRoots(root, terminal));
    return readOperands(roots, invocation, terminal);
  }
  const [repository, another] = operands;
  if (repository === undefined || another !== undefined) {
    throw usageError(command, '--commit requires exactly one argument, the checkout of a repository');
  }
  const { readCommit } = await import('../commit-catalogs.ts');
  return readCommit({ repository, commit }, {}, terminal);
}

/** CRDs of the bundles in `operators`, in a checkout or beside the folder `catalogs` of an operand; nothing without such a folder. */
function ownCrds(operands: readonly string[], { directory }: Terminal): { crds?: CrdsOf } {
  const checkouts = operands.flatMap((operand) => {
    const root = resolve(directory, operand);
    return basename(dirname(root)) === 'catalogs' ? [root, dirname(dirname(root))] : [root];
  });
  const folders = new Set(
    checkouts.map((root) => join(root, 'operators')).filter((path) => existsSync(path)),
  );
  const all = [...folders].map((path) => crdsBelow(path));
  if (all.length === 0) return {};
  return {
    crds: (bundle) => {
      for (const crds of all) {
        const found = crds(bundle);
        if (found) return found;
      }
      return undefined;
    },
  };
}

/** The catalogs of a directory: those below its folder `catalogs`, its versions, or the directory itself. */
function catalogRoots(root: string, { directory }: Terminal): string[] {
  const versions = platformFolders(resolve(directory, root));
  if (versions.length > 0) return versions.map((name) => join(root, name));
  const folder = join(resolve(directory, root), 'catalogs');
  if (!existsSync(folder)) return [root];
  const names = entriesIn(folder).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => join(root, 'catalogs', name));
}

/** An audit as one HTML file: the findings, and the graphs that they are about. */
function auditPage({ report, worlds }: Audited): string {
  return pageText({
    title: titleOf(report),
    headline: auditHeadline(report),
    asked: requestedLines(report),
    summary: report.catalogs.map((one) => catalogLine(one).trim()),
    findings: report.findings,
    rulePages: rulePagesOf(report.findings),
    graph: graphDocument(worlds),
    ...(report.fleet ? { fleet: report.fleet } : {}),
  });
}

/** The title of the page: one catalog has its name in it, of several their number is. */
function titleOf({ catalogs }: Audited['report']): string {
  const [first] = catalogs;
  return first && catalogs.length === 1 ? `Audit of ${first.name}` : `Audit of ${catalogs.length} catalogs`;
}
