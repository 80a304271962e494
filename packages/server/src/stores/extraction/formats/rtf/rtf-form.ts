/** A form field while its group is read. Source: RTF specification 1.9.1, "Form Fields". */
export interface FormField {
  /** 0 is a text field, 1 a check box, 2 a choice. */
  type: number;
  result: number | undefined;
  default: number;
  readonly options: string[];
}

export const newFormField = (): FormField => ({ type: 0, result: undefined, default: 0, options: [] });

/** The result that stands for the default. */
const isDefault = 25;
const limits = { options: 1_000, characters: 500 };

/** Takes the words of a field. Returns whether the word is one of them. */
export function takeFormWord(field: FormField, word: string, value: number | undefined): boolean {
  if (word === 'fftype') field.type = value ?? 0;
  else if (word === 'ffres') field.result = value;
  else if (word === 'ffdefres') field.default = value ?? 0;
  else return false;
  return true;
}

/** Adds text to the last option of a choice. */
export function takeOption({ options }: FormField, text: string): void {
  const last = options.length - 1;
  if (last >= 0) options[last] = ((options[last] ?? '') + text).slice(0, limits.characters);
}

export function startOption({ options }: FormField): void {
  if (options.length < limits.options) options.push('');
}

/** Returns what the document shows. The text of a text field follows as the result of its field. */
export function textOfField({ type, result, default: usual, options }: FormField): string {
  const chosen = result === undefined || result === isDefault ? usual : result;
  if (type === 1) return chosen === 1 ? '[x]' : '[ ]';
  return type === 2 ? (options[chosen]?.trim() ?? '') : '';
}
