/** What goes wrong in a template, under the names that Python and Jinja give it. */

export type TemplateErrorKind =
  | "TemplateError"
  | "TemplateSyntaxError"
  | "UndefinedError"
  | "SecurityError"
  | "TypeError"
  | "ValueError"
  | "KeyError"
  | "IndexError"
  | "OverflowError"
  | "ZeroDivisionError";

export class TemplateError extends Error {
  readonly kind: TemplateErrorKind;

  constructor(kind: TemplateErrorKind, message: string) {
    super(message);
    this.name = kind;
    this.kind = kind;
  }
}

export function fail(kind: TemplateErrorKind, message: string): never {
  throw new TemplateError(kind, message);
}
