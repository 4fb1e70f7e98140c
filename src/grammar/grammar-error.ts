/** A schema that cannot be enforced: says which keyword, and where it stands. */
export class GrammarError extends Error {
  override readonly name = "GrammarError";
  /** JSON pointer into the schema, with a leading "#". */
  readonly path: string;

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.path = path;
  }
}
