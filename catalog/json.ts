/** JSON, wherever it is from: the one place that calls the engine's parser. */

/**
 * Levels of lists and objects at most, in JSON and in YAML: far more than any document has, and far less than the engine can
 * write again. What walks values recursively relies on it.
 */
export const DEEPEST = 1000;
/** A byte order mark stays, and is an error, as it is to Go. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The value of a text of JSON, or of its UTF-8. @throws SyntaxError for what is not JSON, or is nested too deeply */
export function parseJson(content: string | Uint8Array): unknown {
  const text = typeof content === 'string' ? content : UTF8.decode(content);
  if (isDeep(text)) throw new SyntaxError(`the JSON is nested deeper than ${DEEPEST} levels`);
  return JSON.parse(text);
}

/** The value of a JSON text; undefined if the text is not JSON, or is nested too deeply. See {@link parseJson}. */
export function parsedJson(content: string | Uint8Array): unknown {
  try {
    return parseJson(content);
  } catch {
    return undefined;
  }
}

/** The JSON of a value, for people: an integer that a float would round, a bigint, becomes a text. */
export function jsonText(value: unknown): string {
  return (
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? 'nothing'
  );
}

/** As {@link parseJson}, for what is signed: readers differ in which of two values of a key counts. @throws SyntaxError */
export function parseUniqueJson(content: string | Uint8Array): unknown {
  const text = typeof content === 'string' ? content : UTF8.decode(content);
  const value = parseJson(text);
  const key = repeatedKey(text);
  if (key !== undefined) throw new SyntaxError(`the JSON has the key ${JSON.stringify(key)} twice`);
  return value;
}

const [QUOTE, BACKSLASH, LIST, LIST_END, OBJECT, OBJECT_END] = [...'"\\[]{}'].map((one) => one.charCodeAt(0));

/** Whether a text nests lists and objects deeper than the engine's parser may go, found without parsing. */
function isDeep(text: string): boolean {
  if (text.length <= DEEPEST) return false;
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) isInText = !isInText;
    else if (isInText) i += code === BACKSLASH ? 1 : 0;
    else if (code === LIST || code === OBJECT) {
      if (++depth > DEEPEST) return true;
    } else if (code === LIST_END || code === OBJECT_END) depth--;
  }
  return false;
}

/** A key that an object in a valid text has twice. */
function repeatedKey(text: string): string | undefined {
  const keysOfOpen: Set<string>[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === LIST || code === OBJECT) keysOfOpen.push(new Set());
    else if (code === LIST_END || code === OBJECT_END) keysOfOpen.pop();
    if (code !== QUOTE) continue;
    const start = i++;
    // A text is a key where a colon follows it; a list has a set that stays empty.
    while (text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
    let after = i + 1;
    while (after < text.length && ' \t\n\r'.includes(text.charAt(after))) after++;
    if (text[after] !== ':') continue;
    const key = JSON.parse(text.slice(start, i + 1));
    if (keysOfOpen.at(-1)?.has(key)) return key;
    keysOfOpen.at(-1)?.add(key);
  }
  return undefined;
}
