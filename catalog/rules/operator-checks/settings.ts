/** The values that operator-pipelines accept in `ci.yaml` and `release-config.yaml`. */
import type { OperatorFile, OperatorFolder } from '../../bundle/operator-folder.ts';
import { type SettingsSchema, settingsDefects } from '../../bundle/settings-schema.ts';
import { isObject } from '../../go/shape.ts';
import type { Report } from '../rule.ts';

const TEXT: SettingsSchema = { kind: 'text' };
const BOOLEAN: SettingsSchema = { kind: 'boolean' };
const TEXTS: SettingsSchema = { kind: 'list', items: TEXT, isFilled: true };
const UNIQUE_TEXTS: SettingsSchema = { kind: 'list', items: TEXT, isFilled: true, isUnique: true };

const CATALOG_MAPPING: SettingsSchema = {
  kind: 'list',
  items: {
    kind: 'mapping',
    required: ['template_name', 'type', 'catalog_names'],
    fields: {
      template_name: TEXT,
      catalog_names: UNIQUE_TEXTS,
      type: { kind: 'text', oneOf: ['olm.template.basic', 'olm.semver'] },
    },
  },
};

/** @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/422dfd6e/operatorcert/schemas/ci-schema.json */
export const CI_CONFIG: SettingsSchema = {
  kind: 'mapping',
  fields: {
    updateGraph: { kind: 'text', oneOf: ['replaces-mode', 'semver-mode'] },
    reviewers: TEXTS,
    merge: BOOLEAN,
    cert_project_id: TEXT,
    fbc: {
      kind: 'mapping',
      isClosed: true,
      fields: {
        enabled: BOOLEAN,
        version_promotion_strategy: { kind: 'text', oneOf: ['review-needed', 'always', 'never'] },
        catalog_mapping: CATALOG_MAPPING,
      },
    },
  },
};

/** @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/422dfd6e/operatorcert/schemas/release-config-schema.json */
export const RELEASE_CONFIG: SettingsSchema = {
  kind: 'mapping',
  isClosed: true,
  required: ['catalog_templates'],
  fields: {
    merge: BOOLEAN,
    catalog_templates: {
      kind: 'list',
      isFilled: true,
      isUnique: true,
      items: {
        kind: 'mapping',
        required: ['template_name', 'channels'],
        fields: {
          template_name: TEXT,
          channels: UNIQUE_TEXTS,
          defaultChannel: TEXT,
          replaces: TEXT,
          skips: UNIQUE_TEXTS,
          skipRange: TEXT,
        },
      },
    },
  },
};

/** Reports what a schema does not allow in a file, or why the file cannot be read. */
export function reportSettings(
  file: OperatorFile,
  schema: SettingsSchema,
  report: Report,
  operatorName: string,
): void {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  if (file.defect) {
    report(`${name} cannot be read: ${file.defect.message}`, file.defect.location, { package: operatorName });
    return;
  }
  for (const { path, message, hint } of settingsDefects(file.value, schema))
    report(`${name}: ${message}`, file.locate(...path), { package: operatorName, hint });
}

/** One template of `fbc.catalog_mapping`, as far as it is written well. */
interface MappedTemplate {
  /** Position in the mapping. */
  readonly index: number;
  /** Name of its file. */
  readonly template: string;
  readonly type: string;
  readonly catalogs: readonly string[];
}

/** The templates in the mapping of `ci.yaml`. */
export function mappedTemplates({ config }: OperatorFolder): MappedTemplate[] {
  const mapping = settingOf(config, 'fbc', 'catalog_mapping');
  if (!Array.isArray(mapping)) return [];
  return mapping.flatMap((one, index): MappedTemplate[] => {
    if (!isObject(one)) return [];
    const names = Array.isArray(one['catalog_names']) ? one['catalog_names'] : [];
    return [
      {
        index,
        template: String(one['template_name']),
        type: String(one['type']),
        catalogs: names.map(String),
      },
    ];
  });
}

/** Whether an operator has its own catalogs; most checks of bundles then do not apply. */
export function usesCatalogs({ config }: OperatorFolder): boolean {
  const enabled = settingOf(config, 'fbc', 'enabled');
  // operator-pipelines is written in Python, where these values count as false.
  return enabled !== undefined && enabled !== null && enabled !== false && enabled !== 0 && enabled !== '';
}

/** A value of the settings; undefined if it is missing. */
export function settingOf(file: OperatorFile | undefined, ...path: readonly string[]): unknown {
  let at: unknown = file?.value;
  for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

/** The location of an operator's settings, for findings about missing ones. */
export function settingsPlace({ config, path }: OperatorFolder): {
  file: string;
  line: number;
  column: number;
} {
  return config?.locate() ?? { file: `${path}/ci.yaml`, line: 1, column: 1 };
}
