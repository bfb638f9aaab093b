/**
 * The icon of a ClusterServiceVersion as the database's catalogs took it for the package's.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/sqlite/conversion.go
 */
import { decodeBase64, encodeBase64 } from '../go/base64.ts';
import { base64Defect, isObject } from '../go/shape.ts';

export interface CsvIcon {
  readonly base64data: string;
  readonly mediatype: string;
}

/** The first icon; undefined if the first one is empty, or not base64 even without its spaces. */
export function csvIcon(csv: Readonly<Record<string, unknown>>): CsvIcon | undefined {
  const spec = isObject(csv['spec']) ? csv['spec'] : {};
  const icon: unknown = Array.isArray(spec['icon']) ? spec['icon'][0] : undefined;
  if (!isObject(icon) || typeof icon['base64data'] !== 'string') return undefined;
  const bytes = tryDecode(icon['base64data']) ?? tryDecode(icon['base64data'].replaceAll(' ', ''));
  if (!bytes || bytes.length === 0) return undefined;
  const { mediatype } = icon;
  return { base64data: encodeBase64(bytes), mediatype: typeof mediatype === 'string' ? mediatype : '' };
}

/** The bytes of base64; undefined for a text that is not base64. Line ends do not count, as in Go's decoder. */
function tryDecode(base64: string): Uint8Array | undefined {
  return base64Defect(base64) < 0 ? decodeBase64(base64) : undefined;
}
