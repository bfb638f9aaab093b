/** JSON that others wrote. */

/** Levels of lists and objects at most: far more than any document has, and far less than the engine can write again. */
const DEEPEST = 500;

/** The value of a text of JSON. @throws SyntaxError for a text that is not JSON, or is nested too deeply */
export function readJson(text: string): unknown {
  if (isDeep(text)) throw new SyntaxError(`the JSON is nested deeper than ${DEEPEST} levels`);
  return JSON.parse(text);
}

/** The value of a text of JSON; undefined for a text that is not JSON, or is nested too deeply. */
export function parsedJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH, LIST, LIST_END, OBJECT, OBJECT_END] = [...'"\\[]{}'].map((one) => one.charCodeAt(0));

function isDeep(text: string): boolean {
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
