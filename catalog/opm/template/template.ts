/**
 * Catalog templates: short texts from which a catalog is made, most of it out of bundle
 * images.
 *
 * @see https://olm.operatorframework.io/docs/reference/catalog-templates/
 */

import type { Blobs, Bundle } from '../../fbc/model.ts';
import type { Finding } from '../../finding.ts';
import { RawJson } from '../../go/json-text.ts';

/** A bundle's image as a blob, and the ClusterServiceVersion that it was made from. */
export interface RenderedImage {
  readonly bundle: Bundle;
  readonly csv: Readonly<Record<string, unknown>>;
}

/** Renders the image of a bundle. What it throws ends the expansion. */
export type RenderImage = (image: string) => Promise<RenderedImage>;

interface Expanded {
  /** Undefined when the template cannot be expanded. */
  readonly blobs: Blobs | undefined;
  readonly findings: readonly Finding[];
}

/** Expands one kind of template. `file` is the name that findings give it. */
export type Expand = (template: TemplateText, renderImage: RenderImage) => Promise<Expanded>;

export interface TemplateText {
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** A template that cannot be expanded, and where that shows. */
export class TemplateError extends Error {
  readonly finding: Finding;

  constructor(message: string, location: Finding['location'], hint?: string) {
    super(message);
    this.name = 'TemplateError';
    this.finding = {
      rule: 'template/invalid',
      severity: 'error',
      message,
      location,
      ...(hint === undefined ? {} : { hint }),
    };
  }
}

/** A bundle whose properties can be looked into: rendered ones keep the spelling of their JSON. */
export function plainBundle(bundle: Bundle): Bundle {
  const properties = bundle.properties.map(({ type, value }) => ({
    type,
    value: value instanceof RawJson ? value.value : value,
  }));
  return { ...bundle, properties };
}

/** Runs an expansion; a TemplateError becomes a finding. */
export async function runExpansion(expand: (findings: Finding[]) => Promise<Blobs>): Promise<Expanded> {
  const findings: Finding[] = [];
  try {
    const blobs = await expand(findings);
    return { blobs: findings.some(({ severity }) => severity === 'error') ? undefined : blobs, findings };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { blobs: undefined, findings: [...findings, error.finding] };
  }
}
