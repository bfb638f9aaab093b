// What Portolan makes of a command line of `oc adm catalog mirror` or oc-mirror, with the
// catalogs of the case in place of the images.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { load } from '../../catalog/fbc/load.ts';
import type { Bundle } from '../../catalog/fbc/model.ts';
import {
  type CatalogSourceTemplate,
  type DocumentOptions,
  type MirrorDocuments,
  mirrorDocuments,
} from '../../catalog/mirror/documents/documents.ts';
import { type CatalogSelection, type ImageSet, readImageSet } from '../../catalog/mirror/image-set.ts';
import { type CatalogImages, catalogImages, imagesOf } from '../../catalog/mirror/images.ts';
import { InvalidOption } from '../../catalog/mirror/invalid-option.ts';
import { type Mapping, mappingText } from '../../catalog/mirror/mapping.ts';
import { imageSetRequest, type MirrorPlan, mappingsOf, planMirror } from '../../catalog/mirror/plan.ts';
import type { PlanRequest } from '../../catalog/mirror/plan-request.ts';
import { readObjects } from '../../catalog/mirror/read.ts';
import type { Scope } from '../../catalog/mirror/scope.ts';
import { filterImageSet } from '../../catalog/mirror/select/image-set-filter.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { CONFIGS_LABEL, chooseImage, configsDirectory } from './index-image.ts';

export interface MirrorCase {
  readonly folder: string;
  readonly command: readonly string[];
  readonly info: CaseInfo;
  /** Standard output and error of the recorded run. */
  readonly printed: string;
  /** Directories of the case's catalogs, in order. */
  readonly catalogs: readonly string[];
}

export interface CaseInfo {
  readonly index?: string | Readonly<Record<string, string>>;
  readonly index_digest?: string;
  readonly tiny?: unknown;
}

/** What ours made of it. */
export interface Run {
  readonly plan: MirrorPlan;
  readonly documents: MirrorDocuments;
  readonly mapping: string;
  readonly images: readonly CatalogImages[];
  /** Why ours ends with an error, with its plan at hand; undefined when it does not. */
  readonly refused: string | undefined;
  /** The bundles of catalogs that were loaded whole. */
  readonly bundles: readonly Bundle[];
}

/** Ours refuses: findings, or an option that cannot be followed. */
export class Refused extends Error {}

/** The case asks for something that ours does not have. */
export class NoCounterpart extends Error {}

export async function run(one: MirrorCase): Promise<Run> {
  try {
    return one.command[0] === 'oc' ? await runOc(one) : await runOcMirror(one);
  } catch (error) {
    if (error instanceof InvalidOption) throw new Refused(error.message);
    throw error;
  }
}

interface Arguments {
  readonly operands: readonly string[];
  readonly options: ReadonlyMap<string, string>;
}

const FLAGS = new Set([
  '--manifests-only',
  '--dry-run',
  '--insecure',
  '--v2',
  '--dry-run-manifest-lists',
  '--remove-signatures',
]);

export function argumentsOf(command: readonly string[]): Arguments {
  const operands: string[] = [];
  const options = new Map<string, string>();
  for (let i = 0; i < command.length; i++) {
    const word = command[i] ?? '';
    if (!word.startsWith('-')) operands.push(word);
    else if (word.includes('='))
      options.set(word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1));
    else if (FLAGS.has(word)) options.set(word, 'true');
    else options.set(word, command[++i] ?? '');
  }
  return { operands, options };
}

async function runOc(one: MirrorCase): Promise<Run> {
  const { operands, options } = argumentsOf(one.command.slice(4));
  const [reference = '', to = ''] = operands;
  const images = await Promise.all(one.catalogs.map((root) => catalogImages(directorySource(root))));
  refuseErrors(images);
  const number = (option: string): number | undefined => {
    const value = options.get(option);
    return value === undefined ? undefined : Number(value);
  };
  const [catalog] = images;
  if (!catalog) throw new NoCounterpart('there is no catalog');
  const request: PlanRequest = {
    catalogs: [{ reference, images: catalog }],
    to,
    style: 'oc',
    maxComponents: number('--max-components'),
    scope: scopeOf(options.get('--idms-scope')),
    policyScope: scopeOf(options.get('--icsp-scope')),
  };
  const made = finish(request, {
    maxBytes: number('--max-idms-size'),
    maxPolicyBytes: number('--max-icsp-size'),
  });
  lookIntoImage(one, options.get('--index-filter-by-os') ?? options.get('--filter-by-os'));
  const isStrict = options.get('--continue-on-error') === 'false' && made.plan.unplaced.length > 0;
  return { ...made, images, bundles: [], refused: isStrict ? 'references without a place' : undefined };
}

function scopeOf(text: string | undefined): Scope | undefined {
  return (text ?? 'repository') as Scope;
}

