/**
 * What an upgrade from one bundle to another requires of whoever approves it: permissions, CRDs and what they mean for existing
 * objects, images, webhooks, install modes, and APIs that are dropped or deprecated.
 */

import { type Inspected, list, member, text, texts } from '../bundle/inspect.ts';
import { safeChange } from '../crd/advice.ts';
import { type Crd, readCrd } from '../crd/crd.ts';
import { type UnsafeChange, unsafeChanges } from '../crd/safety.ts';
import { compareText } from '../go/text.ts';
import { namedImages } from '../references/csv.ts';
import { addedGrants, type Grant } from './foresight/access.ts';
import { type CsvFacts, manifestPart } from './manifests.ts';

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
  readonly sections: readonly ReviewSection[];
}

/** One side of an upgrade. */
interface Side {
  readonly bundle: Inspected;
  readonly facts: CsvFacts | undefined;
  readonly crds: readonly Crd[];
}

/** Compares two bundles. */
export function reviewUpgrade(before: Inspected, after: Inspected): UpgradeReview {
  const [was, is] = [sideOf(before), sideOf(after)];
  return {
    package: after.package || before.package,
    from: before.csv?.name ?? '',
    to: after.csv?.name ?? '',
    sections: [
      { title: 'Permissions', ...permissionItems(was, is) },
      { title: 'Custom resources', items: crdItems(was, is) },
      { title: 'Dropped and deprecated APIs', items: apiItems(was, is) },
      { title: 'Webhooks', items: webhookItems(was, is) },
      { title: 'Install modes and Kubernetes', items: modeItems(was, is) },
      { title: 'Images', items: imageItems(was, is) },
    ],
  };
}

function sideOf(bundle: Inspected): Side {
  const facts = bundle.csv && manifestPart(bundle.csv.object.value).csv;
  return { bundle, facts, crds: bundle.crds.flatMap(({ value }) => readCrd(value) ?? []) };
}

function permissionItems(was: Side, is: Side): Pick<ReviewSection, 'items' | 'unknown'> {
  const [before, after] = [was.facts?.permissions, is.facts?.permissions];
  if (!before || !after)
    return { items: [], unknown: 'a bundle has no ClusterServiceVersion with permissions' };
  const { grants: added, whole } = addedGrants(before, after);
  const { grants: removed } = addedGrants(after, before);
  const items = [
    ...added.map(
      (grant): ReviewItem => ({ weight: 'act', text: `new: ${grantText(grant)}`, means: reach(grant) }),
    ),
    ...removed.map(
      (grant): ReviewItem => ({ weight: 'know', text: `gone: ${grantText(grant)}`, means: reach(grant) }),
    ),
  ];
  return whole ? { items } : { items, unknown: 'there are too many permissions to compare all' };
}

function grantText({ on, verbs }: Grant): string {
  return `${on} (${verbs.join(' ')})`;
}

function reach({ wide }: Grant): string {
  return wide ? 'in all namespaces' : 'in the namespaces that the operator watches';
}

function crdItems(was: Side, is: Side): ReviewItem[] {
  const names = [...new Set([...was.crds, ...is.crds].map(({ name }) => name))].sort(compareText);
  return names.flatMap((name) => {
    const [before, after] = [was, is].map(({ crds }) => crds.find((crd) => crd.name === name));
    if (!before)
      return [{ weight: 'know' as const, text: `${name}: new`, means: `versions ${versionsIn(after)}` }];
    if (!after) {
      const means =
        'the operator no longer handles its objects; OLM v0 keeps the CRD, OLM v1 deletes it with all objects';
      return [{ weight: 'act' as const, text: `${name}: no longer part of the bundle`, means }];
    }
    const unsafe = eachField(unsafeChanges(before, after));
    if (unsafe.length > 0) return [unsafeItem(name, unsafe)];
    const isSame = JSON.stringify(before.versions) === JSON.stringify(after.versions);
    return isSame
      ? []
      : [
          {
            weight: 'know',
            text: `${name}: changed`,
            means: 'OLM v1 finds no change that may break existing objects',
          },
        ];
  });
}

function unsafeItem(name: string, changes: readonly UnsafeChange[]): ReviewItem {
  const [first, ...others] = changes;
  const many = `${changes.length} changes that may break existing objects`;
  return {
    weight: 'act',
    text: `${name}: ${others.length === 0 ? (first?.text ?? '') : many}`,
    means: `OLM v1 refuses the upgrade; ${first && others.length === 0 ? safeChange(first) : 'compare the objects on the cluster with the new schema first'}`,
    ...(others.length === 0 ? {} : { details: changes.map(({ text: line }) => line) }),
  };
}

/** One change for each field: of one that is removed, the type is gone as well. */
function eachField(changes: readonly UnsafeChange[]): UnsafeChange[] {
  const removed = new Set(
    changes.flatMap(({ check, version, field }) =>
      check === 'existingFieldRemoval' ? [`${version} ${field}`] : [],
    ),
  );
  return changes.filter(
    ({ check, version, field }) => check === 'existingFieldRemoval' || !removed.has(`${version} ${field}`),
  );
}

