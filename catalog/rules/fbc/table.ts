import { locate } from '../../fbc/model.ts';
import { nearest } from '../../spelling.ts';
import { quoted, type Rule } from '../rule.ts';

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
      'Reports catalogs that exceed the limits of the policy, have a document over 8 MiB, or too many values, findings or ignore patterns',
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
  /**
   * Your own schemas stand beside those of other tools.
   *
   * @see https://olm.operatorframework.io/docs/reference/file-based-catalogs/
   */
  {
    id: 'fbc/schema-prefix',
    severity: 'info',
    summary: 'Reports custom schemas that do not start with a domain that you own',
    check(catalog, report) {
      const seen = new Set<string>();
      for (const blob of catalog.blobs.others) {
        const { schema } = blob;
        if (schema.includes('.') || seen.has(schema)) continue;
        seen.add(schema);
        const message = `the custom schema ${quoted(schema)} does not start with a domain`;
        report(message, locate(blob, 'schema'), {
          package: blob.package,
          hint: `schema: com.example.${schema}`,
        });
      }
    },
  },
  /** OLM silently ignores unknown schemas: `olm.deprecation` (without s) deprecates nothing. */
  {
    id: 'fbc/unknown-schema',
    severity: 'warning',
    summary: 'Reports schemas that start with olm. but are not known to OLM',
    check(catalog, report) {
      for (const blob of catalog.blobs.others) {
        const { schema } = blob;
        const isTemplate = TEMPLATES.includes(schema);
        if (!/^olm\./i.test(schema)) continue;
        const near = nearest(schema, SCHEMAS);
        const message = isTemplate
          ? `${quoted(schema)} is the schema of a template, not of a catalog`
          : `OLM does not know the schema ${quoted(schema)} and ignores the object`;
        const hint = isTemplate
          ? 'add the file to .indexignore, or move it out of the catalog'
          : near === undefined
            ? `OLM's schemas: ${SCHEMAS.join(', ')}`
            : `schema: ${near}`;
        report(message, locate(blob, 'schema'), { package: blob.package, hint });
      }
    },
  },
];

const SCHEMAS = ['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations'];

/** Templates do not belong to a catalog, but may be next to it under these names. */
const TEMPLATES = ['olm.semver', 'olm.template.basic', 'olm.template.substitutes', 'olm.composite'];
