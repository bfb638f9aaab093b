// Bundles: for each error and warning of the real tools a finding of the rule that stands for it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Inspected, type InspectOptions, inspectedBundle } from '../../catalog/bundle/inspect.ts';
import { installedObjects } from '../../catalog/bundle/install.ts';
import type { ManifestFile } from '../../catalog/bundle/manifest.ts';
import { foldedMember } from '../../catalog/bundle/registry-bundle.ts';
import { isInSuite, type Suite, seenBy, type View } from '../../catalog/bundle/suite.ts';
import type { Finding } from '../../catalog/finding.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { runInspection } from '../../catalog/rules/rule.ts';
import { sourceOf } from '../../catalog/source.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { otherReadings, type Reading, type Tool } from './bundle-readings.ts';
import { OURS, ROWS, TEXTS } from './bundle-texts.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';

export async function* cases(golden: string): AsyncIterable<CaseResult> {
  const root = join(golden, 'bundle');
  for (const name of readdirSync(root).sort()) {
    if (name.startsWith('_')) continue;
    const folder = join(root, name);
    yield await isolated(name, async () => {
      const recorded = recordedAt(join(folder, 'expect.json'));
      return compare(name, recorded, await filesIn(join(folder, 'input')), optionsOf(folder));
    });
  }
}