function versionsIn(crd: Crd | undefined): string {
  return crd?.versions.map(({ name }) => name).join(', ') ?? '';
}

function apiItems(was: Side, is: Side): ReviewItem[] {
  const dropped = was.crds.flatMap((crd) => {
    const after = is.crds.find(({ name }) => name === crd.name);
    const served = new Set(after?.versions.flatMap((one) => (one.served ? [one.name] : [])));
    return crd.versions.flatMap(({ name, served: wasServed }): ReviewItem[] =>
      after && wasServed && !served.has(name)
        ? [
            {
              weight: 'act',
              text: `${crd.name}: ${name} is no longer served`,
              means: `change manifests and clients to ${[...served].join(' or ')} first`,
            },
          ]
        : [],
    );
  });
  const before = new Set(deprecatedIn(was.bundle));
  const deprecated = deprecatedIn(is.bundle).filter((one) => !before.has(one));
  return [
    ...dropped,
    ...deprecated.map(
      (one): ReviewItem => ({
        weight: 'know',
        text: `${one} is deprecated`,
        means: 'plan the move to a newer version',
      }),
    ),
    ...servicesIn(was).flatMap((name): ReviewItem[] =>
      servicesIn(is).includes(name)
        ? []
        : [{ weight: 'act', text: `API service ${name}: gone`, means: 'clients of this API fail' }],
    ),
  ];
}

function servicesIn({ facts }: Side): readonly string[] {
  return facts?.ownedApiServices ?? [];
}

function deprecatedIn({ crds }: Inspected): string[] {
  return crds.flatMap(({ value, name }) =>
    list(member(value, 'spec'), 'versions').flatMap((version) =>
      version['deprecated'] === true ? [`${name} ${text(version, 'name')}`] : [],
    ),
  );
}

interface Webhook {
  readonly name: string;
  readonly type: string;
  readonly policy: string;
  readonly rules: string;
}

function webhooksIn({ csv }: Inspected): Webhook[] {
  return list(csv?.spec, 'webhookdefinitions').map((one) => ({
    name: text(one, 'generateName'),
    type: text(one, 'type'),
    policy: text(one, 'failurePolicy') || 'Fail',
    rules: list(one, 'rules')
      .map((rule) => `${texts(rule, 'resources').join(' ')} (${texts(rule, 'operations').join(' ')})`)
      .join(', '),
  }));
}

function webhookItems(was: Side, is: Side): ReviewItem[] {
  const before = new Map(webhooksIn(was.bundle).map((one) => [one.name, one]));
  const after = new Map(webhooksIn(is.bundle).map((one) => [one.name, one]));
  const changed = [...after.values()].flatMap((one): ReviewItem[] => {
    const old = before.get(one.name);
    const about = `${one.name} (${one.type}): `;
    const fails =
      one.type === 'ConversionWebhook'
        ? 'objects cannot be read while it is down'
        : `${one.rules}${one.policy === 'Fail' ? '; requests fail while it is down' : ''}`;
    if (!old) return [{ weight: 'act', text: `${about}new`, means: fails }];
    return JSON.stringify(old) === JSON.stringify(one)
      ? []
      : [{ weight: 'act', text: `${about}changed`, means: fails }];
  });
  const gone = [...before.values()].filter(({ name }) => !after.has(name));
  return [
    ...changed,
    ...gone.map((one): ReviewItem => ({ weight: 'know', text: `${one.name} (${one.type}): gone` })),
  ];
}

function modeItems(was: Side, is: Side): ReviewItem[] {
  const [before, after] = [was, is].map(({ facts }) => facts?.installModes ?? new Set<string>());
  const gone = [...(before ?? [])].filter((mode) => !after?.has(mode));
  const added = [...(after ?? [])].filter((mode) => !before?.has(mode));
  const [oldest, newest] = [was, is].map(({ facts }) => facts?.minKubeVersion ?? '');
  const means = 'OLM v0 does not upgrade operators whose OperatorGroup needs it';
  return [
    ...gone.map((mode): ReviewItem => ({ weight: 'act', text: `${mode} is no longer supported`, means })),
    ...added.map((mode): ReviewItem => ({ weight: 'know', text: `${mode} is supported now` })),
    ...(oldest === newest
      ? []
      : [
          {
            weight: 'act' as const,
            text: `Kubernetes: at least ${newest || 'any version'}, before ${oldest || 'any version'}`,
          },
        ]),
  ];
}

function imageItems(was: Side, is: Side): ReviewItem[] {
  const [before, after] = [was, is].map(({ bundle }) => imagesIn(bundle));
  const named = (images: ReadonlySet<string>, others: ReadonlySet<string>, what: string): ReviewItem[] =>
    [...images]
      .filter((image) => !others.has(image))
      .map((image) => ({ weight: 'know', text: `${what}: ${image}` }));
  if (!before || !after) return [];
  return [...named(after, before, 'new'), ...named(before, after, 'gone')];
}

function imagesIn({ csv }: Inspected): ReadonlySet<string> {
  return new Set(csv ? namedImages(csv.object.value).map(({ image }) => image) : []);
}
