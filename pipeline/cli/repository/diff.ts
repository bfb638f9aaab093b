import { resolve } from 'node:path';
import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import type { Catalog } from '../../../catalog/fbc/model.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { reviewedFiles, reviewUpgrade, type UpgradeReview } from '../../../catalog/olm/upgrade-review.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import type { PlacedDiff } from '../../check/report.ts';
import { PipelineError } from '../../error.ts';
import { withRepository } from '../../git/repository.ts';
import { diffMarkdown, diffText } from '../../report/diff.ts';
import { upgradePage } from '../../report/page/upgrade-page.ts';
import { reviewText } from '../../report/review-text.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { amountText, linesText, plainText, shortList } from '../../text.ts';
import { type Command, type Invocation, isGiven, usageError } from '../command.ts';
import { printUnread, readOperands, withOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { renderingOf } from '../rendering.ts';
import { type Compared, diffPlaces, diffRevisions, refuseUnknown } from './compare.ts';

const FORMATS = {
  text: diffText,
  json: (diffs) => `${JSON.stringify({ packages: diffs }, null, 2)}\n`,
  markdown: diffMarkdown,
} satisfies Readonly<Record<string, (diffs: readonly PlacedDiff[]) => string>>;

const FORMAT_WORDS = Object.keys(FORMATS) as (keyof typeof FORMATS)[];

export const command: Command = {
  words: 'diff',
  operands: 'BASE HEAD',
  options: {
    repo: { value: 'DIR', description: 'path of a git repository; BASE and HEAD are then revisions in it' },
    package: { value: 'NAME', description: 'only this package', multiple: true },
    bundle: {
      description: 'BASE and HEAD are bundles: show what the upgrade requires of whoever approves it',
    },
    format: {
      value: 'text|json|markdown|html',
      description: 'output format (default: text); html with --bundle, markdown without it',
    },
    pruning: {
      description:
        'show only what HEAD no longer has of the published index BASE, and fail if it is more than pre-release channels',
    },
    whole: {
      description:
        'with --pruning, HEAD is the whole catalog: packages that it does not have are missing, too',
    },
    ...REGISTRY_OPTIONS,
  },
  details:
    'BASE and HEAD are directories or index images with one catalog each. With --repo they are git revisions, and Portolan\n' +
    'compares every catalog that differs.\n\n' +
    'With --pruning, BASE is the published index. Each package of HEAD must have all its channels and entries; only channels\n' +
    'whose names contain dev-preview, pre-ga or candidate may lose some.\n\n' +
    'With --bundle, BASE and HEAD are bundle directories or bundle images. Portolan shows new permissions, changed CRDs and what\n' +
    'they mean for existing objects, webhooks, install modes, images, and dropped or deprecated APIs, for an administrator who\n' +
    'approves an InstallPlan or a new version.',
  examples: [
    'portolan diff published/v4.20 catalogs/v4.20 --package etcd',
    'portolan diff quay.io/acme/catalog:v4.20 catalogs/v4.20',
    'portolan diff HEAD~1 HEAD --repo . --format markdown',
    'portolan diff --bundle operators/etcd/1.0.0 operators/etcd/1.1.0 --format html > upgrade.html',
    'portolan diff registry.redhat.io/redhat/redhat-operator-index:v4.20 catalogs/v4.20 --pruning',
  ],
  run: async (invocation, terminal) => {
    refuseUnused(invocation);
    if (invocation.flag('bundle')) return diffBundles(invocation, terminal);
    if (invocation.flag('pruning')) return printPruned(invocation, terminal);
    const format = FORMATS[invocation.word('format', FORMAT_WORDS) ?? 'text'];
    const packages = new Set(invocation.list('package'));
    const compared = await comparedBy(invocation, terminal, packages.size > 0 ? packages : undefined);
    const { diffs, read } = compared;
    const isPartial = printUnread(read, terminal);
    await terminal.out(format(diffs.filter((diff) => packages.size === 0 || packages.has(diff.package))));
    terminal.err(`${plainText(comparedText(compared))}\n`);
    // What could not be read looks as if it were removed, or unchanged.
    return isPartial ? 2 : 0;
  },
};

/** Refuses options that would have no effect. @throws PipelineError `usage` */
function refuseUnused(invocation: Invocation): void {
  const isPruning = invocation.flag('pruning');
  if (invocation.flag('whole') && !isPruning) throw usageError(command, '--whole needs --pruning');
  const unused = ['package', 'repo', 'pruning'].find((name) => isGiven(invocation, name));
  if (invocation.flag('bundle') && unused !== undefined)
    throw usageError(command, `--${unused} has no effect with --bundle`);
}

/** Prints what an index would lose of another one. @returns 1 if it loses a release */
async function printPruned(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { text, list, word, flag, operands } = invocation;
  const format = word('format', ['text', 'json']) ?? 'text';
  if (text('repo') !== undefined)
    throw usageError(command, '--pruning compares directories or index images, not revisions');
  const [base, head] = await readOperands(operands, invocation, terminal);
  const unread = [base, head].find((read) => read?.unread.some(({ severity }) => severity === 'error'));
  if (!base || !head || unread) {
    throw new PipelineError('bad-answer', `${unread?.name} has parts that cannot be read`, {
      hint: 'run portolan validate for details',
    });
  }
  const empty = [base, head].find(({ catalog }) => catalog.packages.size === 0);
  if (empty) throw new PipelineError('bad-answer', `${empty.name} has no packages`);
  const packages = new Set(list('package'));
  refuseUnknown(packages, new Set([base, head].flatMap(({ catalog }) => [...catalog.packages.keys()])));
  const pruned = prunedFrom(base.catalog, head.catalog, { isWhole: flag('whole') }).filter(
    (one) => packages.size === 0 || packages.has(one.package),
  );
  const shared = [...head.catalog.packages.keys()].filter((name) => base.catalog.packages.has(name));
  if (format === 'json') await terminal.out(`${JSON.stringify({ pruned }, null, 2)}\n`);
  else await terminal.out(pruned.map(prunedText).join(''));
  terminal.err(`compared ${amountText(shared.length, 'package')} with the published index\n`);
  return pruned.some(({ isPreRelease }) => !isPreRelease) ? 1 : 0;
}

/** A line about the entries that a channel no longer has. */
function prunedText({ package: name, channel, entries, isWholeChannel, isPreRelease }: Pruned): string {
  const what = isWholeChannel ? 'the whole channel is missing' : `missing: ${shortList(entries, 'entries')}`;
  const allowed = isPreRelease ? ' (allowed: pre-release channel)' : '';
  return linesText([`${name} ${channel}: ${what}${allowed}`]);
}

/** Which packages were looked at: without it, no changes could mean that nothing was. */
function comparedText({ packages }: Compared): string {
  const names = packages.length > 0 ? `: ${shortList(packages, 'packages')}` : '';
  return `compared ${amountText(packages.length, 'package')}${names}`;
}

/** The error for a directory that does not exist, with one more hint: a revision without `--repo` looks like one. */
function withRevisionHint(error: PipelineError): PipelineError {
  const hint = [error.hint, 'to compare revisions, use --repo DIR'].filter(Boolean).join('; ');
  return new PipelineError(error.code, error.message, { hint, cause: error });
}

/** The differences between two directories or images, or between two revisions of a repository. */
async function comparedBy(
  invocation: Invocation,
  terminal: Terminal,
  packages: ReadonlySet<string> | undefined,
): Promise<Compared> {
  const [base = '', head = ''] = invocation.operands;
  const repo = invocation.text('repo');
  if (repo === undefined) {
    const typed = { invocation, terminal };
    // One within the other: opened together, two directories of one name would be called after their paths.
    return withOperands([base], typed, ([was]) =>
      withOperands([head], typed, async ([is]) =>
        // Each operand gives one place: the other case is for the compiler.
        was && is ? diffPlaces(was, is, packages) : { diffs: [], packages: [], read: [] },
      ),
    ).catch((error: unknown) => {
      throw error instanceof PipelineError && error.code === 'not-found' ? withRevisionHint(error) : error;
    });
  }
  return withRepository(resolve(terminal.directory, repo), searchPath(terminal), async (repository) => {
    const today = terminal.now().toISOString().slice(0, 10);
    return await diffRevisions(repository, { base, head, today, packages: [...(packages ?? [])] });
  });
}

// What a catalog no longer has of the published one: whole channels, and entries of channels. Clusters
// that have installed such an entry are left without it. @see
// https://github.com/konflux-ci/konflux-operator-tasks/blob/main/task/fbc-target-index-pruning-check/0.1/fbc-target-index-pruning-check.yaml

interface Pruned {
  readonly package: string;
  readonly channel: string;
  /** Names of the entries; all of the channel's where the channel is gone. */
  readonly entries: readonly string[];
  readonly isWholeChannel: boolean;
  /** Whether the channel is for versions that are not released. */
  readonly isPreRelease: boolean;
}

/** Channels from which versions may go, as Konflux has it. */
const PRE_RELEASE = /dev-preview|pre-ga|candidate/;

/**
 * What was pruned, by package and channel.
 *
 * @param published the catalog of the published index
 * @param isWhole whether `next` is all that is to be published; a part of it is compared by the packages that it has
 */
function prunedFrom(published: Catalog, next: Catalog, { isWhole }: { readonly isWhole: boolean }): Pruned[] {
  const found: Pruned[] = [];
  for (const [name, before] of [...published.packages].sort(([a], [b]) => compareText(a, b))) {
    const after = next.packages.get(name);
    if (!after && !isWhole) continue;
    for (const { name: channel, entries } of before.channels.values()) {
      const channelAfter = after?.channels.get(channel);
      const names = new Set(channelAfter?.entries.map((entry) => entry.name));
      const gone = entries.map((entry) => entry.name).filter((entry) => !names.has(entry));
      if (gone.length === 0) continue;
      const isPreRelease = PRE_RELEASE.test(channel);
      found.push({
        package: name,
        channel,
        entries: gone,
        isWholeChannel: channelAfter === undefined,
        isPreRelease,
      });
    }
  }
  return found;
}

// Two bundles side by side, as whoever approves the upgrade needs it.

const BUNDLE_FORMATS = {
  text: reviewText,
  json: (review) => `${JSON.stringify(review, null, 2)}\n`,
  html: upgradePage,
} satisfies Readonly<Record<string, (review: UpgradeReview) => string>>;

/**
 * Prints what the upgrade requires.
 *
 * @throws PipelineError `usage` for a bundle without a ClusterServiceVersion
 */
async function diffBundles(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const format = BUNDLE_FORMATS[invocation.word('format', ['text', 'json', 'html']) ?? 'text'];
  const [older = '', newer = ''] = invocation.operands;
  const rendering = renderingOf(invocation, terminal);
  const read = (name: string) =>
    withBundle(name, rendering, async ({ source }) => {
      const bundle = await inspectedBundle(source);
      if (bundle.csv) return reviewedFiles(bundle);
      throw new PipelineError('usage', `${name} has no ClusterServiceVersion`);
    });
  const [before, after] = [await read(older), await read(newer)];
  await terminal.out(format(reviewUpgrade(before, after)));
  return 0;
}
