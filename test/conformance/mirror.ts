// The recorded runs of `oc adm catalog mirror` and oc-mirror v2: what their first plan
// says, and what a node makes of it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogImages } from '../../catalog/mirror/images.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';
import { comparePlans, type RecordedPlan } from './mirror-compare.ts';
import { comparePulls } from './mirror-pulls.ts';
import { type CaseInfo, catalogsOf, type MirrorCase, NoCounterpart, Refused, run } from './mirror-run.ts';

interface Step {
  readonly cmd: readonly string[];
  readonly rc: number;
}

interface CaseFile {
  readonly steps: readonly Step[];
  readonly info?: CaseInfo;
}

export async function* cases(folder: string, fallback: string): AsyncGenerator<CaseResult> {
  const set = join(folder, 'mirror');
  const real =
    [folder, fallback].map((golden) => join(golden, '../data/catalogs/v4.20')).find(existsSync) ?? '';
  const names = readdirSync(set, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (name.startsWith('_')) continue;
    yield await isolated(name, async () => ({ name, ...(await judge(join(set, name), real)) }));
  }
}

type Judgement = Omit<CaseResult, 'name'>;

async function judge(folder: string, real: string): Promise<Judgement> {
  const file: CaseFile = JSON.parse(readFileSync(join(folder, 'case.json'), 'utf8'));
  const catalogs = catalogsOf(folder, real);
  const outputs = outputsOf(folder);
  const wrongPulls = await judgePulls(folder, catalogs, outputs);
  if (wrongPulls !== undefined) return { outcome: 'differ', detail: `pulls.json: ${wrongPulls}` };
  const index = file.steps.findIndex(({ cmd }) => isPlan(cmd));
  const step = file.steps[index];
  if (!step) {
    // Copying is no plan; what a node then asks was compared all the same.
    if (outputs && existsSync(join(folder, 'pulls.json'))) return { outcome: 'agree' };
    return { outcome: 'skipped', detail: 'no step with --manifests-only or --dry-run' };
  }
  const one: MirrorCase = {
    folder,
    command: step.cmd,
    info: file.info ?? {},
    printed: printedOf(folder, index, file.steps.length),
    catalogs,
  };
  return judgePlan(one, step, outputs);
}

function isPlan(command: readonly string[]): boolean {
  const catalog = command[0] === 'oc-mirror' || command.slice(0, 4).join(' ') === 'oc adm catalog mirror';
  return catalog && (command.includes('--manifests-only') || command.includes('--dry-run'));
}

/** Standard output and error of a step. */
function printedOf(folder: string, index: number, steps: number): string {
  const suffix = steps === 1 ? '' : `.${index + 1}`;
  return ['stdout', 'stderr']
    .map((stream) => join(folder, `${stream}${suffix}.txt`))
    .filter(existsSync)
    .map((path) => readFileSync(path, 'utf8'))
    .join('');
}

/** What the tool wrote; undefined when it wrote nothing. */
function outputsOf(folder: string): RecordedPlan | undefined {
  const files = [...filesBelow(join(folder, 'out'))];
  const read = (keep: (path: string) => boolean): string[] =>
    files.filter(keep).map((path) => readFileSync(path, 'utf8'));
  const plans = [
    '/mapping.txt',
    '/imageContentSourcePolicy.yaml',
    '/imageDigestMirrorSet.yaml',
    '/catalogSource.yaml',
  ];
  const isDocument = (path: string): boolean =>
    plans.slice(1).some((name) => path.endsWith(name)) ||
    /\/cluster-resources\/(idms|itms|cs|cc)-[^/]*\.yaml$/.test(path);
  const mapping = read((path) => path.endsWith('/mapping.txt'));
  const documents = read(isDocument);
  if (mapping.length === 0 && documents.length === 0) return undefined;
  return { mapping: mapping.join(''), documents: documents.join('\n---\n') };
}

function* filesBelow(folder: string): Generator<string> {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

async function judgePulls(
  folder: string,
  catalogs: readonly string[],
  outputs: RecordedPlan | undefined,
): Promise<string | undefined> {
  const file = join(folder, 'pulls.json');
  if (!existsSync(file) || !outputs) return undefined;
  const images = await Promise.all(catalogs.map((root) => catalogImages(directorySource(root))));
  return comparePulls(readFileSync(file, 'utf8'), outputs, images);
}

async function judgePlan(one: MirrorCase, step: Step, outputs: RecordedPlan | undefined): Promise<Judgement> {
  try {
    const ours = await run(one);
    if (step.rc !== 0 && /destination path does not exist/.test(one.printed)) {
      return { outcome: 'chosen', detail: 'extracted files' };
    }
    if (/^panic: /m.test(one.printed)) return { outcome: 'chosen', detail: 'Docker Hub' };
    if (step.rc !== 0 && /parse destination "[^"]*:":/.test(one.printed)) {
      return { outcome: 'chosen', detail: 'hosts with a port' };
    }
    if (step.rc !== 0 && /contains an internal oc-mirror keyword/.test(one.printed)) {
      return { outcome: 'chosen', detail: 'words in paths' };
    }
    // What a node cannot read is copied by the real tools all the same.
    if (ours.refused !== undefined && step.rc !== 0) return judgeRefusal(step, outputs, ours.refused);
    if (step.rc !== 0 || !outputs) return { outcome: 'differ', detail: 'the real tool fails, ours does not' };
    return comparePlans(one, outputs, ours);
  } catch (error) {
    if (error instanceof NoCounterpart) return { outcome: 'skipped', detail: error.message };
    if (!(error instanceof Refused)) throw error;
    return judgeRefusal(step, outputs, error.message);
  }
}

function judgeRefusal(step: Step, outputs: RecordedPlan | undefined, why: string): Judgement {
  if (step.rc !== 0 && !outputs) return { outcome: 'agree' };
  if (step.rc !== 0 && outputs?.mapping.trim() === '')
    return { outcome: 'chosen', detail: 'documents of a failure' };
  const sizes = /has \d+ bytes, the limit is/.test(why);
  if (sizes && (step.rc !== 0 || outputs?.documents === ''))
    return { outcome: 'chosen', detail: 'a size too small' };
  if (/the host has a dot or a port/.test(why) && step.rc === 0)
    return { outcome: 'chosen', detail: 'destination without a host' };
  if (/no version of the default channel/.test(why) && step.rc === 0)
    return { outcome: 'chosen', detail: 'empty channels' };
  // An entry for each repository is longer than one for a registry that leads nowhere.
  if (sizes && step.cmd.includes('registry')) {
    return { outcome: 'chosen', detail: 'entries that lead astray' };
  }
  return { outcome: 'differ', detail: `ours refuses: ${why}` };
}
