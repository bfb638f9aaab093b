/**
 * Several files in one text, each behind a line `-- path --`, as Go's txtar.
 *
 * @see https://pkg.go.dev/golang.org/x/tools/txtar
 */

/** The files of an archive by path, in order. */
export function membersOf(text: string): Map<string, string> {
  const parts = text.split(/^-- (.+) --\n/m).slice(1);
  const members = new Map<string, string>();
  for (let i = 0; i + 1 < parts.length; i += 2) members.set(parts[i] ?? '', parts[i + 1] ?? '');
  return members;
}
