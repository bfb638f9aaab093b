/** An option that cannot be followed; the message says which, what was found and what is expected. */
export class InvalidOption extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidOption';
  }
}
