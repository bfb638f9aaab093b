/**
 * Parts of a ClusterServiceVersion as Go writes them: fields in the order of the Go
 * structs, whatever their order was.
 *
 * @see https://github.com/operator-framework/api/blob/master/pkg/operators/v1alpha1/clusterserviceversion_types.go
 */
import { escapeHtml, goList, goObject } from '../../go/json-marshal.ts';
import { compactJson, RawJson } from '../../go/json-text.ts';
import { isObject } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Writes a value as JSON; undefined where Go leaves an empty one out. */
type Write = (value: unknown) => string | undefined;

type GoField = readonly [key: string, write: Write];

/** One writer for each kind of value; what they are given has passed the shape of its Go type. */
interface CsvWriters {
  readonly text: (value: unknown) => string;
  /** Text, left out when it is empty. */
  readonly optional: Write;
  readonly texts: Write;
  readonly textMap: Write;
  readonly crds: (value: unknown) => string;
  readonly apiServices: (value: unknown) => string;
  readonly gvks: Write;
  readonly link: (value: unknown) => string;
  readonly links: Write;
  readonly maintainers: Write;
  readonly installModes: Write;
}

/** @param quote how a text is written: with what HTML minds escaped, or without */
export function csvWriters(quote: (text: string) => string): CsvWriters {
  const always = (value: unknown): string => quote(typeof value === 'string' ? value : '');
  const optional: Write = (value) => (typeof value === 'string' && value !== '' ? quote(value) : undefined);
  const textMap: Write = (value) => {
    const keys = isObject(value) ? Object.keys(value).sort(compareText) : [];
    const members = keys.map((key) => `${quote(key)}:${always((value as Fields)[key])}`);
    return members.length === 0 ? undefined : `{${members.join(',')}}`;
  };
  const link = structOf([
    ['name', optional],
    ['url', optional],
  ]);
  return {
    text: always,
    optional,
    textMap,
    link,
    texts: listOf(always),
    ...apiSections(always, optional),
    gvks: listOf(
      structOf([
        ['group', always],
        ['version', always],
        ['kind', always],
      ]),
    ),
    links: listOf(link),
    maintainers: listOf(
      structOf([
        ['name', optional],
        ['email', optional],
      ]),
    ),
    installModes: listOf(
      structOf([
        ['type', always],
        ['supported', (value) => String(value === true)],
      ]),
    ),
  };
}

function rawValue(value: unknown): string | undefined {
  if (value instanceof RawJson) return value.text;
  return value === undefined ? undefined : escapeHtml(compactJson(value));
}

function apiSections(
  always: (value: unknown) => string,
  optional: Write,
): Pick<CsvWriters, 'crds' | 'apiServices'> {
  const descriptor = structOf([
    ['path', always],
    ['displayName', optional],
    ['description', optional],
    ['x-descriptors', listOf(always)],
    // Raw JSON of a marshalled object, in which HTML is escaped whoever copies it.
    ['value', rawValue],
  ]);
  const resource = structOf([
    ['name', always],
    ['kind', always],
    ['version', always],
  ]);
  const described: readonly GoField[] = [
    ['displayName', optional],
    ['description', optional],
    ['resources', listOf(resource)],
    ['statusDescriptors', listOf(descriptor)],
    ['specDescriptors', listOf(descriptor)],
    ['actionDescriptors', listOf(descriptor)],
  ];
  const crd = structOf([['name', always], ['version', always], ['kind', always], ...described]);
  const apiService = structOf([
    ['name', always],
    ['group', always],
    ['version', always],
    ['kind', always],
    ['deploymentName', optional],
    ['containerPort', (value) => (typeof value === 'number' && value !== 0 ? String(value) : undefined)],
    ...described,
  ]);
  return { crds: owned(crd), apiServices: owned(apiService) };
}

function owned(item: (value: unknown) => string): (value: unknown) => string {
  return structOf([
    ['owned', listOf(item)],
    ['required', listOf(item)],
  ]);
}

function structOf(fields: readonly GoField[]): (value: unknown) => string {
  return (value) => {
    const found: Fields = isObject(value) ? value : {};
    return goObject(fields.map(([key, write]) => [key, write(found[key])]));
  };
}

function listOf(write: (value: unknown) => string): Write {
  return (value) => (Array.isArray(value) ? goList(value.map(write)) : undefined);
}
