/**
 * What an upgrade from one bundle to another requires of whoever approves it: permissions, CRDs and what they mean for existing
 * objects, images, webhooks, install modes, and APIs that are dropped or deprecated.
 */
import type { Inspected } from '../bundle/inspect.ts';
import { type Crd, readCrd } from '../crd/crd.ts';
import { changeLines, changesBetween, isRefusedByV0, ownChanges, type UnsafeChange } from '../crd/safety.ts';
import { sameValue } from '../fbc/same-bundle.ts';
import { groupedBy } from '../go/grouped.ts';
import { compareText } from '../go/text.ts';
import { type Reference, repositoryName, tryParseReference } from '../reference.ts';
import { namedImages } from '../references/csv.ts';
import { Undecided } from '../undecided.ts';
import { compareVersions, tryParseVersion } from '../version/version.ts';
import { addedGrants, type Grant } from './foresight/access.ts';
import { type CsvFacts, manifestPart, type Webhook } from './manifests.ts';

/** What matters of a part of the upgrade: `act` for what somebody must do or accept before it. */
export type Weight = 'act' | 'know';

export interface ReviewItem {
  readonly weight: Weight;
  readonly text: string;
  /** What it means for the cluster, or what to do. */
  readonly means?: string;
  /** Each single change, where one item stands for many. */
  readonly details?: readonly string[];
}

export interface ReviewSection {
  readonly title: string;
  /** None where nothing changes. */
  readonly items: readonly ReviewItem[];
  /** Why it could not be compared. */
  readonly unknown?: string;
}

/** As JSON a public interface. */
export interface UpgradeReview {
  readonly package: string;
  readonly from: string;
  readonly to: string;
  /** How many items must be accepted or prepared for, and how many are to know. */
  readonly act: number;
  readonly know: number;
  readonly sections: readonly ReviewSection[];
}

/** A bundle as far as it is compared. */
export interface ReviewedBundle {
  readonly package: string;
  readonly name: string;
  readonly csv: CsvFacts | undefined;
  /** Undefined where they are unknown. */
  readonly crds: readonly Crd[] | undefined;
  /** APIs that it provides; asked for where the CRDs are unknown. */
  readonly apis: readonly ProvidedApi[];
  /** Images, without its own. */
  readonly images: readonly string[];
}

