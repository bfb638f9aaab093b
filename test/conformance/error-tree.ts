// Trees of errors as opm draws them. opm draws siblings in any order, so they are compared sorted.

interface Tree {
  readonly message: string;
  readonly children: Tree[];
}

const LINE = /^((?:│ {3}| {4})*)([├└]── )?(.*)$/;

/** Whether two texts hold the same trees, and the same of everything else. */
export function sameTrees(a: string, b: string): boolean {
  return (
    a === b ||
    (a.includes('── ') && b.includes('── ') && JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)))
  );
}

function sorted(text: string): unknown {
  const root: Tree = { message: '', children: [] };
  const open = [root];
  for (const line of text.split('\n')) {
    const [, margin = '', branch, message = ''] = LINE.exec(line) ?? [];
    const depth = branch === undefined ? 0 : margin.length / 4 + 1;
    const tree: Tree = { message, children: [] };
    open.length = Math.min(open.length, depth + 1);
    open.at(-1)?.children.push(tree);
    open.push(tree);
  }
  return ordered(root);
}

function ordered({ message, children }: Tree): unknown {
  const texts = children.map((child) => JSON.stringify(ordered(child))).sort();
  return [message, texts];
}

/** The message of a verdict that `validate -o` prints; undefined when the text is none. */
export function verdictMessage(text: string): string | undefined {
  if (text.startsWith('{')) return (JSON.parse(text) as { error?: { message?: string } }).error?.message;
  const [, block] = /^error:\n {2}message: \|-\n((?: {4}.*\n)+)passed: false\n\n$/.exec(text) ?? [];
  return block?.replaceAll(/^ {4}/gm, '').trimEnd();
}
