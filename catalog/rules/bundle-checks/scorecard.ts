/** The checks of operator-sdk's scorecard that need no cluster. */

import {
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import { kindOf } from '../../bundle/manifest.ts';
import type { Location } from '../../finding.ts';
import { groupedBy } from '../../go/grouped.ts';
import { tryReadJson } from '../../go/json.ts';
import { onceFor } from '../../go/once.ts';
import { isObject } from '../../go/shape.ts';
import type { Report } from '../rule.ts';
import { called, ofCsv } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

export const checkOwnedResources: Check = ofCsv((csv, report) => {
  const owned = memberObjects(csv.spec, 'customresourcedefinitions', 'owned');
  for (const [i, crd] of owned.entries()) {
    if (memberObjects(crd, 'resources').length > 0) continue;
    const message = `${called(csv)}: the owned CRD ${JSON.stringify(memberText(crd, 'name'))} lists no resources`;
    report(message, csv.at('spec', 'customresourcedefinitions', 'owned', i), {
      hint: 'resources: [{kind: Deployment, name: "", version: apps/v1}]',
    });
  }
});

interface Example {
  readonly value: Fields;
  /** The owned CRD that it is an example of, with its position. */
  readonly owned: { readonly crd: Fields; readonly index: number } | undefined;
}

function examplesOf(csv: TypedCsv): Example[] {
  const owned = memberObjects(csv.spec, 'customresourcedefinitions', 'owned');
  return parsedExamples(csv.annotations['alm-examples'] ?? '').map((value) => {
    const kind = kindOf(value);
    // Like scorecard, which does not compare groups.
    const index = owned.findIndex(
      (crd) => memberText(crd, 'kind') === kind?.kind && memberText(crd, 'version') === kind.version,
    );
    const crd = owned[index];
    return { value, owned: crd && { crd, index } };
  });
}

/** The rule for examples reports those that cannot be read. */
function parsedExamples(json: string): Fields[] {
  const value = tryReadJson(json);
  return Array.isArray(value) && value.every((item) => isObject(item) && kindOf(item)) ? value : [];
}

function where({ value }: Example): string {
  return `${memberText(value, 'kind')} of ${memberText(value, 'apiVersion')}`;
}

export const checkSpecDescriptors: Check = ofCsv((csv, report) => {
  for (const example of examplesOf(csv)) {
    if ((example.value['spec'] ?? null) === null) {
      report(`${called(csv)}: the example of ${where(example)} has no spec`, examplesPlace(csv), {
        hint: '"spec": {}',
      });
      continue;
    }
    const { owned } = example;
    if (!owned) continue;
    const known = memberObjects(owned.crd, 'specDescriptors').map((descriptor) =>
      memberText(descriptor, 'path'),
    );
    for (const field of Object.keys(memberObject(example.value, 'spec'))) {
      if (known.includes(field)) continue;
      const message = `${called(csv)}: the field spec.${field} of ${where(example)} has no descriptor`;
      report(message, csv.at('spec', 'customresourcedefinitions', 'owned', owned.index));
    }
  }
});

export const checkStatusDescriptors: Check = ofCsv((csv, report) => {
  for (const example of examplesOf(csv)) {
    const { owned } = example;
    const fields = Object.keys(memberObject(example.value, 'status'));
    if (!owned || fields.length === 0 || memberObjects(owned.crd, 'statusDescriptors').length > 0) continue;
    const message = `${called(csv)}: the example of ${where(example)} has status.${fields.join(', status.')}, but the owned CRD has no status descriptors`;
    report(message, csv.at('spec', 'customresourcedefinitions', 'owned', owned.index));
  }
});

function examplesPlace(csv: TypedCsv): Location {
  return csv.at('metadata', 'annotations', 'alm-examples');
}

/** The schemas of CRDs for a kind and version, which scorecard compares in any case. */
function schemasFor({ crds }: Inspected, kind: string, version: string): Fields[] {
  return (ofKind(crds).get(kind.toLowerCase()) ?? [])
    .flatMap(({ value }) => {
      const common = memberObject(value, 'spec', 'validation', 'openAPIV3Schema');
      const listed = memberObjects(value, 'spec', 'versions');
      const single = memberText(memberObject(value, 'spec'), 'version');
      return (listed.length === 0 ? [{ name: single }] : listed)
        .filter((each) => isSame(memberText(each, 'name'), version))
        .map((each) => {
          const own = memberObject(each, 'schema', 'openAPIV3Schema');
          return Object.keys(own).length > 0 ? own : common;
        });
    })
    .filter((schema) => Object.keys(schema).length > 0);
}

/** CRDs by their kinds in lower case. */
const ofKind = onceFor((crds: Inspected['crds']) =>
  groupedBy(crds, ({ value }) => memberText(memberObject(value, 'spec', 'names'), 'kind').toLowerCase()),
);

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export const checkExampleFields: Check = ofCsv((csv, report, bundle) => {
  for (const example of examplesOf(csv)) {
    const kind = kindOf(example.value);
    for (const schema of kind ? schemasFor(bundle, kind.kind, kind.version) : []) {
      for (const part of ['spec', 'status']) {
        const known = memberObject(schema, 'properties', part, 'properties');
        for (const field of Object.keys(memberObject(example.value, part))) {
          if (Object.hasOwn(known, field)) continue;
          const message = `${called(csv)}: the example of ${where(example)} has ${part}.${field}, which is not in the CRD's schema`;
          report(message, examplesPlace(csv));
        }
      }
    }
  }
});
