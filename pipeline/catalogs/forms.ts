/** Catalogs that are one file in another form than FBC, such as a database. Each form is an extra: it has one line here. */
import type { CatalogForm } from './catalog-form.ts';
import { DATABASE } from './database/form.ts';

const FORMS: readonly CatalogForm[] = [DATABASE];

/** The form of a file; undefined for one that Portolan does not read. */
export function formOfFile(path: string): CatalogForm | undefined {
  return FORMS.find((form) => form.isFile(path));
}

/** The form of an index image, and where its file is; undefined for an image of files. */
export function formOfImage(
  labels: ReadonlyMap<string, string>,
): { readonly form: CatalogForm; readonly path: string } | undefined {
  for (const form of FORMS) {
    const path = labels.get(form.label);
    if (path !== undefined) return { form, path };
  }
  return undefined;
}