export interface ProvidedApi {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What a review compares of a bundle directory. */
export function reviewedFiles({ package: packageName, csv, crds }: Inspected): ReviewedBundle {
  return {
    package: packageName,
    name: csv?.name ?? '',
    csv: csv && manifestPart(csv.object.value).csv,
    crds: crds.flatMap(({ value }) => readCrd(value) ?? []),
    apis: [],
    images: csv ? namedImages(csv.object.value).map(({ image }) => image) : [],
  };
}

/** Compares two bundles: what changes for users and admins, in sections, and how many of these changes need action. */
export function reviewUpgrade(was: ReviewedBundle, is: ReviewedBundle): UpgradeReview {
  const sections: readonly ReviewSection[] = [
    { title: 'Permissions', ...permissions(was, is) },
    { title: 'Custom resources', ...customResources(was, is) },
    { title: 'Dropped and deprecated APIs', ...droppedApis(was, is) },
    { title: 'Webhooks', ...webhooks(was, is) },
    { title: 'Install modes and Kubernetes', ...installModes(was, is) },
    { title: 'Images', items: imageItems(was, is) },
  ];
  const items = sections.flatMap((section) => section.items);
  const act = items.filter(({ weight }) => weight === 'act').length;
  return {
    package: is.package || was.package,
    from: was.name,
    to: is.name,
    act,
    know: items.length - act,
    sections,
  };
}

type Compared = Pick<ReviewSection, 'items' | 'unknown'>;

/** What is known of both bundles; or why the two cannot be compared. */
function bothOf<T>(
  sides: readonly [ReviewedBundle, ReviewedBundle],
  read: (side: ReviewedBundle) => T | undefined,
): readonly [T, T] | { readonly unknown: string } {
  const [before, after] = [read(sides[0]), read(sides[1])];
  if (before !== undefined && after !== undefined) return [before, after];
  const names = sides.flatMap((side) => (read(side) === undefined ? [side.name] : []));
  return { unknown: `the manifests of ${names.join(' and ')} are not known` };
}

/** New and gone permissions, as far as both can be compared. */
function permissions(was: ReviewedBundle, is: ReviewedBundle): Compared {
  const both = bothOf([was, is], ({ csv }) => csv?.permissions);
  if ('unknown' in both) return { items: [], ...both };
  const { grants: added, isComplete: areAddedAll } = addedGrants(...both);
  const { grants: removed, isComplete: areRemovedAll } = addedGrants(both[1], both[0]);
  const items = [
    ...groupedGrants(added).map(
      (grants): ReviewItem => ({
        weight: 'act',
        text: `new: ${grantText(grants)}`,
        means: reachText(grants[0]),
      }),
    ),
    ...groupedGrants(removed).map(
      (grants): ReviewItem => ({
        weight: 'know',
        text: `gone: ${grantText(grants)}`,
        means: reachText(grants[0]),
      }),
    ),
  ];
  return areAddedAll && areRemovedAll
    ? { items }
    : { items, unknown: 'there are too many permissions to compare all' };
}

/** Grants that differ only in the name of the object, together. */
function groupedGrants(grants: readonly Grant[]): Grant[][] {
  return [...groupedBy(grants, ({ wide, on, verbs }) => JSON.stringify([wide, kindOf(on), verbs])).values()];
}

/** Names of objects that one item lists. */
const NAMED = 5;

/** Grants that differ only in the name of the object, as one text. */
function grantText(grants: readonly Grant[]): string {
  const [{ on = '', verbs = [] } = {}] = grants;
  const names = grants.map((grant) => grant.on.slice(kindOf(grant.on).length));
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${kindOf(on)}${names.slice(0, NAMED).join(',')}${more} (${verbs.join(' ')})`;
}

/** The kind of objects in a grant, without the name that may follow. */
function kindOf(on: string): string {
  const name = on.indexOf(' "');
  return name < 0 ? on : on.slice(0, name);
}

function reachText(grant: Grant | undefined): string {
  return grant?.wide ? 'in all namespaces' : 'in the namespaces that the operator watches';
}

const DROPPED =
  'the operator no longer handles its objects; OLM v0 keeps the CRD, OLM v1 deletes it with all objects';
const DISOWNED =
  'the operator no longer handles its objects; if the CRD is gone, too, OLM v1 deletes it with all objects';

/** New, dropped and changed CRDs. Without the CRDs themselves, only new and dropped ones are known. */
function customResources(was: ReviewedBundle, is: ReviewedBundle): Compared {
  const crds = bothOf([was, is], (side) => side.crds);
  if (!('unknown' in crds)) return itemsOrReason(() => crdItems(...crds));
  // Without the CRDs, the names of the owned ones are still known.
  const owned = bothOf([was, is], ({ csv }) => csv && new Set(csv.ownedCrds));
  if ('unknown' in owned) return { items: [], ...owned };
  return {
    items: [
      ...namesNotIn(owned[1], owned[0]).map((name) => newCrd(name)),
      ...namesNotIn(owned[0], owned[1]).map(
        (name): ReviewItem => ({ weight: 'act', text: `${name}: no longer owned`, means: DISOWNED }),
      ),
    ],
    ...crds,
  };
}

/** Items; or why they cannot be told. */
function itemsOrReason(items: () => readonly ReviewItem[]): Compared {
  try {
    return { items: items() };
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
    return { items: [], unknown: `${error.what}: ${error.why}` };
  }
}

/** What the first has and the other has not, sorted. */
function namesNotIn(all: Iterable<string>, others: ReadonlySet<string>): string[] {
  return [...new Set(all)].filter((one) => !others.has(one)).sort(compareText);
}

function newCrd(name: string, means?: string): ReviewItem {
  return { weight: 'know', text: `${name}: new`, ...(means === undefined ? {} : { means }) };
}

function droppedCrd(name: string): ReviewItem {
  return { weight: 'act', text: `${name}: no longer part of the bundle`, means: DROPPED };
}

/** Items about new, dropped and unsafely changed CRDs; one item names all others that changed. */
function crdItems(was: readonly Crd[], is: readonly Crd[]): ReviewItem[] {
  const names = [...new Set([...was, ...is].map(({ name }) => name))].sort(compareText);
  const safe: string[] = [];
  const items = names.flatMap((name): ReviewItem[] => {
    const [before, after] = [was, is].map((crds) => crds.find((crd) => crd.name === name));
    if (!before) return [newCrd(name, `versions ${after?.versions.map((one) => one.name).join(', ')}`)];
    if (!after) return [droppedCrd(name)];
    const unsafe = ownChanges(changesBetween(before, after));
    if (unsafe.length > 0) return [unsafeItem(name, unsafe)];
    if (!sameValue(before.versions, after.versions)) safe.push(name);
    return [];
  });
  return safe.length === 0 ? items : [...items, safeItem(safe)];
}

/** All CRDs of which no change harms objects, as one item. */
function safeItem(names: readonly string[]): ReviewItem {
  const means = 'OLM v1 finds no change that may break existing objects';
  return names.length === 1
    ? { weight: 'know', text: `${names[0]}: changed`, means }
    : { weight: 'know', text: `${names.length} CRDs: changed`, means, details: names };
}

/** The item of a review about unsafe changes of a CRD; several are listed below a line that counts them. */
function unsafeItem(name: string, changes: readonly UnsafeChange[]): ReviewItem {
  const lines = changeLines(changes);
  const [only, ...others] = lines;
  const many = `${changes.length} changes that may break existing objects`;
  return {
    weight: 'act',
    text: `${name}: ${others.length === 0 ? only : many}`,
    means: changes.some(isRefusedByV0)
      ? 'OLM v0 and OLM v1 refuse the upgrade'
      : 'OLM v1 refuses the upgrade, OLM v0 does not: compare the objects on the cluster with the new schema',
    ...(others.length === 0 ? {} : { details: lines }),
  };
}

/** Versions of CRDs and API services that are no longer served, or that are deprecated now. */
function droppedApis(was: ReviewedBundle, is: ReviewedBundle): Compared {
  const crds = bothOf([was, is], (side) => side.crds);
  const services = bothOf([was, is], ({ csv }) => csv && new Set(csv.ownedApiServices));
  const ofServices =
    'unknown' in services
      ? []
      : namesNotIn(...services).map(
          (name): ReviewItem => ({
            weight: 'act',
            text: `API service ${name}: gone`,
            means: 'clients of this API fail',
          }),
        );
  if (!('unknown' in crds)) return { items: [...versionItems(...crds), ...ofServices] };
  return { items: [...versionsOfApis(was, is), ...ofServices], ...crds };
}

/**
 * Versions of APIs that are no longer provided. Where the owned CRDs are known, a kind without any version left is not
 * listed: the section about custom resources reports its CRD.
 */
function versionsOfApis(was: ReviewedBundle, is: ReviewedBundle): ReviewItem[] {
  const crds = bothOf([was, is], ({ csv }) => csv?.ownedCrds);
  const kinds = new Set(is.apis.map(({ group, kind }) => `${kind} (${group})`));
  const apis =
    'unknown' in crds ? was.apis : was.apis.filter(({ group, kind }) => kinds.has(`${kind} (${group})`));
  const text = ({ group, version, kind }: ProvidedApi): string => `${kind} (${group}/${version})`;
  return namesNotIn(apis.map(text), new Set(is.apis.map(text))).map((api) => ({
    weight: 'act',
    text: `${api}: no longer provided`,
    means: CLIENTS,
  }));
}

const CLIENTS = 'change manifests and clients to another version first';

/** Versions of CRDs that are no longer served, or that are deprecated now. */
function versionItems(was: readonly Crd[], is: readonly Crd[]): ReviewItem[] {
  const dropped = was.flatMap((crd) => {
    const after = is.find(({ name }) => name === crd.name);
    const served = new Set(after?.versions.flatMap((one) => (one.served ? [one.name] : [])));
    // Before the upgrade, clients can only move to a version that the cluster serves already.
    const common = crd.versions.filter((one) => one.served && served.has(one.name)).map(({ name }) => name);
    const means =
      common.length > 0
        ? `change manifests and clients to ${common.join(' or ')} first`
        : 'no version is served before and after: change manifests and clients together with the upgrade';
    return crd.versions.flatMap(({ name, served: wasServed }): ReviewItem[] =>
      after && wasServed && !served.has(name)
        ? [{ weight: 'act', text: `${crd.name}: ${name} is no longer served`, means }]
        : [],
    );
  });
  const deprecated = namesNotIn(deprecatedIn(is), new Set(deprecatedIn(was)));
  const means = 'plan the move to a newer version';
  return [
    ...dropped,
    ...deprecated.map((one): ReviewItem => ({ weight: 'know', text: `${one} is deprecated`, means })),
  ];
}

function deprecatedIn(crds: readonly Crd[]): string[] {
  return crds.flatMap(({ name, versions }) =>
    versions.flatMap((version) => (version.deprecated ? [`${name} ${version.name}`] : [])),
  );
}

/** New, changed and removed webhooks. */
function webhooks(was: ReviewedBundle, is: ReviewedBundle): Compared {
  const both = bothOf([was, is], ({ csv }) => csv?.webhooks);
  if ('unknown' in both) return { items: [], ...both };
  // Several webhooks may have one name: OLM makes the names of objects from it.
  const nameOf = ({ name, type }: Webhook): string => `${name} (${type})`;
  const [before, after] = [groupedBy(both[0], nameOf), groupedBy(both[1], nameOf)];
  const changed = [...after].flatMap(([name, now]): ReviewItem[] => {
    const old = before.get(name);
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    const means = [...new Set(now.map(consequence))].join('; ');
    return [{ weight: 'act', text: `${name}: ${old ? 'changed' : 'new'}`, means }];
  });
  const gone = [...before.keys()].filter((name) => !after.has(name));
  return {
    items: [...changed, ...gone.map((name): ReviewItem => ({ weight: 'know', text: `${name}: gone` }))],
  };
}

/** What it means for requests to the cluster. */
function consequence({ type, failurePolicy, rules }: Webhook): string {
  if (type === 'ConversionWebhook') return 'objects cannot be read while it is down';
  return `${rules.join(', ')}${failurePolicy === 'Fail' ? '; requests fail while it is down' : ''}`;
}

/** Changes of install modes, and of the lowest version of Kubernetes. */
function installModes(was: ReviewedBundle, is: ReviewedBundle): Compared {
  const both = bothOf([was, is], ({ csv }) => csv);
  if ('unknown' in both) return { items: [], ...both };
  const none: ReadonlySet<string> = new Set();
  const [before, after] = [both[0].installModes ?? none, both[1].installModes ?? none];
  const [oldest, newest] = [both[0].minKubeVersion, both[1].minKubeVersion];
  const means = 'OLM v0 does not upgrade operators whose OperatorGroup needs it';
  return {
    items: [
      ...namesNotIn(before, after).map(
        (mode): ReviewItem => ({ weight: 'act', text: `${mode} is no longer supported`, means }),
      ),
      ...namesNotIn(after, before).map(
        (mode): ReviewItem => ({ weight: 'know', text: `${mode} is supported now` }),
      ),
      ...(oldest === newest ? [] : [kubernetesItem(oldest, newest)]),
    ],
  };
}

/** The item about another lowest version of Kubernetes. Only clusters below a raised one are kept from the upgrade. */
function kubernetesItem(oldest: string, newest: string): ReviewItem {
  const [was, is] = [oldest, newest].map(tryParseVersion);
  const isLowered = newest === '' || (was && is && compareVersions(is, was) <= 0) === true;
  const text = (least: string): string => (least === '' ? 'any version' : `at least ${least}`);
  return {
    weight: isLowered ? 'know' : 'act',
    text: `Kubernetes: ${text(newest)}, before ${text(oldest)}`,
  };
}

/** An image by its repository; what is not a reference stands for itself. */
interface ImageByRepository {
  readonly image: string;
  readonly reference: Reference | undefined;
}

/** New registries, and new, updated and removed images. */
function imageItems(was: ReviewedBundle, is: ReviewedBundle): ReviewItem[] {
  const [before, after] = [was, is].map(({ images }) => new Set(images));
  if (!before || !after) return [];
  const registries = registriesIn(before);
  const gone = groupedBy(namesNotIn(before, after).map(imageByRepository), repositoryOf);
  const added = groupedBy(namesNotIn(after, before).map(imageByRepository), repositoryOf);
  const foreign = namesNotIn(registriesIn(after), registries);
  return [
    ...foreign.map(
      (registry): ReviewItem => ({
        weight: 'act',
        text: `new registry: ${registry}`,
        means: 'clusters must be able to pull from it, or from a mirror of it',
      }),
    ),
    ...[...added].map(([repository, images]): ReviewItem => {
      const old = gone.get(repository);
      return old
        ? { weight: 'know', text: `${repository}: ${shortTags(old)} → ${shortTags(images)}` }
        : { weight: 'know', text: `new: ${imagesText(repository, images)}` };
    }),
    ...[...gone].flatMap(([repository, images]): ReviewItem[] =>
      added.has(repository) ? [] : [{ weight: 'know', text: `gone: ${imagesText(repository, images)}` }],
    ),
  ];
}

/** The image, or several of one repository in short. */
function imagesText(repository: string, images: readonly ImageByRepository[]): string {
  const [only, ...others] = images;
  return only && others.length === 0 ? only.image : `${repository}: ${shortTags(images)}`;
}

function imageByRepository(image: string): ImageByRepository {
  return { image, reference: referenceIn(image) };
}

/** Some operators name images with the scheme that they fetch them by. */
function referenceIn(image: string): Reference | undefined {
  return tryParseReference(image.replace(/^oci:\/\//, ''));
}

function repositoryOf({ image, reference }: ImageByRepository): string {
  return reference ? repositoryName(reference) : image;
}

function registriesIn(images: Iterable<string>): Set<string> {
  return new Set([...images].flatMap((image) => referenceIn(image)?.registry ?? []));
}

/** Characters of a digest that tell it apart. */
const SHORT_DIGEST = 'sha256:'.length + 12;

/** Images by their tags or the beginnings of their digests, as their repositories are said elsewhere. */
function shortTags(images: readonly ImageByRepository[]): string {
  return images
    .map(({ image, reference }) => {
      if (!reference) return image;
      return reference.kind === 'tag' ? reference.tag : reference.digest.slice(0, SHORT_DIGEST);
    })
    .join(', ');
}
