/** What the scorecard of operator-sdk looks for without a cluster. */

import { type Fields, type Inspected, list, member, type TypedCsv, text } from '../../bundle/inspect.ts';
import { kindOf } from '../../bundle/manifest.ts';
import { isObject } from '../../go/shape.ts';
import type { Report } from '../rule.ts';
import { called, ofCsv } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

export const checkOwnedResources: Check = ofCsv((csv, report) => {
  const owned = list(csv.spec, 'customresourcedefinitions', 'owned');
  for (const [i, crd] of owned.entries()) {
    if (list(crd, 'resources').length > 0) continue;
    const message = `${called(csv)}: the owned CRD ${JSON.stringify(text(crd, 'name'))} lists no resources`;
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
  const owned = list(csv.spec, 'customresourcedefinitions', 'owned');
  return parsedExamples(csv.annotations['alm-examples'] ?? '').map((value) => {
    const kind = kindOf(value);
    const index = owned.findIndex(
      (crd) =>
        text(crd, 'kind') === kind?.kind &&
        text(crd, 'version') === kind.version &&
        text(crd, 'name').slice(text(crd, 'name').indexOf('.') + 1) === kind.group,
    );
    const crd = owned[index];
    return { value, owned: crd && { crd, index } };
  });
}

/** What cannot be read is found by the rule for examples. */
function parsedExamples(json: string): Fields[] {
  try {
    const value: unknown = JSON.parse(json === '' ? '[]' : json);
    return Array.isArray(value) ? value.filter(isObject) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function where({ value }: Example): string {
  return `${text(value, 'kind')} of ${text(value, 'apiVersion')}`;
}

/** Makes a check that each field of a part of the examples has a descriptor. */
function descriptorCheck(part: 'spec' | 'status'): Check {
  return ofCsv((csv, report) => {
    for (const example of examplesOf(csv)) {
      const { owned } = example;
      if (!owned) continue;
      const known = list(owned.crd, `${part}Descriptors`).map((descriptor) => text(descriptor, 'path'));
      for (const field of Object.keys(member(example.value, part))) {
        if (known.includes(field)) continue;
        const message = `${called(csv)}: the field ${part}.${field} of ${where(example)} has no descriptor`;
        report(message, csv.at('spec', 'customresourcedefinitions', 'owned', owned.index));
      }
    }
  });
}

export const checkSpecDescriptors: Check = descriptorCheck('spec');
export const checkStatusDescriptors: Check = descriptorCheck('status');

export const checkExampleFields: Check = ofCsv((csv, report, bundle) => {
  for (const example of examplesOf(csv)) {
    const kind = kindOf(example.value);
    const crd = bundle.crds.find(({ value }) => text(member(value, 'spec', 'names'), 'kind') === kind?.kind);
    const version = list(crd?.value, 'spec', 'versions').find((each) => text(each, 'name') === kind?.version);
    if (!version) continue;
    const known = member(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties');
    for (const field of Object.keys(member(example.value, 'spec'))) {
      if (field in known) continue;
      const message = `${called(csv)}: the example of ${where(example)} has spec.${field}, which is not in the CRD's schema`;
      report(message, csv.at('metadata', 'annotations', 'alm-examples'));
    }
  }
});
