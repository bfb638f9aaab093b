import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { catalogImages } from '../../catalog/mirror/images.ts';
import { readMapping } from '../../catalog/mirror/mapping.ts';
import { nodeConfig } from '../../catalog/mirror/node.ts';
import { mirrorKinds, mirrorRules, type ReadObject, readObjects } from '../../catalog/mirror/read.ts';
import { contentsOf, readiness } from '../../catalog/mirror/readiness.ts';
import { readinessReport, readinessText } from '../../catalog/mirror/report.ts';
import { fileError, readText } from '../directory.ts';
import { findingText, plain } from '../report/text.ts';
import type { Command } from './command.ts';
import { openOperand } from './operands.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';

export const command: Command = {
  words: 'mirror verify',
  summary: 'Follow every reference of every bundle as a node would, and say what is missing.',
  operands: 'DIR|IMAGE',
  options: {
    documents: {
      value: 'PATH',
      description: 'mirror documents: files, folders, or what oc get -o yaml printed of a cluster',
      multiple: true,
    },
    mapping: {
      value: 'FILE',
      description: 'mapping.txt with what is copied (default: beside the documents)',
    },
    all: { description: 'name every missing reference, not only the first ones' },
    format: { value: 'text|json', description: 'how to print the result (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  examples: [
    'portolan mirror verify catalogs/v4.20 --documents mirror',
    'oc get imagedigestmirrorset,imagetagmirrorset -o yaml > cluster.yaml && portolan mirror verify catalogs/v4.20 --documents cluster.yaml --mapping mirror/mapping.txt',
  ],
  run: async (invocation, terminal) => {
    const { operands, needed, list, text, flag } = invocation;
    const paths = list('documents').map((path) => resolve(terminal.directory, path));
    if (paths.length === 0) needed('documents');
    const folder = paths.find(isFolder);
    const mapping = text('mapping');
    const mappingFile =
      mapping === undefined && folder !== undefined
        ? join(folder, 'mapping.txt')
        : resolve(terminal.directory, needed('mapping'));
    const opened = await openOperand(operands[0] ?? '.', invocation, terminal);
    const images = await catalogImages(opened.source).finally(opened.close);
    const read = paths.flatMap(documentFiles).map((file) => readObjects(readText(file), file));
    const objects = read.flatMap((one) => one.objects);
    const rules = mirrorRules(objects);
    const copied = readMapping(readText(mappingFile), mappingFile);
    const findings = [
      ...images.findings,
      ...read.flatMap((one) => one.findings),
      ...rules.findings,
      ...copied.findings,
      ...mixture(objects),
    ];
    for (const finding of findings.sort(compareFindings)) terminal.err(findingText(finding));
    const report = readinessReport(readiness([images], nodeConfig(rules.rules), contentsOf(copied.mappings)));
    if (text('format') === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else {
      const lines = readinessText(report, flag('all') ? report.missing.length : undefined);
      await terminal.out(lines.split('\n').map(plain).join('\n'));
    }
    const failed = findings.some(({ severity }) => severity === 'error');
    return failed || report.ready < report.bundles ? 1 : 0;
  },
};

/** Policies beside mirror sets: older nodes refuse both, newer ones merge them. */
function mixture(objects: readonly ReadObject[]): Finding[] {
  const policy = objects.find(({ kind }) => kind === 'ImageContentSourcePolicy');
  if (!policy || mirrorKinds(objects).size === 1) return [];
  return [
    {
      rule: 'mirror/mixture',
      severity: 'warning',
      message: `ImageContentSourcePolicy "${policy.name}" stands beside mirror sets: nodes up to OpenShift 4.13 refuse the mixture`,
      location: policy.document.locate(policy.path),
      hint: 'portolan mirror migrate writes the policy as a mirror set',
    },
  ];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw fileError(error, path);
  }
}

/** A file, or the YAML and JSON files of a folder that are no report. */
function documentFiles(path: string): string[] {
  if (!isFolder(path)) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name) && !/^(?:kustomization|registries\.d)\.yaml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}
