/**
 * A database in which the tree of a table, of one page before, has levels of pages that each name the next
 * one many times: with its rows as often as there are ways down.
 *
 * @param root the page of the table, from 1: the schema's
 */
export function withSharedPages(database: Uint8Array, root: number, levels: number): Uint8Array {
  const bytes = Buffer.from(database);
  const size = bytes.readUInt16BE(16);
  const header = root === 1 ? 100 : 0;
  const old = Buffer.from(bytes.subarray((root - 1) * size, root * size));
  const count = bytes.length / size;
  const shared = Array.from({ length: levels }, (_, i) =>
    interior(size, i === 0 ? header : 0, count + 1 + i),
  );
  old.copy(shared[0] ?? old, 0, 0, header);
  shared[0]?.copy(bytes, (root - 1) * size);
  const leaf = Buffer.alloc(size);
  const pointers = header + 8 + 2 * old.readUInt16BE(header + 3);
  old.copy(leaf, 0, header, pointers);
  old.copy(leaf, pointers, pointers);
  const made = Buffer.concat([bytes, ...shared.slice(1), leaf]);
  made.writeUInt32BE(made.length / size, 28);
  return made;
}

const CELLS = 60;

/** A page whose cells all name one child. */
function interior(size: number, at: number, child: number): Buffer {
  const page = Buffer.alloc(size);
  page[at] = 5;
  page.writeUInt16BE(CELLS, at + 3);
  page.writeUInt16BE(size - CELLS * 5, at + 5);
  page.writeUInt32BE(child, at + 8);
  for (let i = 0; i < CELLS; i++) {
    const cell = size - (i + 1) * 5;
    page.writeUInt32BE(child, cell);
    page[cell + 4] = i + 1;
    page.writeUInt16BE(cell, at + 12 + 2 * i);
  }
  return page;
}
