import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'fbc/bundle-object',
    severity: 'error',
    summary:
      'Reports olm.bundle.object properties that are not a manifest in JSON or YAML, encoded as base64',
    fix: 'value: {data: <the manifest as base64>}',
    opm: [
      'read bundle objects: package "p", bundle "b": parse property at index i as bundle object: …',
      'read bundle objects: package "p", bundle "b": convert bundle object property at index i to JSON: …',
    ],
  },
  {
    id: 'fbc/duplicate-key',
    severity: 'error',
    summary: 'Reports objects with two keys that differ only by case',
    opm: ['duplicate keys for key "name": [Name name]'],
  },
  {
    id: 'fbc/field-type',
    severity: 'error',
    summary: "Reports fields whose type differs from their schema's definition",
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
    summary: 'Reports content after the end of a YAML document (...), which readers do not read',
  },
  {
    id: 'fbc/json',
    severity: 'error',
    summary: 'Reports files that start with a brace but are neither a stream of JSON values nor YAML',
    fix: 'write JSON values one after the other, or YAML',
    opm: ['json: offset N: …', 'unexpected EOF'],
  },
  {
    id: 'fbc/limits',
    severity: 'error',
    summary:
      'Reports catalogs that exceed the limits of the policy, have a document over 32 MiB, or too many ignore patterns',
    fix: 'split the file, or raise limits.fileBytes in the policy',
  },
  {
    id: 'fbc/object',
    severity: 'error',
    summary: 'Reports documents that are not objects',
    opm: [
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal … into Go value of type map[string]interface {} …',
    ],
  },
  {
    id: 'fbc/repeated-key',
    severity: 'warning',
    summary: 'Reports mappings that have a key more than once, of which readers keep only the last one',
  },
  {
    id: 'fbc/schema-missing',
    severity: 'error',
    summary: 'Reports documents without a schema',
    opm: ["object '…' is missing root schema field"],
  },
  {
    id: 'fbc/unreadable',
    severity: 'error',
    summary: 'Reports files of a catalog that cannot be read',
    fix: 'use only regular files and links to them in a catalog',
    opm: ['open x: no such file or directory', 'read x: is a directory'],
  },
  {
    id: 'fbc/yaml',
    severity: 'error',
    summary: "Reports YAML documents that are not valid for Go's YAML library",
    fix: 'correct the document at this line',
    opm: ['error converting YAML to JSON: yaml: …', 'invalid Yaml document separator: …'],
  },
];
