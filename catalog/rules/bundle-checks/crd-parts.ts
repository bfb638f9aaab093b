/**
 * Parts of CRDs that stand in each version or, in v1beta1, once for all of them, and how
 * objects are converted between versions.
 *
 * @see https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.0/pkg/apis/apiextensions/validation/validation.go
 */
import { type Fields, memberObject, memberObjects, memberText, memberTexts } from '../../bundle/inspect.ts';
import { sameJson } from '../../crd/schema.ts';
import { repeatedPlaces } from '../../go/grouped.ts';
import { isObject, type Path } from '../../go/shape.ts';
import { isDnsSubdomain } from '../../names.ts';
import { type Check, type DefaultedCrd, DNS_LABEL, eachCrd, LABEL_TEXT } from './crd.ts';

interface Conversion {
  /** `None` without a conversion; empty if it does not say. */
  readonly strategy: string;
  /** How the API server reaches the webhook. */
  readonly client: Fields | undefined;
  readonly clientPath: Path;
  /** `conversionReviewVersions`. */
  readonly reviews: readonly string[];
  readonly reviewsPath: Path;
}

/** How a CRD converts its versions. v1 writes that one level deeper than v1beta1, which has one more default. */
function conversionOf({ spec, isBeta }: DefaultedCrd): Conversion {
  const conversion = memberObject(spec, 'conversion');
  const holder = isBeta ? conversion : memberObject(conversion, 'webhook');
  const path = isBeta ? ['spec', 'conversion'] : ['spec', 'conversion', 'webhook'];
  const clientField = isBeta ? 'webhookClientConfig' : 'clientConfig';
  const client = holder[clientField];
  const strategy = isObject(spec['conversion']) ? memberText(conversion, 'strategy') : 'None';
  const reviews = memberTexts(holder, 'conversionReviewVersions');
  return {
    strategy,
    client: isObject(client) ? client : undefined,
    clientPath: [...path, clientField],
    reviews: reviews.length === 0 && isBeta && strategy === 'Webhook' ? ['v1beta1'] : reviews,
    reviewsPath: [...path, 'conversionReviewVersions'],
  };
}

export const checkConversion: Check = eachCrd((crd) => {
  const { spec, isBeta, say } = crd;
  const { strategy, client, clientPath, reviews, reviewsPath } = conversionOf(crd);
  const at = ['spec', 'conversion', 'strategy'];
  // Objects with unknown fields cannot be converted; in v1beta1, keeping them is the default.
  if (strategy !== 'None' && (spec['preserveUnknownFields'] ?? isBeta) === true)
    say(at, 'must be None: spec.preserveUnknownFields is true', 'preserveUnknownFields: false');
  if (strategy === '') say(at, 'is missing', 'strategy: None');
  else if (strategy !== 'None' && strategy !== 'Webhook')
    say(at, `must be None or Webhook, found ${JSON.stringify(strategy)}`);
  if (strategy === 'Webhook') {
    if (!client) say(clientPath, 'is missing: the strategy is Webhook');
    else checkClient(client, clientPath, say);
    checkReviews(reviews, reviewsPath, say);
    return;
  }
  if (client) say(clientPath, 'must not be set: the strategy is not Webhook');
  if (reviews.length > 0) say(reviewsPath, 'must not be set: the strategy is not Webhook');
});

/** Reports a list of `conversionReviewVersions` that the API server refuses. */
function checkReviews(reviews: readonly string[], path: Path, say: DefaultedCrd['say']): void {
  if (reviews.length === 0)
    say(path, 'is missing: the strategy is Webhook', 'conversionReviewVersions: [v1]');
  else if (!reviews.includes('v1') && !reviews.includes('v1beta1')) say(path, 'must include v1 or v1beta1');
  const repeated = repeatedPlaces(reviews);
  for (const [i, review] of reviews.entries()) {
    if (!DNS_LABEL.test(review)) say([...path, i], `${JSON.stringify(review)} ${LABEL_TEXT}`);
    if (repeated.has(i)) say([...path, i], `${JSON.stringify(review)} is listed twice`);
  }
}