/** What the recorded run printed of the index image: its platforms where it is a list, its label. */
function lookIntoImage({ printed }: MirrorCase, pattern: string | undefined): void {
  const table = /^ +OS +DIGEST\n((?:.*sha256:.*\n)+)/m.exec(printed)?.[1] ?? '';
  const platforms = [...table.matchAll(/^ +(\S+)\/(\S+?)(?:\/(\S+))? +sha256:/gm)].map(
    ([, os = '', architecture = '', variant]) => ({ os, architecture, variant }),
  );
  if (platforms.length > 0) chooseImage(platforms, pattern);
  const label = /^src image has index label for declarative configs path: (.*)$/m.exec(printed)?.[1];
  configsDirectory(label === undefined ? {} : { [CONFIGS_LABEL]: label });
}

async function runOcMirror(one: MirrorCase): Promise<Run> {
  const { operands, options } = argumentsOf(one.command.slice(1));
  const file = join(one.folder, 'input', basename(options.get('-c') ?? ''));
  const { imageSet, findings } = readImageSet(readFileSync(file, 'utf8'), file, true);
  if (!imageSet) throw new Refused(findings.map(({ message }) => message).join('; '));
  const loaded = await Promise.all(imageSet.catalogs.map((selection, i) => selected(one, selection, i)));
  refuseErrors(loaded.map(({ images }) => images));
  const [destination = ''] = operands;
  const nested = options.get('--max-nested-paths');
  const request: PlanRequest = {
    ...imageSetRequest(imageSet, loaded),
    // Without a destination registry oc-mirror copies into its cache first.
    to: destination.startsWith('file://') ? `localhost:${options.get('-p')}` : destination,
    style: 'oc-mirror',
    maxComponents: nested === undefined ? undefined : Number(nested),
  };
  const made = finish(request, { templates: templatesOf(one, imageSet) });
  const { unplaced } = made.plan;
  return {
    ...made,
    refused: unplaced.length > 0 ? unplaced.map(({ why }) => why).join('; ') : undefined,
    images: loaded.map(({ images }) => images),
    bundles: loaded.flatMap(({ bundles }) => bundles),
  };
}

interface Selected {
  readonly digest: string;
  readonly images: CatalogImages;
  readonly bundles: readonly Bundle[];
}

async function selected(one: MirrorCase, selection: CatalogSelection, i: number): Promise<Selected> {
  const known = typeof one.info.index === 'object' ? one.info.index : {};
  const digests = Object.entries(known).filter(
    ([reference, digest]) =>
      selection.catalog === reference ||
      selection.catalog.endsWith(`@${digest}`) ||
      selection.catalog.startsWith('oci://'),
  );
  const digest = digests[0]?.[1];
  const root = one.catalogs[i];
  if (digest === undefined || root === undefined)
    // The recorded registries hold what the case's information names, and nothing else.
    throw new Refused(`there is no image ${selection.catalog}`);
  const { blobs, findings } = await load(directorySource(root));
  const filtered = filterImageSet(blobs, selection);
  const mirrored = { ...filtered.blobs, bundles: filtered.mirrored };
  return {
    digest,
    bundles: filtered.mirrored,
    images: { ...imagesOf(mirrored), findings: [...findings, ...filtered.findings] },
  };
}

function templatesOf(one: MirrorCase, imageSet: ImageSet): ReadonlyMap<string, CatalogSourceTemplate> {
  const templates = new Map<string, CatalogSourceTemplate>();
  for (const { catalog, targetCatalogSourceTemplate: path } of imageSet.catalogs) {
    const file = path === undefined ? undefined : join(one.folder, 'input', basename(path));
    if (file === undefined || !existsSync(file)) continue;
    const [object] = readObjects(readFileSync(file, 'utf8'), file).objects;
    const { metadata = {}, spec = {} } = (object?.value ?? {}) as unknown as CatalogSourceTemplate;
    const { name: _name, namespace: _namespace, ...rest } = metadata as Record<string, never>;
    templates.set(catalog, { metadata: rest, spec });
  }
  return templates;
}

function refuseErrors(images: readonly CatalogImages[]): void {
  const errors = images.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'error'));
  if (errors.length > 0) throw new Refused(errors.map(({ message }) => message).join('; '));
}

function finish(request: PlanRequest, options: DocumentOptions): Omit<Run, 'images' | 'bundles' | 'refused'> {
  const plan = planMirror(request);
  const mappings: Mapping[] = mappingsOf(plan);
  return {
    plan,
    documents: mirrorDocuments(plan, options),
    mapping: mappingText(mappings, request.style === 'oc-mirror' ? 'docker://' : ''),
  };
}

/** The catalogs of a case: its `configs*` folders, or the whole real one. */
export function catalogsOf(folder: string, real: string): string[] {
  const input = join(folder, 'input');
  if (!existsSync(input)) return [];
  if (existsSync(join(input, 'SOURCE.txt'))) return [real];
  return readdirSync(input)
    .filter((name) => name.startsWith('configs'))
    .sort()
    .map((name) => join(input, name));
}
