import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'fbc/bundle-object',
    severity: 'error',
    summary: 'An olm.bundle.object contains a manifest in JSON or YAML, encoded as base64',
    fix: 'value: {data: <the manifest as base64>}',
    opm: [
      'read bundle objects: package "p", bundle "b": parse property at index i as bundle object: …',
      'read bundle objects: package "p", bundle "b": convert bundle object property at index i to JSON: …',
    ],
  },
  {
    id: 'fbc/duplicate-key',
    severity: 'error',
    summary: 'No two keys of an object differ only by case',
    opm: ['duplicate keys for key "name": [Name name]'],
  },
  {
    id: 'fbc/field-type',
    severity: 'error',
    summary: 'Every field has the type that its schema defines',
    opm: [
      'expected value for key "name" to be a string, got …',
      'parse package: json: cannot unmarshal … into Go struct field …',
      'parse channel: …',
      'parse bundle: …',
      'parse deprecation: …',
    ],
  },
  {
    id: 'fbc/ignored-content',
    severity: 'warning',
    summary: 'Nothing follows the end of a YAML document (...), where readers stop',
  },
  {
    id: 'fbc/json',
    severity: 'error',
    summary: 'A file that starts with a brace is a stream of JSON values, or YAML',
    fix: 'write JSON values one after the other, or YAML',
    opm: ['json: offset N: …', 'unexpected EOF'],
  },
  {
    id: 'fbc/limits',
    severity: 'error',
    summary: 'A catalog stays within the limits of the policy',
    fix: 'split the file, or raise limits.fileBytes in the policy',
  },
  {
    id: 'fbc/object',
    severity: 'error',
    summary: 'Every document is an object',
    opm: [
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal … into Go value of type map[string]interface {} …',
    ],
  },
  {
    id: 'fbc/repeated-key',
    severity: 'warning',
    summary: 'A mapping has each key once; readers keep only the last one',
  },
  {
    id: 'fbc/schema-missing',
    severity: 'error',
    summary: 'Every document has a schema',
    opm: ["object '…' is missing root schema field"],
  },
  {
    id: 'fbc/unreadable',
    severity: 'error',
    summary: 'Every file of a catalog can be read',
    fix: 'use only regular files and links to them in a catalog',
    opm: ['open x: no such file or directory', 'read x: is a directory'],
  },
  {
    id: 'fbc/yaml',
    severity: 'error',
    summary: "A YAML document is valid for Go's YAML library",
    fix: 'correct the document at this line',
    opm: ['error converting YAML to JSON: yaml: …', 'invalid Yaml document separator: …'],
  },
];
