/** Templates that opm renders catalogs from, recognized by their text. */

/** A schema at the top: on any line of YAML, which opm writes last, or among other keys of JSON. */
const SCHEMA = /(?:^[ \t]*|[{,]\s*)["']?schema["']?\s*:\s*["']?olm\.(?:template\.|semver|composite)/im;

/** Blobs below a key, as templates of old have them: `entries:` of a basic one. */
const ENTRIES = /^(?:["']?entries["']?|[{ \t]*"entries")\s*:/m;
const BLOB = /schema["']?\s*:\s*["']?olm\.(?:package|channel|bundle)\b/;

/** What both have; most texts do not, and one look for it is cheap. */
const ANY = /olm\./i;

/** Whether blobs stand below a key `entries`; it need not be near them, so the text behind it is searched. */
function hasNested(text: string): boolean {
  const entries = text.search(ENTRIES);
  return entries >= 0 && BLOB.test(text.slice(entries));
}

/** Whether a file without blobs of a catalog is a template of one. */
export function isTemplateText(text: string): boolean {
  return ANY.test(text) && (SCHEMA.test(text) || hasNested(text));
}