/** Reports a webhook's client that the API server refuses. */
function checkClient(client: Fields, path: Path, say: DefaultedCrd['say']): void {
  const { url, service } = client;
  if ((typeof url === 'string') === isObject(service)) say(path, 'must have either a url or a service');
  else if (typeof url === 'string') {
    for (const defect of urlDefects(url)) say([...path, 'url'], `${JSON.stringify(url)} ${defect}`);
  } else if (isObject(service)) checkService(service, [...path, 'service'], say);
}

/** Why the API server refuses a webhook's URL; empty if it accepts it. */
function urlDefects(url: string): string[] {
  // Scheme, authority, path, query and fragment, as Go's url.Parse splits them.
  const [, scheme = '', authority = '', query = '', fragment = ''] =
    /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(\?[^#]*)?(#.*)?$/is.exec(url) ?? [];
  // To Go, a `#` or a `?` alone is an empty fragment or query.
  return [
    ...(scheme.toLowerCase() === 'https' ? [] : ['must start with https://']),
    ...(authority.replace(/^.*@/s, '') === '' ? ['must name a host'] : []),
    ...(authority.includes('@') ? ['must not name a user'] : []),
    ...(fragment.length > 1 ? ['must have no fragment'] : []),
    ...(query.length > 1 ? ['must have no query'] : []),
  ];
}

/** Reports defects of a webhook's service, as the API server validates it. */
function checkService(service: Fields, path: Path, say: DefaultedCrd['say']): void {
  for (const field of ['name', 'namespace']) {
    if (memberText(service, field) === '') say([...path, field], 'is missing');
  }
  // 443 is the default of Kubernetes.
  const port = service['port'] ?? 443;
  if (typeof port !== 'number' || port < 1 || port > 65535)
    say([...path, 'port'], `must be between 1 and 65535, found ${String(port)}`);
  const urlPath = memberText(service, 'path');
  if (urlPath === '' || urlPath === '/') return;
  if (!urlPath.startsWith('/')) say([...path, 'path'], `${JSON.stringify(urlPath)} must start with /`);
  const steps = urlPath.slice(1).replace(/\/$/, '').split('/');
  if (!steps.every(isDnsSubdomain))
    say(
      [...path, 'path'],
      `${JSON.stringify(urlPath)} must consist of lower-case DNS names separated by slashes`,
    );
}

interface Part {
  readonly value: unknown;
  readonly path: Path;
  /** The version that it is for; undefined for all of them. */
  readonly version: Fields | undefined;
}

/** Parts that each version may contain, or in v1beta1 the CRD itself for all versions. */
function parts({ spec, versions, isBeta }: DefaultedCrd, key: string): Part[] {
  const found = versions.map(
    (version, i): Part => ({ value: version[key], path: ['spec', 'versions', i, key], version }),
  );
  const ofAll: Part[] = isBeta ? [{ value: spec[key], path: ['spec', key], version: undefined }] : [];
  return [...found, ...ofAll].filter(({ value }) => value !== undefined);
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
/** A column without a format has the first. */
const COLUMN_FORMATS = ['', 'int32', 'int64', 'float', 'double', 'byte', 'date', 'date-time', 'password'];

export const checkPrinterColumns: Check = eachCrd((crd) => {
  const pathField = crd.isBeta ? 'JSONPath' : 'jsonPath';
  for (const { value, path } of parts(crd, 'additionalPrinterColumns')) {
    for (const [i, column] of memberObjects(value).entries()) {
      const say = (field: string, message: string): void => crd.say([...path, i, field], message);
      if (memberText(column, 'name') === '') say('name', 'is missing');
      if (!COLUMN_TYPES.includes(memberText(column, 'type')))
        say('type', `must be one of ${COLUMN_TYPES.join(', ')}`);
      if (!COLUMN_FORMATS.includes(memberText(column, 'format')))
        say('format', `must be one of ${COLUMN_FORMATS.slice(1).join(', ')}`);
      const jsonPath = memberText(column, pathField);
      if (jsonPath === '') say(pathField, 'is missing');
      else if (!jsonPath.startsWith('.')) say(pathField, `${JSON.stringify(jsonPath)} must start with a dot`);
    }
  }
});

/** Makes the check of the paths in the scale subresource. Each must lie under certain parts of the object. */
function scaleCheck(fields: Readonly<Record<string, readonly string[]>>): Check {
  return eachCrd((crd) => {
    for (const { value, path } of parts(crd, 'subresources')) {
      const scale = isObject(value) ? value['scale'] : undefined;
      if (!isObject(scale)) continue;
      for (const [field, under] of Object.entries(fields)) {
        const found = memberText(scale, field);
        const isOptional = field === 'labelSelectorPath';
        if ((found === '' && isOptional) || under.some((prefix) => found.startsWith(`${prefix}.`))) continue;
        const message = `must be a path under ${under.join(' or ')}, found ${JSON.stringify(found)}`;
        crd.say([...path, 'scale', field], found === '' ? 'is missing' : message);
      }
    }
  });
}

export const checkScale: Check = scaleCheck({
  specReplicasPath: ['.spec'],
  labelSelectorPath: ['.spec', '.status'],
});

/** The validators leave out whatever names the status; clusters refuse the CRD. */
export const checkScaleStatus: Check = scaleCheck({ statusReplicasPath: ['.status'] });

/** Most fields by which objects may be selected: `MaxSelectableFields` of the API server. */
const MOST_SELECTABLE = 8;

export const checkSelectableFields: Check = eachCrd((crd) => {
  const { spec } = crd;
  for (const { value, path, version } of parts(crd, 'selectableFields')) {
    const fields = memberObjects(value).map((field) => memberText(field, 'jsonPath'));
    if (fields.length === 0) continue;
    const schema =
      (version && memberObject(version, 'schema')['openAPIV3Schema']) ??
      memberObject(spec, 'validation')['openAPIV3Schema'];
    if (!isObject(schema)) {
      crd.say(path, 'needs a schema that contains the fields');
      continue;
    }
    const unique = new Set(fields.filter((field) => field !== '')).size;
    if (unique > MOST_SELECTABLE) crd.say(path, `has ${unique} fields, the limit is ${MOST_SELECTABLE}`);
    const repeated = repeatedPlaces(fields);
    for (const [i, field] of fields.entries()) {
      const defect = repeated.has(i) ? 'is a duplicate' : selectableDefect(field, schema);
      if (defect !== undefined) crd.say([...path, i, 'jsonPath'], `${JSON.stringify(field)} ${defect}`);
    }
  }
});

/** Why objects cannot be selected by a field; undefined when they can. */
function selectableDefect(field: string, schema: Fields): string | undefined {
  if (field === '') return 'is empty';
  // Name by name: an expression for all of them runs out of stack.
  if (
    !field.startsWith('.') ||
    !field
      .slice(1)
      .split('.')
      .every((name) => /^[^[\]]+$/.test(name))
  )
    return 'is not a path such as .spec.size';
  const names = field.slice(1).split('.');
  let at: unknown = schema;
  for (const name of names) {
    const inside = isObject(at) ? at : {};
    at = isObject(inside['properties']) ? inside['properties'][name] : inside['additionalProperties'];
    if (!isObject(at)) return 'is not a field of the schema';
  }
  if (names[0] === 'metadata') return 'is in metadata';
  const type = isObject(at) ? memberText(at, 'type') : '';
  return /^(?:string|boolean|integer)$/.test(type)
    ? undefined
    : 'must be of the type string, boolean or integer';
}

/** The fields that a CRD of v1beta1 has for all versions, and their names in a version. */
const SHARED = [
  ['validation', 'schema'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
] as const;

export const checkVersionParts: Check = eachCrd(({ spec, isBeta, versions, say }) => {
  if (!isBeta) return;
  for (const [top, each] of SHARED) {
    const values = versions.map((version) => version[each]);
    const isSet = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : isObject(value));
    if (isSet(spec[top]) && values.some(isSet))
      say(['spec', top], `must not be set: each version has its own ${each}`);
    if (values.length > 0 && values.every((value) => isSet(value) && sameJson(value, values[0])))
      say(
        ['spec', 'versions'],
        `must not all have the same ${each}`,
        `set spec.${top} once for all versions`,
      );
  }
});
