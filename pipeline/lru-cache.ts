/** What was read and may be asked for again, as long as there is room: what was asked for longest ago goes first. */
export class LruCache<V> {
  readonly #most: number;
  readonly #items = new Map<string, { readonly value: V; readonly weight: number; readonly turn: number }>();
  #weight = 0;
  #turn = 0;

  /** @param most weight of everything that is kept, in the unit of `keep` */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    const item = this.#items.get(key);
    if (!item) return undefined;
    this.#items.delete(key);
    this.#items.set(key, { ...item, turn: this.#turn });
    return item.value;
  }

  /** Ends a turn, and drops what nobody asked for in it and in some turns before. @param turns how many turns it stays */
  endTurn(turns: number): void {
    this.#turn++;
    for (const [key, { turn }] of this.#items) {
      if (this.#turn - turn <= turns) return;
      this.#drop(key);
    }
  }

  /** Keeps a value; one that weighs more than all the room is not kept. */
  keep(key: string, value: V, weight: number): void {
    this.#drop(key);
    if (weight > this.#most) return;
    this.#items.set(key, { value, weight, turn: this.#turn });
    this.#weight += weight;
    for (const oldest of this.#items.keys()) {
      if (this.#weight <= this.#most) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#weight -= this.#items.get(key)?.weight ?? 0;
    this.#items.delete(key);
  }
}
