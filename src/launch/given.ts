/** Whether code passed a value. */
export const isGiven = <T>(value: T | null | undefined): value is T =>
  value !== undefined && value !== null;
