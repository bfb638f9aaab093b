/** Words that are nearly right. */

/** The word that was probably meant, or undefined when none is near. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  // Mistakes that a word may have: more of them in longer words.
  const most = word.length < 4 ? 1 : word.length < 9 ? 2 : 3;
  let best: { word: string; distance: number } | undefined;
  for (const candidate of words) {
    const mistakes = distance(word.toLowerCase(), candidate.toLowerCase());
    if (mistakes <= most && mistakes < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { word: candidate, distance: mistakes };
    }
  }
  return best?.word;
}

/** Levenshtein's distance of two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
