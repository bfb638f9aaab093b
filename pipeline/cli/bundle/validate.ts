import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { InspectOptions } from '../../../catalog/bundle/inspect.ts';
import { SUITE_NAMES, type Suite, VIEW_NAMES, type View } from '../../../catalog/bundle/suite.ts';
import { ownSeverity, type SeverityOf } from '../../../catalog/rules/rule.ts';
import { type BundleResult, checkBundle } from '../../catalogs/bundle/check-bundle.ts';
import { type OpenBundle, openBundleDirectory, withBundle } from '../../catalogs/bundle/open.ts';
import { platformsOf } from '../../catalogs/bundle/platforms.ts';
import { fileError, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { RULE_IDS } from '../../policy/rule-ids.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { sarifReport } from '../../report/sarif.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { amount, countText, findingText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { formedOption, KUBERNETES_VERSION } from '../formed-option.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { renderingOf } from '../rendering.ts';

/** Checks the bundle in a directory by the suite that `bundle validate` takes by default. */
export async function validateBundle(path: string, format: string, terminal: Terminal): Promise<ExitCode> {
  const result = await checkBundle(openBundleDirectory(path), { suites: ['default'] });
  return printResult(result, format, terminal);
}

export const command: Command = {
  words: 'bundle validate',
  operands: 'DIR|REFERENCE',
  details: [
    'Checks the format, the manifests and the metadata, and reports all errors at once, each with its file and line. A bundle',
    'is a directory with manifests/ and metadata/, or an image in a registry, a layout (oci:DIR:TAG) or an archive.',
    '',
    'The suite default checks what OLM v0 requires; every other suite includes it. The last line shows how many findings the',
    'other suites would add. The suite multiarch asks registries for the platforms of the images. With --compat, Portolan',
    'shows only the findings that the named tool reports.',
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
    policy: { value: 'FILE', description: 'policy file with the severities of rules' },
    format: { value: 'text|json|sarif', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  examples: [
    'portolan bundle validate operators/etcd/0.9.4',
    'portolan bundle validate --suite operatorhub --suite olmv1 quay.io/example/etcd-bundle:v0.9.4',
    'portolan bundle validate --format sarif oci:layout:v1 > findings.sarif',
  ],
  run: async (invocation, terminal) => {
    const [name = ''] = invocation.operands;
    const checkOptions = {
      suites: suitesOf(invocation),
      severityOf: severitiesIn(invocation, terminal),
      options: optionsOf(invocation, terminal),
      ...viewOf(invocation),
    };
    const format = invocation.text('format') ?? 'text';
    return withBundle(name, renderingOf(invocation, terminal), async (bundle) => {
      const platforms = await askedPlatforms(bundle, checkOptions.suites, { invocation, terminal });
      const options = { ...checkOptions.options, ...(platforms ? { platforms } : {}) };
      return printResult(await checkBundle(bundle, { ...checkOptions, options }), format, terminal);
    });
  },
};

/** Registries are only asked for the suite that needs them. */
async function askedPlatforms(
  { source }: OpenBundle,
  suites: readonly Suite[],
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<InspectOptions['platforms']> {
  if (!suites.includes('multiarch')) return undefined;
  const client = registryClientFor(invocation, terminal);
  try {
    return await platformsOf(source, client);
  } finally {
    client.close();
  }
}

/** Prints what was found of a bundle. */
async function printResult(
  { findings, others }: BundleResult,
  format: string,
  { out, err }: Terminal,
): Promise<ExitCode> {
  const failed = findings.some(({ severity }) => severity === 'error');
  if (format === 'sarif') await out(sarifReport({ findings }));
  else if (format === 'json')
    await out(`${JSON.stringify({ verdict: failed ? 'fail' : 'pass', findings }, null, 2)}\n`);
  else {
    for (const finding of findings) await out(findingText(finding));
    const more = [...others].map(
      ([suite, found]) => `${amount(found.length, 'finding')} of --suite ${suite}`,
    );
    err(`${failed ? 'FAIL' : 'PASS'}: ${countText(findings)}`);
    err(more.length > 0 ? `; not counted: ${more.join(', ')}\n` : '\n');
  }
  return failed ? 1 : 0;
}

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

function viewOf(invocation: Invocation): { view?: View } {
  const view = invocation.word('compat', VIEW_NAMES);
  return view ? { view } : {};
}

function severitiesIn(invocation: Invocation, { directory }: Terminal): SeverityOf {
  const file = invocation.text('policy');
  if (file === undefined) return ownSeverity;
  const path = resolve(directory, file);
  const { policy, findings } = readPolicy(bytesOf(path), RULE_IDS);
  if (policy) return severitiesOf(policy);
  const [first] = findings;
  throw new PipelineError('usage', `${file}:${first?.location.line ?? 1}: ${first?.message ?? 'no policy'}`);
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileError(error, path);
  }
}

function optionsOf(invocation: Invocation, { directory }: Terminal): InspectOptions {
  const { text } = invocation;
  const form = KUBERNETES_VERSION;
  const version = formedOption(command, invocation, { option: 'kubernetes-version', form });
  const categories = text('categories');
  const dockerfile = text('dockerfile');
  return {
    ...(version === undefined ? {} : { kubernetesVersion: version }),
    ...(categories === undefined ? {} : { categories: readText(resolve(directory, categories)) }),
    ...(dockerfile === undefined
      ? {}
      : { dockerfile: { path: dockerfile, text: readText(resolve(directory, dockerfile)) } }),
  };
}
