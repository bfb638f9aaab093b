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
import { csvCheck, csvText } from '../bundle-checks/csv.ts';
import type { Report, Rule } from '../rule.ts';

type Check = (bundle: Inspected, report: Report) => void;

const checkOwnedResources: Check = csvCheck((csv, report) => {
  const owned = memberObjects(csv.spec, 'customresourcedefinitions', 'owned');
  for (const [i, crd] of owned.entries()) {
    if (memberObjects(crd, 'resources').length > 0) continue;
    const message = `${csvText(csv)}: the owned CRD ${JSON.stringify(memberText(crd, 'name'))} lists no resources`;
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

/** The examples in a ClusterServiceVersion, each with the owned CRD that it is of, if there is one. */
function examplesOf(csv: TypedCsv): Example[] {
  // Like scorecard, which does not compare groups.
  const keyOf = (kind: string, version: string): string => JSON.stringify([kind, version]);
  const owned = groupedBy(
    memberObjects(csv.spec, 'customresourcedefinitions', 'owned').map((crd, index) => ({ crd, index })),
    ({ crd }) => keyOf(memberText(crd, 'kind'), memberText(crd, 'version')),
  );
  return parsedExamples(csv.annotations['alm-examples'] ?? '').map((value) => {
    const kind = kindOf(value);
    return { value, owned: kind && owned.get(keyOf(kind.kind, kind.version))?.[0] };
  });
}

/** The rule for examples reports those that cannot be read. */
function parsedExamples(json: string): Fields[] {
  const value = tryReadJson(json);
  return Array.isArray(value) && value.every((item) => isObject(item) && kindOf(item)) ? value : [];
}

/** `Etcd of etcd.io/v1`, for messages. */
function where({ value }: Example): string {
  return `${memberText(value, 'kind')} of ${memberText(value, 'apiVersion')}`;
}

const describedIn = onceFor(
  (crd: Fields) =>
    new Set(memberObjects(crd, 'specDescriptors').map((descriptor) => memberText(descriptor, 'path'))),
);

const checkSpecDescriptors: Check = csvCheck((csv, report) => {
  for (const example of examplesOf(csv)) {
    if ((example.value['spec'] ?? null) === null) {
      report(`${csvText(csv)}: the example of ${where(example)} has no spec`, examplesPlace(csv), {
        hint: '"spec": {}',
      });
      continue;
    }
    const { owned } = example;
    if (!owned) continue;
    const known = describedIn(owned.crd);
    for (const field of Object.keys(memberObject(example.value, 'spec'))) {
      if (known.has(field)) continue;
      const message = `${csvText(csv)}: the field spec.${field} of ${where(example)} has no descriptor`;
      report(message, csv.at('spec', 'customresourcedefinitions', 'owned', owned.index));
    }
  }
});

const checkStatusDescriptors: Check = csvCheck((csv, report) => {
  for (const example of examplesOf(csv)) {
    const { owned } = example;
    const fields = Object.keys(memberObject(example.value, 'status'));
    if (!owned || fields.length === 0 || memberObjects(owned.crd, 'statusDescriptors').length > 0) continue;
    const message = `${csvText(csv)}: the example of ${where(example)} has status.${fields.join(', status.')}, but the owned CRD has no status descriptors`;
    report(message, csv.at('spec', 'customresourcedefinitions', 'owned', owned.index));
  }
});

function examplesPlace(csv: TypedCsv): Location {
  return csv.at('metadata', 'annotations', 'alm-examples');
}

/** The schemas of CRDs by kind and version, which scorecard compares in any case. */
const schemasIn = onceFor((crds: Inspected['crds']) => {
  const schemas = crds.flatMap(({ value }) => {
    const kind = memberText(memberObject(value, 'spec', 'names'), 'kind');
    const common = memberObject(value, 'spec', 'validation', 'openAPIV3Schema');
    const listed = memberObjects(value, 'spec', 'versions');
    const single = memberText(memberObject(value, 'spec'), 'version');
    return (listed.length === 0 ? [{ name: single }] : listed).map((each) => {
      const own = memberObject(each, 'schema', 'openAPIV3Schema');
      const schema = Object.keys(own).length > 0 ? own : common;
      return { key: apiKey(kind, memberText(each, 'name')), schema };
    });
  });
  return groupedBy(
    schemas.filter(({ schema }) => Object.keys(schema).length > 0),
    ({ key }) => key,
  );
});

function apiKey(kind: string, version: string): string {
  return JSON.stringify([kind.toLowerCase(), version.toLowerCase()]);
}

/** Most schemas of one kind and version that an example is compared with. Only different groups have more than one. */
const MOST_SCHEMAS = 10;

const checkExampleFields: Check = csvCheck((csv, report, bundle) => {
  for (const example of examplesOf(csv)) {
    const kind = kindOf(example.value);
    const schemas = (kind && schemasIn(bundle.crds).get(apiKey(kind.kind, kind.version))) ?? [];
    for (const { schema } of schemas.slice(0, MOST_SCHEMAS)) {
      for (const part of ['spec', 'status']) {
        const known = memberObject(schema, 'properties', part, 'properties');
        for (const field of Object.keys(memberObject(example.value, part))) {
          if (Object.hasOwn(known, field)) continue;
          const message = `${csvText(csv)}: the example of ${where(example)} has ${part}.${field}, which is not in the CRD's schema`;
          report(message, examplesPlace(csv));
        }
      }
    }
  }
});

export const rules: readonly Rule[] = [
  {
    id: 'scorecard/example-field',
    severity: 'error',
    summary: 'Reports fields of examples that the schema lacks',
    fix: 'remove the field from the example, or add it to the schema',
    opm: ['Add CRD validation for spec field `F` in K/V'],
    inspect: checkExampleFields,
  },
  {
    id: 'scorecard/resources',
    severity: 'error',
    summary: 'Reports owned CRDs that do not list the resources that the operator creates for them',
    opm: ['Owned CRDs do not have resources specified'],
    inspect: checkOwnedResources,
  },
  {
    id: 'scorecard/spec-descriptor',
    severity: 'error',
    summary: 'Reports examples without a spec, and their fields without a descriptor',
    fix: 'specDescriptors: [{path: size, description: …}]',
    opm: ['F does not have a spec descriptor'],
    inspect: checkSpecDescriptors,
  },
  {
    id: 'scorecard/status-descriptor',
    severity: 'error',
    summary: 'Reports owned CRDs without status descriptors although their examples have a status',
    fix: 'statusDescriptors: [{path: ready, description: …}]',
    opm: ['C does not have a status descriptor'],
    inspect: checkStatusDescriptors,
  },
];