export function recordedAt(path: string): Recorded {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The files of a bundle's folder. */
export async function filesIn(folder: string): Promise<Files> {
  const found = await directorySource(folder).files();
  return Object.fromEntries(await Promise.all(found.map(async (file) => [file.path, await file.read()])));
}

type Files = Readonly<Record<string, Uint8Array>>;

/** Compares what the tools said of a bundle with what Portolan finds in it. */
export async function compare(
  name: string,
  recorded: Recorded,
  files: Files,
  options: InspectOptions,
): Promise<CaseResult> {
  const all = await differences(recorded, files, options);
  const differing = new Set(all.flatMap(({ row, text }) => (row === undefined ? [text] : [])));
  if (differing.size > 0) return { name, outcome: 'differ', detail: [...differing].join(' | ') };
  const rows = new Set(all.flatMap(({ row }) => row ?? []));
  return rows.size > 0
    ? { name, outcome: 'chosen', detail: [...rows].join(', ') }
    : { name, outcome: 'agree' };
}

/** What only Portolan or only a tool says, with the row of docs/bundle-differences.md that says why, if one does. */
export interface Difference {
  readonly text: string;
  readonly row: string | undefined;
}

export async function differences(
  recorded: Recorded,
  files: Files,
  options: InspectOptions,
): Promise<readonly Difference[]> {
  const bundle = await inspectedBundle(sourceOf(files), options);
  const readings = await otherReadings(files, bundle, options);
  const findings = runInspection(bundle, RULES);
  const said = saidIn(recorded);
  const texts = said.map(({ text }) => text);
  return [
    ...said.flatMap((one) => lost(one, texts, findings, bundle, readings)),
    ...addedErrors(recorded, texts, findings, bundle),
    ...objectsDiffer(recorded, bundle),
    ...verdictsDiffer(recorded, texts, findings, bundle, readings),
  ];
}

/** A message of a tool for which Portolan has no finding. */
function lost(
  one: Message,
  said: readonly string[],
  findings: readonly Finding[],
  bundle: Inspected,
  readings: readonly Reading[],
): readonly Difference[] {
  const { tool, text } = one;
  const rules = rulesFor(text);
  const explains = (all: readonly Finding[]): boolean => all.some(({ rule }) => rules.includes(rule));
  if (explains(findings)) return [];
  const row =
    chosenRow(one, bundle, said) ??
    readings.find((reading) => reading.tools.includes(tool) && explains(reading.findings))?.row;
  const what = rules[0] ?? 'no rule stands for';
  return [{ text: `${what}: ${tool}: ${text.slice(0, 160)}`, row }];
}

/** Objects that OLM v1 would make of the bundle, or not make, or call otherwise. */
function objectsDiffer({ olmv1 = {} }: Recorded, bundle: Inspected): readonly Difference[] {
  const theirs = [...new Set([olmv1['objects'] ?? []].flat())].sort();
  if (theirs.length === 0) return [];
  const csvs = bundle.allObjects.filter(({ kind }) => kind === 'ClusterServiceVersion');
  if (csvs.length !== 1 || !bundle.csv) return [{ text: 'objects', row: 'first-document' }];
  const hash = (bytes: Uint8Array): string => createHash('sha224').update(bytes).digest('hex');
  const { objects } = installedObjects(bundle, { hash, certificates: 'cert-manager' });
  const ours = objects.map(({ kind, name }) => `${kind}/${name}`).sort();
  if (ours.join() === theirs.join()) return [];
  const [lost, added] = [theirs.filter((o) => !ours.includes(o)), ours.filter((o) => !theirs.includes(o))];
  return [{ text: `objects: -${lost.join(' ')} +${added.join(' ')}`, row: undefined }];
}

/** Whether the views of tools come to the tools' verdicts; a row says why one may not. */
function verdictsDiffer(
  { sdk = {}, opmValidate = {} }: Recorded,
  said: readonly string[],
  findings: readonly Finding[],
  bundle: Inspected,
  readings: readonly Reading[],
): Difference[] {
  const verdicts: [string, View, Suite, boolean][] = [
    ...Object.entries(sdk).map(([suite, { passed = false }]): [string, View, Suite, boolean] => [
      `sdk ${suite}`,
      'sdk',
      suite === 'default' ? 'default' : 'operatorhub',
      passed,
    ]),
    ...Object.entries(opmValidate).map(([suite, parts]): [string, View, Suite, boolean] => [
      `opm ${suite}`,
      'opm',
      suite === 'default' ? 'default' : 'operatorhub',
      Object.values(parts).every((texts) => Array.isArray(texts) && texts.length === 0),
    ]),
  ];
  return verdicts.flatMap(([tool, view, suite, passed]) => {
    const errorsIn = (all: readonly Finding[]): Finding[] =>
      seenBy(view, all).filter(({ rule, severity }) => severity === 'error' && isInSuite(rule, suite));
    const errors = errorsIn(findings);
    if ((errors.length === 0) === passed) return [];
    // That operator-sdk mixes documents excuses its messages, but not another verdict.
    const reading = readings.find(
      ({ row, tools, findings: other }) =>
        row !== 'mixed-documents' && tools.includes(view) && (errorsIn(other).length === 0) === passed,
    );
    const rules = [...new Set(errors.map(({ rule }) => rule))];
    return [
      {
        text: `${tool}: ${passed ? 'passes' : 'fails'}, ours: ${rules.join(', ')}`,
        row: rowOfVerdict(said, passed ? errors : [], bundle) ?? reading?.row,
      },
    ];
  });
}

function rowOfVerdict(
  said: readonly string[],
  errors: readonly Finding[],
  bundle: Inspected,
): string | undefined {
  if (errors.length > 0) {
    const rows = errors.map((finding) => rowOfFinding(finding, bundle));
    return rows.every((row) => row !== undefined) ? rows[0] : undefined;
  }
  if (said.some((text) => text.startsWith('panic: '))) return 'panic';
  if (hasSeveralCsvs(said)) return 'several-csvs';
  if (said.some((text) => text.startsWith('The CEL field is missing'))) return 'compound-constraint';
  return said.some((text) => /does not match expected name "-v/.test(text)) ? 'package-not-read' : undefined;
}

/** opm checks each of several ClusterServiceVersions. */
function hasSeveralCsvs(said: readonly string[]): boolean {
  return said.some((text) => text.includes('contains multiple CSVs'));
}

function rulesFor(text: string): readonly string[] {
  const [, ...rules] = TEXTS.find(([pattern]) => pattern.test(text)) ?? [/^/];
  return rules;
}

/** The row of docs/bundle-differences.md that tells why a text of the tools is none of ours. */
function chosenRow({ tool, text }: Message, bundle: Inspected, said: readonly string[]): string | undefined {
  const { objects } = bundle;
  if (text.startsWith('panic: ')) return 'panic';
  if (tool === 'opm' && hasSeveralCsvs(said)) return 'several-csvs';
  // It reads every file of the name, and ends with the first that it cannot read.
  if (text.startsWith('unable to load the annotations file') && bundle.annotations)
    return 'other-annotations';
  if (/invalid value \(container-tools\)/.test(text)) return 'no-container-tools';
  if (/does not match expected name "-v/.test(text)) return 'package-not-read';
  const isZero = ({ value }: { value: Readonly<Record<string, unknown>> }): boolean =>
    /"maxUnavailable":(?:0|"0%")/.test(JSON.stringify(value['spec'] ?? {}));
  if (text.startsWith('maxUnavailable field') && !objects.some(isZero)) return 'percentage-is-not-zero';
  return isFollowUp(text, said) ? 'follow-up' : undefined;
}

/** opm goes on without a ClusterServiceVersion, and complains of all that this lacks. */
function isFollowUp(text: string, said: readonly string[]): boolean {
  if (/^\(\) |^Error: Value : \(\) /.test(text)) return true;
  const unread = said.some((other) => UNREAD_CSV.test(other));
  return (
    unread &&
    /Provider\.Name not specified|Spec\.Version must be set|required field missing|Spec\.(?:Icon|Maintainers|Links) elements should contain/.test(
      text,
    )
  );
}

const UNREAD_CSV =
  /unrecognized type: |unable to parse quantity's suffix|^Build meta data is empty|cannot convert \w+ to \w+|cannot restore \w+ from|Go struct field ObjectMeta|quantities must match|Short version cannot|cannot unmarshal \w+(?: \S+)? into Go|^Prerelease is empty|^Numeric PreRelease|^Invalid character\(s\) found|^No Major\.Minor\.Patch|^strconv\.ParseUint: /;

/** The row of docs/bundle-differences.md that tells why a finding has no match among the tools' messages. */
function rowOfFinding({ rule, message, location }: Finding, bundle: Inspected): string | undefined {
  if (rule === 'csv/type' && /at most 20 characters, found ".{21,}"$/.test(message)) return 'release-length';
  if (rule === 'csv/type' && /spec\.(?:release|version) must be .* found null$/.test(message))
    return 'null-version';
  if (rule === 'csv/type' && /a whole number of \d+ bits, found number$/.test(message))
    return 'integer-range';
  if (rule === 'manifest/metadata' && message.endsWith('metadata.name is missing'))
    return hasNameInOtherCase(location.file, bundle) ? 'key-case' : undefined;
  if (rule === 'crd/duplicate' && message.endsWith(' twice')) return 'later-documents';
  if (rule === 'manifest/kind' && isInLaterDocument(location, bundle)) return 'later-documents';
  const { metadata } = bundle.files;
  // opm goes on with a later file.
  if (rule === 'annotations/text' && metadata.length > 1) return 'half-read-annotations';
  if (/^annotations\/(?:missing|unreadable)$/.test(rule) && metadata.some(hasInfinity)) return 'infinity';
  return ROWS[rule];
}

function hasInfinity({ bytes }: ManifestFile): boolean {
  return /: [-+]?\.(?:inf|nan)\s*$/im.test(new TextDecoder().decode(bytes));
}

/** Whether a place is behind the first document of its file. */
function isInLaterDocument({ file, line }: Finding['location'], { manifests }: Inspected): boolean {
  const [, second] = manifests.find(({ path }) => path === file)?.documents ?? [];
  return second?.kind === 'value' && line >= second.document.line;
}

/** Whether the object of a file has a name if `metadata` and `name` count in any case. */
function hasNameInOtherCase(file: string, { objects }: Inspected): boolean {
  const value = objects.find(({ document }) => document.file === file)?.value;
  const metadata = value && foldedMember(value, 'metadata');
  const name = isObject(metadata) ? foldedMember(metadata, 'name') : undefined;
  return typeof name === 'string' && name !== '';
}

/** Errors of ours that no tool has reason for. What follows from a bundle that cannot be loaded is not looked at. */
function addedErrors(
  recorded: Recorded,
  said: readonly string[],
  findings: readonly Finding[],
  bundle: Inspected,
): Difference[] {
  if (recorded.load.error) return [];
  // A tool that crashed did not say what is wrong.
  const panicked = said.some((text) => text.startsWith('panic: '));
  return findings
    .filter(({ severity, rule }) => severity === 'error' && !OURS.has(rule) && isAsked(rule, recorded))
    .filter(
      ({ rule }) =>
        !said.some((text) =>
          TEXTS.find(([pattern]) => pattern.test(text))
            ?.slice(1)
            .includes(rule),
        ),
    )
    .map((finding) => ({
      text: `too much: ${finding.rule}: ${finding.message}`,
      row: rowOfFinding(finding, bundle) ?? (panicked ? 'panic' : undefined),
    }));
}

/** Whether the tool that a rule follows was asked when the case was recorded. */
function isAsked(rule: string, { scorecard, olmv0webhooks, olmv1 }: Recorded): boolean {
  if (rule.startsWith('scorecard/')) return scorecard !== undefined;
  if (rule.startsWith('olmv1/')) return olmv1 !== undefined;
  return !rule.startsWith('webhook/') || olmv0webhooks !== undefined || olmv1 !== undefined;
}

interface Said {
  readonly errors?: readonly { detail: string }[];
  readonly warnings?: readonly { detail: string }[];
  readonly panic?: string;
}

export interface Recorded {
  readonly load: { readonly error: string | null };
  readonly api?: Readonly<Record<string, readonly Said[] | Said>>;
  readonly ocp?: readonly Said[] | Said;
  readonly olmv0webhooks?: readonly {
    type: string;
    rules: string | null;
    repeatedName?: boolean;
    singleton?: boolean;
  }[];
  readonly opmValidate?: Readonly<Record<string, Readonly<Record<string, readonly unknown[] | string>>>>;
  readonly sdk?: Readonly<
    Record<
      string,
      { passed?: boolean; outputs?: readonly { message: string }[]; error?: string; panic?: string }
    >
  >;
  readonly olmv1?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly scorecard?: Readonly<
    Record<string, { errors?: readonly string[]; suggestions?: readonly string[]; error?: string } | string>
  >;
}

/** A message and the tool whose code makes it. */
interface Message {
  readonly tool: Tool;
  readonly text: string;
}

/** Every error and warning of every tool, one text each. */
function saidIn(recorded: Recorded): Message[] {
  const { load, api = {}, ocp = [], opmValidate = {}, sdk = {} } = recorded;
  const by: readonly (readonly [Tool, readonly string[]])[] = [
    ['api', [...loadTexts(load.error), ...Object.values(api).flatMap(details)]],
    ['other', [...details(ocp), ...webhookTexts(recorded)]],
    [
      'opm',
      Object.values(opmValidate).flatMap((parts) =>
        Object.values(parts).flatMap((texts) =>
          [texts]
            .flat()
            .map((text) => bare(typeof text === 'string' ? text : `panic: ${JSON.stringify(text)}`)),
        ),
      ),
    ],
    [
      'sdk',
      Object.values(sdk).flatMap(({ outputs = [], error = null, panic }) => [
        ...outputs.flatMap(({ message }) => formatTexts(bare(message))),
        ...loadTexts(error),
        ...(panic === undefined ? [] : [`panic: ${panic}`]),
      ]),
    ],
    ['other', [...olmv1Texts(recorded), ...scorecardTexts(recorded)]],
  ];
  return by.flatMap(([tool, texts]) => texts.map((text) => ({ tool, text })));
}

function details(results: readonly Said[] | Said): string[] {
  return [results]
    .flat()
    .flatMap(({ errors = [], warnings = [], panic }) => [
      ...(panic === undefined ? [] : [`panic: ${panic}`]),
      ...[...errors, ...warnings].map(({ detail }) => detail),
    ]);
}

function loadTexts(error: string | null): string[] {
  if (error === null) return [];
  return error
    .replace(/^\[(.*)\]$/s, '$1')
    .split(/, (?=no bundle csv found|unable to )/)
    .filter((text) => !/^no bundle csv found|^unable to load bundle from directory/.test(text));
}

/** A message without what comes before its detail. */
function bare(message: string): string {
  const text = message.replace(
    /^(?:Error|Warning): (?:Field [^,:]*(?:, Value [\s\S]*?)?: |Value [\s\S]*?: |: )?/,
    '',
  );
  const field = /^(?:Error|Warning): Field ([^,:\s]+)/.exec(message)?.[1];
  // Of fields of definitions, the value may hold anything: the field is enough.
  return field !== undefined && /^(?:spec|metadata)\b/.test(field) ? `${field}: ${message}` : text;
}

/** opm and operator-sdk put all that is wrong with the format into one line. */
function formatTexts(message: string): string[] {
  const [, list] = /Bundle validation errors: (.*)$/s.exec(message) ?? [];
  return list === undefined ? [message] : list.split(/,(?=[A-Z]|couldn't)/);
}

function webhookTexts({ olmv0webhooks = [] }: Recorded): string[] {
  return olmv0webhooks.flatMap(({ type, rules, repeatedName, singleton }) => [
    ...(rules === null ? [] : [rules]),
    ...(repeatedName ? ['repeated webhook name'] : []),
    ...(type === 'ConversionWebhook' && singleton === false
      ? ['conversion webhook is not for AllNamespaces alone']
      : []),
  ]);
}

function olmv1Texts({ olmv1 = {} }: Recorded): string[] {
  return ['loadError', 'validation', 'dependency', 'installDefault', 'installNoWebhook', 'installSingleOwn']
    .flatMap((key) => [olmv1[key] ?? []].flat())
    .flatMap((text) => text.split('\n'))
    .filter((text) => text !== '');
}

function scorecardTexts({ scorecard = {} }: Recorded): string[] {
  return Object.values(scorecard).flatMap((result) => {
    if (typeof result === 'string') return [result];
    const { errors = [], suggestions = [], error = null } = result;
    // What the CRDs lack are suggestions of a test that fails.
    const lacking = suggestions.filter((text) => text.startsWith('Add CRD validation for'));
    return [...errors, ...lacking, ...loadTexts(error)];
  });
}

function optionsOf(root: string): InspectOptions {
  const file = join(root, 'options.json');
  const options: Readonly<Record<string, string>> = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : {};
  const categories = join(root, 'categories.json');
  const images = join(root, 'images.json');
  const index = options['index-path'];
  return {
    gzipLength: (bytes) => gzipSync(bytes).length,
    ...(options['k8s-version'] === undefined ? {} : { kubernetesVersion: options['k8s-version'] }),
    ...(existsSync(categories) ? { categories: readFileSync(categories, 'utf8') } : {}),
    ...(options['multiarch'] && existsSync(images) ? { platforms: platformsIn(images) } : {}),
    ...(index === undefined ? {} : { dockerfile: dockerfileAt(join(root, index), index) }),
  };
}

function dockerfileAt(file: string, path: string): { path: string; text?: string } {
  return statSync(file, { throwIfNoEntry: false })?.isFile()
    ? { path, text: readFileSync(file, 'utf8') }
    : { path };
}

function platformsIn(file: string): Map<string, readonly string[]> {
  const images: Readonly<Record<string, readonly { os: string; architecture: string }[]>> = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  return new Map(
    Object.entries(images).map(([image, platforms]) => [
      image,
      platforms.map(({ os, architecture }) => `${os}/${architecture}`),
    ]),
  );
}
