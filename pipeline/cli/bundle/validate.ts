import { resolve } from 'node:path';
import type { InspectOptions } from '../../../catalog/bundle/inspect.ts';
import {
  SELECTABLE,
  SUITE_NAMES,
  type Suite,
  selectedRules,
  VIEW_NAMES,
  type View,
} from '../../../catalog/bundle/suite.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { ownSeverity, type SeverityOf } from '../../../catalog/rules/rule.ts';
import { type BundleResult, checkBundle } from '../../catalogs/bundle/check-bundle.ts';
import { type OpenBundle, openBundleDirectory } from '../../catalogs/bundle/open-directory.ts';
import { isDirectory, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { amountText, countText, findingText, linesText, plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { formedOption, KUBERNETES_VERSION } from '../formed-option.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import type { AskedPlatforms } from './named-bundle.ts';

/** Checks the bundle in a directory by the suite that `bundle validate` takes by default. */
export async function validateBundle(path: string, format: string, terminal: Terminal): Promise<ExitCode> {
  const result = await checkBundle(openBundleDirectory(path), { suites: ['default'] });
  return printResult(result, format, terminal);
}

export const command: Command = {
  words: 'bundle validate',
  operands: 'DIR|REFERENCE…',
  details: [
    'Checks the format, the manifests and the metadata, and reports all errors at once, each with its file and line. A bundle',
    'is a directory with manifests/ and metadata/, or an image in a registry, a layout (oci:DIR:TAG) or an archive.',
    '',
    'The suite default checks what OLM v0 requires; every other suite includes it. The last line shows how many findings the',
    'other suites would add. The suite multiarch asks registries for the platforms of the images. With --compat, Portolan',
    'shows only the findings that the named tool reports.',
    '',
    'Several bundles are checked in one run: the findings name the bundle in front of the file, and a bundle that cannot be',
    'read does not stop the others.',
  ].join('\n'),
  options: {
    suite: {
      value: 'SUITE',
      description: `suite of rules to run: ${SUITE_NAMES.join(', ')}`,
      multiple: true,
    },
    compat: { value: VIEW_NAMES.join('|'), description: 'show only the findings of operator-sdk or opm' },
    'kubernetes-version': {
      value: 'VERSION',
      description: 'Kubernetes version of the cluster, for example 1.25',
    },
    categories: { value: 'FILE', description: 'JSON file with the allowed categories: {"categories": […]}' },
    dockerfile: {
      value: 'FILE',
      description: 'Dockerfile of the bundle (default: the one in the directory)',
    },
    'select-optional': {
      value: 'SELECTOR',
      description: "operator-sdk's selector of optional validators, for example name=community",
    },
    'optional-values': {
      value: 'KEY=VALUE',
      description: "operator-sdk's values for them: k8s-version, index-path, container-tools",
      multiple: true,
    },
    policy: { value: 'FILE', description: 'policy file with the severities of rules' },
    format: { value: 'text|json|sarif', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  examples: [
    'portolan bundle validate operators/etcd/0.9.4',
    'portolan bundle validate operators/etcd/*',
    'portolan bundle validate --suite operatorhub --suite olmv1 quay.io/example/etcd-bundle:v0.9.4',
    'portolan bundle validate --format sarif oci:layout:v1 > findings.sarif',
  ],
  run: async (invocation, terminal) => {
    const selected = selectedIn(invocation);
    const checkOptions = {
      suites: suitesOf(invocation),
      rules: selected,
      severityOf: await severitiesIn(invocation, terminal),
      options: optionsOf(invocation, terminal),
      ...viewOf(invocation),
    };
    const format = invocation.text('format') ?? 'text';
    const needsPlatforms = checkOptions.suites.includes('multiarch') || selected.includes('platform/*');
    const check = async (bundle: OpenBundle): Promise<NamedResult> => {
      const asked = needsPlatforms ? await askedPlatforms(bundle, { invocation, terminal }) : undefined;
      for (const why of asked?.unknown ?? [])
        terminal.err(linesText([`not checked: the platforms of ${why}`]));
      const options = { ...checkOptions.options, ...(asked ? { platforms: asked.platforms } : {}) };
      const result = await checkBundle(bundle, { ...checkOptions, options });
      return { ...result, isIncomplete: (asked?.unknown.length ?? 0) > 0 };
    };
    const checkNamed = async (name: string): Promise<NamedResult> => {
      const path = resolve(terminal.directory, name);
      if (isDirectory(path)) return check(openBundleDirectory(path));
      const { withNamedBundle } = await import('./named-bundle.ts');
      return withNamedBundle(name, { invocation, terminal }, check);
    };
    const [name = '', ...more] = invocation.operands;
    if (more.length === 0) return printResult(await checkNamed(name), format, terminal);
    return checkMany(invocation.operands, checkNamed, { format, terminal });
  },
};

/** What was found of a bundle, and whether some of it could not be checked. */
interface NamedResult extends BundleResult {
  readonly isIncomplete?: boolean | undefined;
}

/** Checks bundles one after the other. One that cannot be read is reported, and the others are checked. */
async function checkMany(
  names: readonly string[],
  checkNamed: (name: string) => Promise<NamedResult>,
  { format, terminal }: { readonly format: string; readonly terminal: Terminal },
): Promise<ExitCode> {
  const bundles: { bundle: string; verdict: 'pass' | 'fail' | 'inconclusive' }[] = [];
  const all: Finding[] = [];
  for (const bundle of names) {
    try {
      const result = await checkNamed(bundle);
      const findings = result.findings.map((finding) => inBundle(bundle, finding));
      const verdict = verdictOf(result);
      bundles.push({ bundle, verdict });
      if (format !== 'text') all.push(...findings);
      else for (const finding of findings) await terminal.out(findingText(finding));
      terminal.err(`${verdict.toUpperCase()}: ${plainText(bundle)}: ${countText(findings)}\n`);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      bundles.push({ bundle, verdict: 'inconclusive' });
      terminal.err(`portolan: ${plainText(bundle)}: ${error.message}\n`);
    }
  }
  // A bundle that could not be checked decides before one that failed: nobody knows all that is wrong.
  const verdict = (['inconclusive', 'fail'] as const).find((one) => bundles.some((b) => b.verdict === one));
  if (format === 'sarif') await terminal.out(await sarifOf(all));
  if (format === 'json') {
    const report = { verdict: verdict ?? 'pass', bundles, findings: all };
    await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
  }
  return verdict === undefined ? 0 : verdict === 'fail' ? 1 : 2;
}

/** A finding with its bundle in front of the file, as in `operators/etcd/0.9.4/manifests/csv.yaml`. */
function inBundle(bundle: string, finding: Finding): Finding {
  const file = `${bundle.replace(/\/+$/, '')}/${finding.location.file}`;
  return { ...finding, location: { ...finding.location, file } };
}

/** Warnings do not fail a bundle. What could not be checked may fail it, so that comes first. */
function verdictOf({
  findings,
  isIncomplete,
}: Pick<NamedResult, 'findings' | 'isIncomplete'>): 'pass' | 'fail' | 'inconclusive' {
  if (isIncomplete) return 'inconclusive';
  return findings.some(({ severity }) => severity === 'error') ? 'fail' : 'pass';
}

/** The platforms of a bundle's images, from their registries. */
async function askedPlatforms(
  { source }: OpenBundle,
  at: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<AskedPlatforms> {
  const { platformsIn } = await import('./named-bundle.ts');
  return platformsIn(source, at);
}

/** The findings as SARIF; what writes it is loaded for whoever asks for it. */
async function sarifOf(findings: readonly Finding[]): Promise<string> {
  const { sarifReport } = await import('../../report/sarif.ts');
  return sarifReport({ findings });
}

/** Prints what was found of a bundle. */
async function printResult(
  { findings, others, isIncomplete }: NamedResult,
  format: string,
  { out, err }: Terminal,
): Promise<ExitCode> {
  const verdict = verdictOf({ findings, isIncomplete });
  if (format === 'sarif') await out(await sarifOf(findings));
  else if (format === 'json') await out(`${JSON.stringify({ verdict, findings }, null, 2)}\n`);
  else {
    for (const finding of findings) await out(findingText(finding));
    // In one line with the verdict: people see which suites would find more.
    const more = [...others].map(
      ([suite, found]) => `${amountText(found.length, 'finding')} of --suite ${suite}`,
    );
    err(`${verdict.toUpperCase()}: ${countText(findings)}`);
    err(more.length > 0 ? `; not counted: ${more.join(', ')}\n` : '\n');
  }
  return { pass: 0, fail: 1, inconclusive: 2 }[verdict] as ExitCode;
}

/** The suites that `--suite` names; the default one without it. @throws PipelineError `usage` */
function suitesOf(invocation: Invocation): readonly Suite[] {
  const written = invocation.list('suite').flatMap((text) => text.split(','));
  return (written.length === 0 ? ['default'] : written).map((text) => {
    const suite = SUITE_NAMES.find((name) => name === text);
    if (suite) return suite;
    throw usageError(
      command,
      `--suite must be one of ${SUITE_NAMES.join(', ')}, not ${JSON.stringify(text)}`,
    );
  });
}

/** The rules that operator-sdk's selector selects; none without one. @throws PipelineError `usage` */
function selectedIn(invocation: Invocation): readonly string[] {
  const selector = invocation.text('select-optional');
  if (selector === undefined) return [];
  const rules = selectedRules(selector);
  if (rules) return rules;
  throw usageError(
    command,
    `--select-optional must select one of ${SELECTABLE.join(', ')}, not ${JSON.stringify(selector)}`,
  );
}

/** The keys that operator-sdk's optional validators read. */
const OPTIONAL_KEYS = ['k8s-version', 'index-path', 'container-tools'];

/** operator-sdk's values by key; `container-tools` has no effect, as Portolan reads images from their registry. */
function optionalValues(invocation: Invocation): ReadonlyMap<string, string> {
  const pairs = invocation.list('optional-values').flatMap((text) => text.split(','));
  return new Map(
    pairs.map((pair): [string, string] => {
      const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
      if (OPTIONAL_KEYS.includes(key) && value !== '') return [key, value];
      throw usageError(
        command,
        `--optional-values must be KEY=VALUE with one of the keys ${OPTIONAL_KEYS.join(', ')}, not ${JSON.stringify(pair)}`,
      );
    }),
  );
}

/** The tool whose findings alone are shown, if `--compat` names one. */
function viewOf(invocation: Invocation): { view?: View } {
  const view = invocation.word('compat', VIEW_NAMES);
  return view ? { view } : {};
}

/** The severities of the policy in `--policy`; without one, those that rules have by default. */
async function severitiesIn(invocation: Invocation, { directory }: Terminal): Promise<SeverityOf> {
  const file = invocation.text('policy');
  if (file === undefined) return ownSeverity;
  const { severitiesInFile } = await import('./policy-file.ts');
  return severitiesInFile(file, directory);
}

/** The options of a bundle's check. @throws PipelineError `usage` */
function optionsOf(invocation: Invocation, { directory }: Terminal): InspectOptions {
  const { text } = invocation;
  const form = KUBERNETES_VERSION;
  const values = optionalValues(invocation);
  const version =
    formedOption(command, invocation, { option: 'kubernetes-version', form }) ?? values.get('k8s-version');
  // Portolan's own option is checked already: this is operator-sdk's.
  if (version !== undefined && !form.accepts(version)) {
    const message = `--optional-values k8s-version must be ${form.expected}, not ${JSON.stringify(version)}`;
    throw usageError(command, message);
  }
  const categories = text('categories');
  const dockerfile = text('dockerfile') ?? values.get('index-path');
  return {
    ...(version === undefined ? {} : { kubernetesVersion: version }),
    // The suite checks as certification does, but not where only another tool's findings are shown.
    ...(text('compat') === undefined && suitesOf(invocation).includes('openshift')
      ? { isCertified: true }
      : {}),
    ...(categories === undefined ? {} : { categories: readText(resolve(directory, categories)) }),
    ...(dockerfile === undefined
      ? {}
      : { dockerfile: { path: dockerfile, text: readText(resolve(directory, dockerfile)) } }),
  };
}
